// What the hidden units of a feed-forward layer compute; shared by the kernels and their twins.
#pragma once

#include <cstddef>

namespace headroom {

enum class Activation {
  kRelu,      // max(x, 0)
  kGelu,      // x Phi(x), Phi the normal distribution (Hendrycks and Gimpel 2016)
  kGeluTanh,  // x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) (the same)
  kSilu,      // x / (1 + exp(-x)) (Elfwing, Uchibe, Doya 2018)
  kSwiglu     // silu(gate) * x: of two inputs a unit (Shazeer 2020)
};

// Inputs of a hidden unit. Where there are two, a row holds all gates before the others.
constexpr std::size_t inputs_a_unit(Activation a) { return a == Activation::kSwiglu ? 2 : 1; }

}  // namespace headroom
