// Twin of kernels/norm.h in plain loops.
#pragma once

#include "core/view.h"
#include "reference/scalar.h"

namespace headroom::reference {

template <class S>
void layernorm_forward(View<S, 2> y, View<S, 1> mean, View<S, 1> rstd, View<const S, 2> x,
                       View<const S, 1> g, View<const S, 1> b, double eps) {
  using std::sqrt;
  const std::size_t cols = x.dims[1];
  const double n = static_cast<double>(cols);
  for (std::size_t i = 0; i < x.dims[0]; ++i) {
    S mu{}, var{};
    for (std::size_t c = 0; c < cols; ++c) mu += x(i, c) / n;
    for (std::size_t c = 0; c < cols; ++c) var += (x(i, c) - mu) * (x(i, c) - mu) / n;
    mean(i) = mu;
    rstd(i) = 1.0 / sqrt(var + eps);
    for (std::size_t c = 0; c < cols; ++c) y(i, c) = g(c) * (x(i, c) - mu) * rstd(i) + b(c);
  }
}

template <class S>
void layernorm_backward(View<S, 2> dx, View<S, 1> dg, View<S, 1> db, View<const S, 2> dy,
                        View<const S, 2> x, View<const S, 1> mean, View<const S, 1> rstd,
                        View<const S, 1> g) {
  const std::size_t cols = x.dims[1];
  const double n = static_cast<double>(cols);
  for (std::size_t i = 0; i < x.dims[0]; ++i) {
    S h_mean{}, hx_mean{};
    for (std::size_t c = 0; c < cols; ++c) {
      const S xhat = (x(i, c) - mean(i)) * rstd(i), h = g(c) * dy(i, c);
      h_mean += h / n;
      hx_mean += h * xhat / n;
      dg(c) += dy(i, c) * xhat;
      db(c) += dy(i, c);
    }
    for (std::size_t c = 0; c < cols; ++c) {
      const S xhat = (x(i, c) - mean(i)) * rstd(i);
      dx(i, c) = rstd(i) * (g(c) * dy(i, c) - h_mean - xhat * hx_mean);
    }
  }
}

template <class S>
void rmsnorm_forward(View<S, 2> y, View<S, 1> rrms, View<const S, 2> x, View<const S, 1> g,
                     double eps) {
  using std::sqrt;
  const double n = static_cast<double>(x.dims[1]);
  for (std::size_t i = 0; i < x.dims[0]; ++i) {
    S square{};
    for (std::size_t c = 0; c < x.dims[1]; ++c) square += x(i, c) * x(i, c) / n;
    rrms(i) = 1.0 / sqrt(square + eps);
    for (std::size_t c = 0; c < x.dims[1]; ++c) y(i, c) = g(c) * x(i, c) * rrms(i);
  }
}

template <class S>
void rmsnorm_backward(View<S, 2> dx, View<S, 1> dg, View<const S, 2> dy, View<const S, 2> x,
                      View<const S, 1> rrms, View<const S, 1> g) {
  const double n = static_cast<double>(x.dims[1]);
  for (std::size_t i = 0; i < x.dims[0]; ++i) {
    S hx_mean{};
    for (std::size_t c = 0; c < x.dims[1]; ++c) {
      hx_mean += g(c) * dy(i, c) * x(i, c) / n;
      dg(c) += dy(i, c) * x(i, c) * rrms(i);
    }
    for (std::size_t c = 0; c < x.dims[1]; ++c)
      dx(i, c) = rrms(i) * (g(c) * dy(i, c) - x(i, c) * rrms(i) * rrms(i) * hx_mean);
  }
}

template <class S>
void l2norm_forward(View<S, 2> y, View<S, 1> inverse, View<const S, 2> x, View<const S, 1> s,
                    double eps) {
  for (std::size_t i = 0; i < x.dims[0]; ++i) {
    S norm = norm_of(&x(i, 0), x.dims[1]);
    if (real_part(norm) < eps) norm = eps;
    inverse(i) = real_part(norm) == 0 ? S{} : 1.0 / norm;
    for (std::size_t c = 0; c < x.dims[1]; ++c) y(i, c) = s(0) * inverse(i) * x(i, c);
  }
}

template <class S>
void l2norm_backward(View<S, 2> dx, View<S, 1> ds, View<S, 1> row_sums, View<const S, 2> dy,
                     View<const S, 2> x, View<const S, 1> inverse, View<const S, 1> s, double eps) {
  for (std::size_t i = 0; i < x.dims[0]; ++i) {
    S u_dy{};
    for (std::size_t c = 0; c < x.dims[1]; ++c) u_dy += inverse(i) * x(i, c) * dy(i, c);
    const bool floored = eps > 0 && real_part(norm_of(&x(i, 0), x.dims[1])) <= eps;
    for (std::size_t c = 0; c < x.dims[1]; ++c) {
      const S u = inverse(i) * x(i, c);
      dx(i, c) = s(0) * inverse(i) * (dy(i, c) - (floored ? S{} : u * u_dy));
    }
    row_sums(i) = u_dy;
    ds(0) += u_dy;
  }
}

}  // namespace headroom::reference
