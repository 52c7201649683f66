#include "kernels/norm.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "kernels/rows.h"
#include "kernels/vector.h"

namespace headroom::kernels {
namespace {

constexpr std::size_t kColumns = 64;

}  // namespace

void layernorm_forward(View<float, 2> y, View<float, 1> mean, View<float, 1> rstd,
                       View<const float, 2> x, View<const float, 1> g, View<const float, 1> b,
                       double eps) {
  const std::size_t cols = x.dims[1];
  const float inv_cols = 1.0f / static_cast<float>(cols);
  parallel_rows(x.dims[0], elementwise_rows(cols), [&](std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i) {
      const float* xi = x.data + i * cols;
      float* yi = y.data + i * cols;
      const float mu = sum(xi, cols) * inv_cols;
      for (std::size_t c = 0; c < cols; ++c) yi[c] = xi[c] - mu;
      const float r = 1.0f / std::sqrt(dot(yi, yi, cols) * inv_cols + static_cast<float>(eps));
      for (std::size_t c = 0; c < cols; ++c) yi[c] = yi[c] * r * g.data[c] + b.data[c];
      mean.data[i] = mu;
      rstd.data[i] = r;
    }
  });
}

void layernorm_backward(View<float, 2> dx, View<float, 1> dg, View<float, 1> db,
                        View<const float, 2> dy, View<const float, 2> x, View<const float, 1> mean,
                        View<const float, 1> rstd, View<const float, 1> g) {
  const std::size_t rows = x.dims[0], cols = x.dims[1];
  const float inv_cols = 1.0f / static_cast<float>(cols);
  // dx = rstd (h - mean(h) - xhat mean(h xhat)), h = g dy.
  parallel_rows(rows, elementwise_rows(cols), [&](std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i) {
      const float* xi = x.data + i * cols;
      const float* dyi = dy.data + i * cols;
      float* dxi = dx.data + i * cols;
      const float mu = mean.data[i], r = rstd.data[i];
      for (std::size_t c = 0; c < cols; ++c) dxi[c] = dyi[c] * g.data[c];
      const float h_mean = sum(dxi, cols) * inv_cols;
      // sum of h xhat = r (sum of h x - mu sum of h)
      const float hx_mean = r * (dot(dxi, xi, cols) * inv_cols - mu * h_mean);
      for (std::size_t c = 0; c < cols; ++c)
        dxi[c] = r * (dxi[c] - h_mean - (xi[c] - mu) * r * hx_mean);
    }
  });
  parallel_rows(cols, kColumns, [&](std::size_t first, std::size_t count) {
    float sum_g[kColumns] = {}, sum_b[kColumns] = {};
    for (std::size_t i = 0; i < rows; ++i) {
      const float* xi = x.data + i * cols + first;
      const float* dyi = dy.data + i * cols + first;
      const float mu = mean.data[i], r = rstd.data[i];
      for (std::size_t c = 0; c < count; ++c) {
        sum_g[c] += dyi[c] * ((xi[c] - mu) * r);
        sum_b[c] += dyi[c];
      }
    }
    for (std::size_t c = 0; c < count; ++c) {
      dg.data[first + c] += sum_g[c];
      db.data[first + c] += sum_b[c];
    }
  });
}

void rmsnorm_forward(View<float, 2> y, View<float, 1> rrms, View<const float, 2> x,
                     View<const float, 1> g, double eps) {
  const std::size_t cols = x.dims[1];
  const float inv_cols = 1.0f / static_cast<float>(cols);
  parallel_rows(x.dims[0], elementwise_rows(cols), [&](std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i) {
      const float* xi = x.data + i * cols;
      const float r = 1.0f / std::sqrt(dot(xi, xi, cols) * inv_cols + static_cast<float>(eps));
      for (std::size_t c = 0; c < cols; ++c) y.data[i * cols + c] = xi[c] * r * g.data[c];
      rrms.data[i] = r;
    }
  });
}

void rmsnorm_backward(View<float, 2> dx, View<float, 1> dg, View<const float, 2> dy,
                      View<const float, 2> x, View<const float, 1> rrms, View<const float, 1> g) {
  const std::size_t rows = x.dims[0], cols = x.dims[1];
  const float inv_cols = 1.0f / static_cast<float>(cols);
  // dx = r (h - x r^2 mean(h x)), h = g dy.
  parallel_rows(rows, elementwise_rows(cols), [&](std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i) {
      const float* xi = x.data + i * cols;
      float* dxi = dx.data + i * cols;
      const float r = rrms.data[i];
      for (std::size_t c = 0; c < cols; ++c) dxi[c] = dy.data[i * cols + c] * g.data[c];
      const float along = r * r * dot(dxi, xi, cols) * inv_cols;
      for (std::size_t c = 0; c < cols; ++c) dxi[c] = r * (dxi[c] - xi[c] * along);
    }
  });
  parallel_rows(cols, kColumns, [&](std::size_t first, std::size_t count) {
    float sums[kColumns] = {};
    for (std::size_t i = 0; i < rows; ++i) {
      const float* xi = x.data + i * cols + first;
      const float* dyi = dy.data + i * cols + first;
      for (std::size_t c = 0; c < count; ++c) sums[c] += dyi[c] * (xi[c] * rrms.data[i]);
    }
    for (std::size_t c = 0; c < count; ++c) dg.data[first + c] += sums[c];
  });
}

void l2norm_forward(View<float, 2> y, View<float, 1> inverse, View<const float, 2> x,
                    View<const float, 1> s, double eps) {
  const std::size_t cols = x.dims[1];
  parallel_rows(x.dims[0], elementwise_rows(cols), [&](std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i) {
      const float* xi = x.data + i * cols;
      const float norm = std::max(std::sqrt(dot(xi, xi, cols)), static_cast<float>(eps));
      const float inv = norm > 0 ? 1.0f / norm : (norm == 0 ? 0.0f : norm);  // a NaN norm stays NaN
      inverse.data[i] = inv;
      const float factor = s.data[0] * inv;
      for (std::size_t c = 0; c < cols; ++c) y.data[i * cols + c] = factor * xi[c];
    }
  });
}

void l2norm_backward(View<float, 2> dx, View<float, 1> ds, View<float, 1> row_sums,
                     View<const float, 2> dy, View<const float, 2> x, View<const float, 1> inverse,
                     View<const float, 1> s, double eps) {
  const std::size_t rows = x.dims[0], cols = x.dims[1];
  // With u = x / ||x||: dx = s / ||x|| (dy - u <u, dy>); where eps floors the norm it is a
  // constant.
  parallel_rows(rows, elementwise_rows(cols), [&](std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i) {
      const float* xi = x.data + i * cols;
      const float* dyi = dy.data + i * cols;
      const float inv = inverse.data[i], factor = s.data[0] * inv;
      const float u_dy = inv * dot(xi, dyi, cols);
      const bool floored = eps > 0 && inv >= static_cast<float>(1.0 / eps);
      const float along = floored ? 0.0f : factor * inv * u_dy;
      for (std::size_t c = 0; c < cols; ++c)
        dx.data[i * cols + c] = factor * dyi[c] - along * xi[c];
      row_sums.data[i] = u_dy;
    }
  });
  double total = 0;
  for (std::size_t i = 0; i < rows; ++i) total += static_cast<double>(row_sums.data[i]);
  ds.data[0] += static_cast<float>(total);
}

}  // namespace headroom::kernels
