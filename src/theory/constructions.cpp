#include "theory/makers.h"

namespace headroom {

namespace {

constexpr const char* kPairFormula =
    "with two orthonormal points and separate queries about 4 p0 (ln 2 - 1/2) / (sqrt(2) beta) for "
    "large beta, p0 = Gamma(dim/2) / (sqrt(pi) Gamma((dim - 1)/2))";

constexpr ConstructionRow kRows[] = {
    {"full_rank",
     "one softmax head of full rank answers exactly as beta grows (Amsel, Yehudai, Bruna 2025, "
     "Fact 1)",
     "W_Q = beta I, -beta I for the farthest point; W_K = W_V = W_O = I, scale 1; no residual, no "
     "norm, no FFN",
     kPairFormula, make_full_rank},
    {"talking_heads",
     "heads of rank key_size whose scores are added up make the score of one full-rank head (an "
     "identity of this project's; talking heads: Shazeer et al. 2020)",
     "head k has W_Q = sqrt(beta) and W_K = sqrt(beta), -sqrt(beta) for the farthest point, times "
     "its key_size rows of I; mix_scores all ones, W_V and W_O the same rows of I, scale 1; no "
     "residual, no norm, no FFN",
     kPairFormula, make_talking_heads},
};

}  // namespace

std::span<const ConstructionRow> construction_rows() { return kRows; }

}  // namespace headroom
