#include "theory/makers.h"

namespace headroom {

namespace {

constexpr const char* kPairFormula =
    "with two orthonormal points and separate queries about 4 p0 (ln 2 - 1/2) / (sqrt(2) beta) for "
    "large beta, p0 = Gamma(dim/2) / (sqrt(pi) Gamma((dim - 1)/2))";

constexpr const char* kVoteFormula =
    "1 - 2 b.a + a^T C a of the heads drawn, C_hg = 1/2 + (2 / pi^2) asin<q_h,q_g> "
    "asin<k_h,k_g>, b_h = 1/2 + 1/2 sum over odd l of N_l lambda_l^3 P_l(<q_h,k_h>), exact";

constexpr const char* kAverageFormula =
    "rank 1: 1 - 2 b.a + a^T C a of the heads drawn, C_hg = 1/2 + (2 / pi^2) asin<q_h,q_g> "
    "asin<k_h,k_g>, b_h = 1/2 + 1/2 sum over odd l of N_l lambda_l^3 P_l(<q_h,k_h>), exact; above: "
    "2 E[q^2 + q (1 - q) / heads], q the probability that a head is wrong at the angle of y with "
    "x_1 - x_2, by quadrature, the mean over subspaces";

constexpr ConstructionRow kConstructions[] = {
    {"full_rank",
     "one softmax head of full rank answers exactly as beta grows (Amsel, Yehudai, Bruna 2025, "
     "Fact 1)",
     "W_Q = beta I, -beta I for the farthest point; W_K = W_V = W_O = I, scale 1; no residual, no "
     "norm, no FFN",
     kPairFormula, make_full_rank},
    {"full_rank_encoder",
     "the same head inside the encoder that is trained, residual, l2 norm and FFN included (their "
     "PerfectEncoder)",
     "layer 1: W_Q = beta sqrt(dim) I, minus that for the farthest point, W_K = W_V = I, W_O = 1e6 "
     "I, so that the residual drowns; W_O = 0 in further layers, FFN and biases 0, norms 1",
     "with two orthonormal points and separate queries about 4 p0 ln((1 + sqrt(2)) / 2) / (sqrt(2) "
     "beta) for large beta, p0 = Gamma(dim/2) / (sqrt(pi) Gamma((dim - 1)/2))",
     make_full_rank_encoder},
    {"talking_heads",
     "heads of rank key_size whose scores are added up make the score of one full-rank head (an "
     "identity of this project's; talking heads: Shazeer et al. 2020)",
     "head k has W_Q = sqrt(beta) and W_K = sqrt(beta), -sqrt(beta) for the farthest point, times "
     "its key_size rows of I; mix_scores all ones, W_V and W_O the same rows of I, scale 1; no "
     "residual, no norm, no FFN",
     kPairFormula, make_talking_heads},
    {"random_average",
     "heads of rank key_size in random directions, each choosing a point, averaged (Amsel, "
     "Yehudai, "
     "Bruna 2025, their code's RandomQKEqual)",
     "head h has W_Q = W_K, key_size random orthonormal rows, and hard weights; mix_weights 1 / "
     "heads, one value head W_V = W_O = I",
     kAverageFormula, make_random_average},
    {"equal_spacing",
     "rank-1 heads averaged in two dimensions, the directions at pi h / heads (their "
     "EqualSpacing2D)",
     "as random_average, the row of head h at the angle pi h / heads", kVoteFormula,
     make_equal_spacing},
    {"weighted_random",
     "random rank-1 heads under the weights that are best for them (their OptimallyWeightedRandom, "
     "keys normalised and the system solved exactly)",
     "W_Q = q_h^T uniform, W_K = k_h^T at an angle theta_h with cos theta_h uniform on (-1, 1), "
     "hard weights; mix_weights a = C^-1 b, one value head W_V = W_O = I",
     kVoteFormula, make_weighted_random},
    {"majority_vote",
     "two layers of rank-1 heads: the first votes, the second takes the point of the majority "
     "(after Amsel, Yehudai, Bruna 2025, Theorem 5, positions concatenated)",
     "tokens [x | s | out | p], p = 1 and -1 at the two points; layer 1: W_Q = W_K = u_h^T "
     "uniform, "
     "value p, added to s; layer 2: W_Q = s, W_K = p, value x, added to out, which is read; hard "
     "weights, residual, no norm, no FFN",
     "2 Pr[the majority of heads independent votes is wrong], each wrong with probability theta / "
     "pi, theta the angle of y with x_1 - x_2: the mean over directions, about (2 / pi) arctan(pi "
     "sqrt(dim) / (2 sqrt(heads)))",
     make_majority_vote},
};

}  // namespace

std::span<const ConstructionRow> construction_rows() { return kConstructions; }

}  // namespace headroom
