#include "theory/makers.h"

namespace headroom {

namespace {

constexpr const char* kPairFormula =
    "with two orthonormal points and separate queries about 4 p0 (ln 2 - 1/2) / (sqrt(2) beta) for "
    "large beta, p0 = Gamma(dim/2) / (sqrt(pi) Gamma((dim - 1)/2))";

constexpr const char* kVoteFormula =
    "1 - 2 b.a + a^T C a of the heads drawn, C_hg = 1/2 + (2 / pi^2) asin<q_h,q_g> "
    "asin<k_h,k_g>, b_h = 1/2 + 1/2 sum over odd l of N_l lambda_l^3 P_l(<q_h,k_h>), exact";

constexpr ConstructionRow kConstructions[] = {
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
    {"random_average",
     "rank-1 heads in random directions, each choosing a point, averaged (Amsel, Yehudai, Bruna "
     "2025, their code's RandomQKEqual at rank 1)",
     "head h has W_Q = W_K = u_h^T, u_h uniform on the sphere, and hard weights; mix_weights 1 / "
     "heads, one value head W_V = W_O = I",
     kVoteFormula, make_random_average},
    {"equal_spacing",
     "the same in two dimensions with the directions pi h / heads (their EqualSpacing2D)",
     "as random_average, u_h at the angle pi h / heads", kVoteFormula, make_equal_spacing},
    {"weighted_random",
     "random rank-1 heads under the weights that are best for them (their OptimallyWeightedRandom, "
     "keys normalised and the system solved exactly)",
     "W_Q = q_h^T uniform, W_K = k_h^T at an angle theta_h with cos theta_h uniform on (-1, 1), "
     "hard weights; mix_weights a = C^-1 b, one value head W_V = W_O = I",
     kVoteFormula, make_weighted_random},
};

}  // namespace

std::span<const ConstructionRow> construction_rows() { return kConstructions; }

}  // namespace headroom
