#include "tasks/points.h"

#include <cassert>
#include <cmath>

namespace headroom {

namespace {

double dot_double(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t c = 0; c < a.size(); ++c) sum += double{a[c]} * double{b[c]};
  return sum;
}

void scale(std::span<float> x, double factor) {
  for (float& value : x) value = static_cast<float>(value * factor);
}

// Takes the parts along rows 0 .. i-1 out of row i.
void project_out(View<float, 2> x, std::size_t i) {
  const std::span<float> row = x[i].flat();
  for (std::size_t j = 0; j < i; ++j) {
    const std::span<const float> earlier = x[j].flat();
    const double along = dot_double(row, earlier);
    for (std::size_t c = 0; c < row.size(); ++c) {
      row[c] = static_cast<float>(row[c] - along * earlier[c]);
    }
  }
}

}  // namespace

void fill_sphere(Random& random, View<float, 2> x) {
  const std::size_t d = x.dim(1);
  random.fill_normal(x.flat());
  for (std::size_t i = 0; i < x.dim(0); ++i) {
    float* row = x[i].data;
    float square = dot(row, row, d);
    while (!(square > 0)) {  // all coordinates 0: possible in principle in few dimensions
      random.fill_normal({row, d});
      square = dot(row, row, d);
    }
    const float inverse = 1 / std::sqrt(square);
    for (std::size_t c = 0; c < d; ++c) row[c] *= inverse;
  }
}

void fill_orthonormal(Random& random, View<float, 2> x) {
  assert(x.dim(0) <= x.dim(1));
  random.fill_normal(x.flat());
  for (std::size_t i = 0; i < x.dim(0); ++i) {
    while (!orthonormalize_row(x, i)) random.fill_normal(x[i].flat());
  }
}

bool orthonormalize_row(View<float, 2> x, std::size_t i) {
  const std::span<float> row = x[i].flat();
  // The second pass removes what rounding left of the first: "twice is enough" (Kahan and
  // Parlett).
  for (int pass = 0; pass < 2; ++pass) {
    project_out(x, i);
    const double square = dot_double(row, row);
    if (!(square > 0)) return false;
    scale(row, 1 / std::sqrt(square));
  }
  return true;
}

void mirror(View<float, 2> x) {
  const std::size_t half = x.size() / 2;
  for (std::size_t e = 0; e < half; ++e) x.data[half + e] = -x.data[e];
}

}  // namespace headroom
