// What the singular values of a head's maps say.
#pragma once

#include <cstddef>
#include <vector>

#include "core/view.h"

namespace headroom {

// Of a matrix M (d,d). Ranks are 0, and angle and scale as they come out, for M = 0.
struct Spectrum {
  std::vector<double> singular_values;  // falling; only those that the factors allow
  std::size_t numerical_rank = 0;       // singular values above 1e-4 of the largest
  double stable_rank = 0;               // ||M||_F^2 / ||M||_2^2
  double effective_rank = 0;  // exp of the entropy of sigma / sum sigma (Roy, Vetterli 2007)
  double angle_deg = 0;       // to the identity: acos(tr M / (||M||_F sqrt d)); nan for M = 0
  double scale = 0;           // ||M||_F / sqrt d
};

// Of M = A^T B for A, B (r,d): through two LQ decompositions and the singular values of an r x r
// product where r < d, so that M itself is never made.
Spectrum product_spectrum(Matrix<const double> a, Matrix<const double> b);

// Of M (n,m) itself; angle and scale are those of a square M, else nan.
Spectrum matrix_spectrum(Matrix<const double> m);

}  // namespace headroom
