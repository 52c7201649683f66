// The `model` section of the config. Names and meaning of every field are a public contract.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <variant>

#include "core/activation_type.h"
#include "core/attention_shape.h"
#include "core/fields.h"

namespace headroom {

enum class ModelType { kEncoder, kEncoderDecoder };
inline constexpr std::array kModelTypes{
    Choice<ModelType>{
        ModelType::kEncoder, "encoder",
        "one stack of layers over the task's tokens, or with kind cross over its query tokens"},
    Choice<ModelType>{ModelType::kEncoderDecoder, "encoder_decoder",
                      "`layers` layers over the task's tokens, then as many over its query tokens, "
                      "each with self- and cross-attention (Vaswani et al. 2017)"},
};

enum class ReadIn { kIdentity, kLinear };
inline constexpr std::array kReadIns{
    Choice<ReadIn>{ReadIn::kIdentity, "identity",
                   "tokens are the points themselves; width = token size"},
    Choice<ReadIn>{ReadIn::kLinear, "linear",
                   "a learned map from the token to the width, with bias"},
};

enum class ReadOut { kIdentity, kSlice, kLinear };
inline constexpr std::array kReadOuts{
    Choice<ReadOut>{ReadOut::kIdentity, "identity", "the last layer's output itself"},
    Choice<ReadOut>{ReadOut::kSlice, "slice", "its first coordinates, as many as the answer has"},
    Choice<ReadOut>{ReadOut::kLinear, "linear",
                    "a learned map from the width to the answer, with bias"},
};

enum class NormType { kLayerNorm, kRmsNorm, kL2, kNone };
inline constexpr std::array kNormTypes{
    Choice<NormType>{NormType::kLayerNorm, "layernorm",
                     "g * (x - mean) / sqrt(var + eps) + b; eps 1e-5"},
    Choice<NormType>{NormType::kRmsNorm, "rmsnorm", "g * x / sqrt(mean of x^2 + eps); eps 1e-5"},
    Choice<NormType>{NormType::kL2, "l2",
                     "s * x / ||x||_2 with one learned scalar s; eps 0, a zero row gives 0"},
    Choice<NormType>{NormType::kNone, "none", "no normalisation"},
};

enum class NormPlacement { kPre, kPost };
inline constexpr std::array kNormPlacements{
    Choice<NormPlacement>{NormPlacement::kPre, "pre", "x + f(norm(x))"},
    Choice<NormPlacement>{NormPlacement::kPost, "post", "norm(x + f(x))"},
};

enum class PositionsType {
  kNone,
  kLearned,
  kConcatenated,
  kSinusoidal,
  kRotary,
  kAlibi,
  kRelativeBias
};
inline constexpr std::array kPositionsTypes{
    Choice<PositionsType>{PositionsType::kNone, "none", "tokens are a set"},
    Choice<PositionsType>{PositionsType::kLearned, "learned",
                          "one learned vector of the width a position, added"},
    Choice<PositionsType>{PositionsType::kConcatenated, "concatenated",
                          "one learned vector of positions.width a position, beside the token's "
                          "own coordinates"},
    Choice<PositionsType>{PositionsType::kSinusoidal, "sinusoidal",
                          "added: sin(t / 10000^(i / width)) at even coordinates i, the cosine of "
                          "the same at i + 1 (Vaswani et al. 2017)"},
    Choice<PositionsType>{PositionsType::kRotary, "rotary",
                          "queries and keys of token t turn: (x_i, x_{i+K/2}) by the angle t "
                          "10000^(-2i/K); even key_size (Su et al. 2021)"},
    Choice<PositionsType>{PositionsType::kAlibi, "alibi",
                          "-m_h |i - j| added to each score, slopes m_h = 2^(-8 h / H) (Press et "
                          "al. 2022)"},
    Choice<PositionsType>{PositionsType::kRelativeBias, "relative_bias",
                          "a learned number a head and bucket of i - j (32 buckets, up to distance "
                          "128) added to each score after mixing, shared by the layers of a stack "
                          "(Raffel et al. 2020)"},
};

inline constexpr std::array kAttentionTypes{
    Choice<AttentionType>{AttentionType::kSoftmax, "softmax",
                          "w_j = exp(s_j) / sum over the visible keys of exp(s)"},
    Choice<AttentionType>{AttentionType::kLinear, "linear", "w_j = s_j / n for n visible keys"},
    Choice<AttentionType>{AttentionType::kRelu, "relu", "w_j = max(s_j, 0) / n for n visible keys"},
    Choice<AttentionType>{AttentionType::kSigmoid, "sigmoid", "w_j = 1 / (1 + exp(-s_j))"},
    Choice<AttentionType>{AttentionType::kHard, "hard",
                          "w_j = 1 for the first of the largest s_j, else 0; for evaluation and "
                          "constructions only, it has no gradient"},
};

enum class AttentionKind { kSelf, kCross };
inline constexpr std::array kAttentionKinds{
    Choice<AttentionKind>{AttentionKind::kSelf, "self",
                          "queries, keys and values from the same tokens"},
    Choice<AttentionKind>{AttentionKind::kCross, "cross",
                          "queries from the task's query tokens, keys and values from its tokens "
                          "as they are read in"},
};

enum class ScaleRule { kInvSqrtKeySize, kInvKeySize, kLearned };
inline constexpr std::array kScaleRules{
    Choice<ScaleRule>{ScaleRule::kInvSqrtKeySize, "inv_sqrt_key_size", "1 / sqrt(key_size)"},
    Choice<ScaleRule>{ScaleRule::kInvKeySize, "inv_key_size",
                      "1 / key_size (muP; Yang et al. 2022)"},
    Choice<ScaleRule>{ScaleRule::kLearned, "learned",
                      "one learned number a head, from 1 / sqrt(key_size)"},
};

enum class QkNorm { kNone, kL2, kRms };
inline constexpr std::array kQkNorms{
    Choice<QkNorm>{QkNorm::kNone, "none", "queries and keys as projected"},
    Choice<QkNorm>{QkNorm::kL2, "l2", "q / ||q||_2 and k / ||k||_2 (Henry et al. 2020)"},
    Choice<QkNorm>{QkNorm::kRms, "rms", "sqrt(key_size) times that"},
};

enum class HeadMap { kFactored, kFull };
inline constexpr std::array kScoreMaps{
    Choice<HeadMap>{HeadMap::kFactored, "factored", "s = (W_Q x)^T (W_K y), of rank key_size"},
    Choice<HeadMap>{HeadMap::kFull, "full",
                    "s = (W x)^T y, one width x width map a head and no bias on the keys (Shazeer "
                    "et al. 2020)"},
};
inline constexpr std::array kValueMaps{
    Choice<HeadMap>{HeadMap::kFactored, "factored", "W_O W_V x, of rank value_size"},
    Choice<HeadMap>{HeadMap::kFull, "full",
                    "one width x width map a head, the heads' sums added: M_h of the theory (Amsel "
                    "et al. 2025)"},
};

enum class ValueInit { kDrawn, kIdentity };
inline constexpr std::array kValueInits{
    Choice<ValueInit>{ValueInit::kDrawn, "drawn", "as model.init says"},
    Choice<ValueInit>{ValueInit::kIdentity, "identity",
                      "1 / heads times the identity, for value_map = full: the layer returns the "
                      "mean of what its heads find; with train.freeze for good"},
};

// Talking heads (Shazeer et al. 2020): a learned matrix over the heads.
enum class MixInit { kNone, kIdentity, kFanIn };
inline constexpr std::array kMixInits{
    Choice<MixInit>{MixInit::kNone, "none", "heads do not talk"},
    Choice<MixInit>{MixInit::kIdentity, "identity",
                    "learned, starts as the identity: plain heads at step 0"},
    Choice<MixInit>{MixInit::kFanIn, "fan_in", "learned, starts from N(0, 1 / fan_in)"},
};

enum class Combine { kMean, kSum };
inline constexpr std::array kCombines{
    Choice<Combine>{Combine::kMean, "mean", "the copies' outputs averaged"},
    Choice<Combine>{Combine::kSum, "sum", "the copies' outputs added"},
};

enum class Mask { kNone, kCausal };
inline constexpr std::array kMasks{
    Choice<Mask>{Mask::kNone, "none", "every query sees every key"},
    Choice<Mask>{Mask::kCausal, "causal", "token t sees tokens 0..t"},
};

inline constexpr std::array kActivations{
    Choice<Activation>{Activation::kRelu, "relu", "max(x, 0)"},
    Choice<Activation>{Activation::kGelu, "gelu", "x Phi(x), Phi the normal distribution"},
    Choice<Activation>{Activation::kGeluTanh, "gelu_tanh",
                       "x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), the GELU of GPT-2"},
    Choice<Activation>{Activation::kSilu, "silu", "x / (1 + exp(-x))"},
    Choice<Activation>{Activation::kSwiglu, "swiglu",
                       "silu(W_gate x) * (W_up x), a third map (Shazeer 2020)"},
};

enum class Init { kTorch, kGpt2, kXavier, kMup };
inline constexpr std::array kInits{
    Choice<Init>{Init::kTorch, "torch",
                 "PyTorch's defaults: query, key, value U(+-sqrt(6/(d + H(2r + v)))), other maps "
                 "U(+-1/sqrt(fan_in))"},
    Choice<Init>{Init::kGpt2, "gpt2",
                 "N(0, 0.02^2), maps into the residual stream divided by sqrt(2 layers), biases 0"},
    Choice<Init>{Init::kXavier, "xavier",
                 "U(+-sqrt(6/(fan_in + fan_out))), biases 0; queries and keys by head, "
                 "U(+-sqrt(6/(r + d))), as Amsel et al.'s stand-alone layer"},
    Choice<Init>{Init::kMup, "mup",
                 "N(0, 1/fan_in), queries, read_out and biases 0 (Yang et al. 2022); the learning "
                 "rate is yours to scale"},
};

enum class InitLayers { kIndependent, kIdentical };
inline constexpr std::array kInitLayers{
    Choice<InitLayers>{InitLayers::kIndependent, "independent", "each layer draws its own"},
    Choice<InitLayers>{InitLayers::kIdentical, "identical",
                       "all layers start as copies of the first, as in Amsel et al.'s code"},
};

struct NormConfig {
  NormType type = NormType::kL2;
  NormPlacement placement = NormPlacement::kPost;
  std::optional<double> eps;
  std::optional<bool> final_norm;
  void declare(Fields& f);
};

struct PositionsConfig {
  PositionsType type = PositionsType::kNone;
  std::optional<std::size_t> width;
  std::optional<std::size_t> length;
  void declare(Fields& f);
};

// What the rank experiments hold fixed: d * H * r of one layer, for d = width and H heads over all
// copies (Amsel, Yehudai, Bruna 2025).
enum class BudgetPower { kSquare, kFiveHalves, kCube };
inline constexpr std::array kBudgetPowers{
    Choice<BudgetPower>{BudgetPower::kSquare, "d^2", "width^2: width / key_size heads a layer"},
    Choice<BudgetPower>{BudgetPower::kFiveHalves, "d^2.5",
                        "width^2.5, whole where the width is a square: sqrt(width) times as many"},
    Choice<BudgetPower>{BudgetPower::kCube, "d^3", "width^3: width times as many"},
};
struct HeadBudget {
  std::variant<BudgetPower, double> budget = BudgetPower::kSquare;
  void declare(Fields& f);
};

// A number of heads or, until resolve() has divided it, a budget. Reads as the number it holds.
struct HeadCount {
  std::variant<std::size_t, HeadBudget> given = std::size_t{1};
  HeadCount(std::size_t heads) : given(heads) {}
  HeadCount(HeadBudget budget) : given(budget) {}
  operator std::size_t() const { return std::get<std::size_t>(given); }
};

struct AttentionConfig {
  AttentionType type = AttentionType::kSoftmax;
  AttentionKind kind = AttentionKind::kSelf;
  HeadCount heads = std::size_t{1};
  std::optional<std::size_t> key_size, value_size;
  std::size_t copies = 1;
  Combine combine = Combine::kMean;
  std::optional<std::size_t> kv_heads;
  std::variant<ScaleRule, double> scale = ScaleRule::kInvSqrtKeySize;
  QkNorm qk_norm = QkNorm::kNone;
  MixInit mix_scores = MixInit::kNone, mix_weights = MixInit::kNone;
  std::optional<std::size_t> score_heads, value_heads;
  HeadMap score_map = HeadMap::kFactored, value_map = HeadMap::kFactored;
  ValueInit value_init = ValueInit::kDrawn;
  Mask mask = Mask::kNone;
  void declare(Fields& f);
};

struct FfnConfig {
  std::size_t width = 64;
  Activation activation = Activation::kRelu;
  void declare(Fields& f);
};

struct ModelConfig {
  ModelType type = ModelType::kEncoder;
  std::size_t layers = 1, width = 16;
  std::optional<ReadIn> read_in;
  std::optional<ReadOut> read_out;
  NormConfig norm;
  PositionsConfig positions;
  AttentionConfig attention;
  FfnConfig ffn;
  bool residual = true, bias = true, share_layers = false;
  Init init = Init::kTorch;
  InitLayers init_layers = InitLayers::kIndependent;
  void declare(Fields& f);
};

// The coordinates that a token is read in to: the width but for concatenated positions. Of a
// resolved config.
std::size_t embedded_width(const ModelConfig& c);

}  // namespace headroom
