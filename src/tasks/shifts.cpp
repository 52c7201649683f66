#include "tasks/shifts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "tasks/points.h"

namespace headroom {

namespace {

bool any_in_context(TaskType task) { return is_in_context(task); }
bool of_numbers(TaskType task) {
  return is_in_context(task) && task != TaskType::kLinearClassification;
}

// x' = A x with A = c U diag(e) U^T, U a random rotation drawn once an evaluation and c such that
// E ||x||^2 stays.
class LinearInputs : public Shift {
 public:
  LinearInputs(const ShiftSetting& setting, std::span<const double> eigenvalues)
      : dims_(setting.dims), dim_(setting.dim), memory_(2 * dims_ * dims_) {
    const View<float, 2> u(memory_.data(), {dims_, dims_});
    Random random(setting.seed, Purpose::kShift, 0, 0);
    fill_orthonormal(random, u);
    double squares = 0;
    for (const double e : eigenvalues) squares += e * e;
    const double factor = std::sqrt(static_cast<double>(dims_) / squares);
    a_ = {memory_.data() + u.size(), {dims_, dims_}};
    for (std::size_t i = 0; i < dims_; ++i) {
      for (std::size_t j = 0; j < dims_; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k < dims_; ++k) {
          sum += eigenvalues[k] * double{u(k, i)} * double{u(k, j)};
        }
        a_(i, j) = static_cast<float>(factor * sum);
      }
    }
  }

  void inputs(Random&, std::size_t dims, View<float, 2> x) const override {
    std::vector<float> row(dims);
    for (std::size_t i = 0; i < x.dim(0); ++i) {
      for (std::size_t c = 0; c < dims; ++c) row[c] = dot(a_[c].data, x[i].data, dims);
      std::copy(row.begin(), row.end(), x[i].data);
    }
  }

  // For independent x_j of mean 0: E (sum a_j x_j)^2 = m_2 S_2 and E (...)^4 = 3 m_2^2 S_2^2 +
  // (m_4 - 3 m_2^2) S_4 with S_p = sum a_j^p.
  InputMoments moments(const InputMoments& x) const override {
    const double whole = static_cast<double>(dim_),
                 share = whole / static_cast<double>(dims_);  // of the coordinates in use
    const double second = share * x.square, excess = share * x.fourth - 3 * second * second;
    InputMoments out{.square = 0, .fourth = 0};
    for (std::size_t c = 0; c < dims_; ++c) {
      double s2 = 0, s4 = 0;
      for (const float a : a_[c].flat()) {
        const double square = double{a} * double{a};
        s2 += square;
        s4 += square * square;
      }
      out.square += second * s2 / whole;
      out.fourth += (3 * second * second * s2 * s2 + excess * s4) / whole;
    }
    return out;
  }

 private:
  std::size_t dims_, dim_;
  std::vector<float> memory_;
  View<float, 2> a_;
};

std::unique_ptr<Shift> make_skewed_covariance(const ShiftSetting& setting) {
  std::vector<double> eigenvalues;
  for (std::size_t i = 0; i < setting.dims; ++i) {
    eigenvalues.push_back(1 / static_cast<double>(i + 1));
  }
  return std::make_unique<LinearInputs>(setting, eigenvalues);
}

std::unique_ptr<Shift> make_half_subspace(const ShiftSetting& setting) {
  std::vector<double> eigenvalues(setting.dims);
  std::fill_n(eigenvalues.begin(), setting.dims / 2, 1.0);
  return std::make_unique<LinearInputs>(setting, eigenvalues);
}

// sigma N(0, 1) added to each y, and y scaled so that its variance stays. The authors divide by a
// batch's deviation; its expectation keeps items independent of each other.
class NoisyLabels final : public Shift {
 public:
  explicit NoisyLabels(const ShiftSetting& setting)
      : sigma_(static_cast<float>(setting.value)),
        factor_(static_cast<float>(std::sqrt(
            setting.answer_square / (setting.answer_square + setting.value * setting.value)))) {}
  void answers(Random& random, std::span<float> y) const override {
    for (float& value : y) value = factor_ * (value + sigma_ * static_cast<float>(random.normal()));
  }

 private:
  float sigma_, factor_;
};

class ScaledInputs final : public Shift {
 public:
  explicit ScaledInputs(double factor) : factor_(factor) {}
  void inputs(Random&, std::size_t, View<float, 2> x) const override {
    for (float& value : x.flat()) value *= static_cast<float>(factor_);
  }
  InputMoments moments(const InputMoments& x) const override {
    const double square = factor_ * factor_;
    return {.square = square * x.square, .fourth = square * square * x.fourth};
  }

 private:
  double factor_;
};

class ScaledAnswers final : public Shift {
 public:
  explicit ScaledAnswers(double factor) : factor_(factor) {}
  void answers(Random&, std::span<float> y) const override {
    for (float& value : y) value *= static_cast<float>(factor_);
  }
  double answer_scale() const override { return factor_ * factor_; }

 private:
  double factor_;
};

// The examples lie in one orthant, random for each item; the query stays as it is or lies in the
// opposite one.
class Orthants final : public Shift {
 public:
  explicit Orthants(bool opposite) : opposite_(opposite) {}
  void inputs(Random& random, std::size_t dims, View<float, 2> x) const override {
    const std::size_t query = x.dim(0) - 1;
    for (std::size_t c = 0; c < dims; ++c) {
      const float sign = random.bits() % 2 == 0 ? 1.0f : -1.0f;
      for (std::size_t i = 0; i < query; ++i) x(i, c) = std::copysign(x(i, c), sign);
      if (opposite_) x(query, c) = std::copysign(x(query, c), -sign);
    }
  }

 private:
  bool opposite_;
};

// The query loses its part in the span of the examples and keeps its length.
class OrthogonalQuery final : public Shift {
  void inputs(Random&, std::size_t dims, View<float, 2> x) const override {
    const std::size_t n = x.dim(0), d = x.dim(1);
    std::vector<float> memory(n * dims);
    const View<float, 2> frame(memory.data(), {n, dims});
    for (std::size_t i = 0; i < n; ++i) {
      std::copy_n(x[i].data, dims, frame[i].data);
      orthonormalize_row(frame, i);
    }
    const View<float, 1> query = x[n - 1];
    const float length = std::sqrt(dot(query.data, query.data, d));
    for (std::size_t c = 0; c < dims; ++c) query(c) = length * frame(n - 1, c);
  }
};

// The query is one of the examples, each alike.
class SeenQuery final : public Shift {
  void inputs(Random& random, std::size_t, View<float, 2> x) const override {
    const auto examples = static_cast<std::uint32_t>(x.dim(0) - 1);
    std::copy_n(x[random.below(examples)].data, x.dim(1), x[examples].data);
  }
};

constexpr std::array kShiftRows{
    ShiftRow{.name = "skewed_covariance",
             .sentence = "x is stretched by 1, 1/2, 1/3, ... along the axes of a random basis, the "
                         "mean of ||x||^2 kept; one basis an evaluation",
             .serves = any_in_context,
             .make = make_skewed_covariance},
    ShiftRow{.name = "half_subspace",
             .sentence = "x lies in a random subspace of half the dimensions, scaled so that the "
                         "mean of ||x||^2 stays; one subspace an evaluation",
             .serves = any_in_context,
             .make = make_half_subspace,
             .fewest_dims = 2},
    ShiftRow{.name = "noisy_labels",
             .sentence = "SIGMA N(0, 1) is added to each y, the query's too, then y is scaled so "
                         "that its variance stays",
             .serves = of_numbers,
             .make = [](const ShiftSetting& s) -> std::unique_ptr<Shift> {
               return std::make_unique<NoisyLabels>(s);
             },
             .parameter = "SIGMA",
             .value = 1},
    ShiftRow{.name = "scale_x",
             .sentence = "x is multiplied by FACTOR",
             .serves = any_in_context,
             .make = [](const ShiftSetting& s) -> std::unique_ptr<Shift> {
               return std::make_unique<ScaledInputs>(s.value);
             },
             .parameter = "FACTOR",
             .value = 2},
    ShiftRow{.name = "scale_w",
             .sentence = "w, and with it y, is multiplied by FACTOR",
             .serves = of_numbers,
             .make = [](const ShiftSetting& s) -> std::unique_ptr<Shift> {
               return std::make_unique<ScaledAnswers>(s.value);
             },
             .parameter = "FACTOR",
             .value = 2},
    ShiftRow{.name = "random_orthants",
             .sentence = "the examples of a prompt lie in one random orthant, the query anywhere",
             .serves = any_in_context,
             .make = [](const ShiftSetting&) -> std::unique_ptr<Shift> {
               return std::make_unique<Orthants>(false);
             },
             .replaces_query = true},
    ShiftRow{.name = "opposite_orthants",
             .sentence = "the examples of a prompt lie in one random orthant, the query in the "
                         "opposite one",
             .serves = any_in_context,
             .make = [](const ShiftSetting&) -> std::unique_ptr<Shift> {
               return std::make_unique<Orthants>(true);
             },
             .replaces_query = true},
    ShiftRow{.name = "orthogonal_query",
             .sentence = "the query loses its part in the span of the examples and keeps its "
                         "length; fewer examples than dimensions",
             .serves = any_in_context,
             .make = [](const ShiftSetting&) -> std::unique_ptr<Shift> {
               return std::make_unique<OrthogonalQuery>();
             },
             .replaces_query = true,
             .below_dims = true},
    ShiftRow{.name = "seen_query",
             .sentence = "the query is one of the examples, at random",
             .serves = any_in_context,
             .make = [](const ShiftSetting&) -> std::unique_ptr<Shift> {
               return std::make_unique<SeenQuery>();
             },
             .replaces_query = true,
             .fewest_examples = 1},
    ShiftRow{.name = "more_points",
             .sentence = "prompts of FACTOR times as many points as task.points",
             .serves = any_in_context,
             .make = [](const ShiftSetting&) { return std::make_unique<Shift>(); },
             .parameter = "FACTOR",
             .value = 1.5,
             .longer = true},
};

}  // namespace

std::span<const ShiftRow> shift_rows() { return kShiftRows; }

}  // namespace headroom
