// What the reference loops need of a scalar that may be complex: in the complex-step derivative
// (Squire and Trapp 1998) every branch and comparison looks at the real part, and every function is
// analytic in it.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>

namespace headroom::reference {

template <class S>
double real_part(const S& x) {
  if constexpr (std::is_floating_point_v<S>)
    return static_cast<double>(x);
  else
    return x.real();
}

// ||x||_2 as an analytic function of x: no conjugates.
template <class S>
S norm_of(const S* x, std::size_t n) {
  S sum{};
  for (std::size_t i = 0; i < n; ++i) sum += x[i] * x[i];
  using std::sqrt;
  return real_part(sum) == 0 ? S{} : sqrt(sum);
}

}  // namespace headroom::reference
