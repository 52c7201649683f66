// The `model` section of the config. Names and meaning of every field are a public contract.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "core/attention_shape.h"
#include "core/fields.h"

namespace headroom {

enum class ModelType { kEncoder };
inline constexpr std::array kModelTypes{
    Choice<ModelType>{ModelType::kEncoder, "encoder", "one stack of layers over the task's tokens"},
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

enum class NormType { kLayerNorm, kL2, kNone };
inline constexpr std::array kNormTypes{
    Choice<NormType>{NormType::kLayerNorm, "layernorm",
                     "g * (x - mean) / sqrt(var + eps) + b; eps 1e-5"},
    Choice<NormType>{NormType::kL2, "l2",
                     "s * x / ||x||_2 with one learned scalar s; eps 0, a zero row gives 0"},
    Choice<NormType>{NormType::kNone, "none", "no normalisation"},
};

enum class NormPlacement { kPre, kPost };
inline constexpr std::array kNormPlacements{
    Choice<NormPlacement>{NormPlacement::kPre, "pre", "x + f(norm(x))"},
    Choice<NormPlacement>{NormPlacement::kPost, "post", "norm(x + f(x))"},
};

enum class PositionsType { kNone, kLearned };
inline constexpr std::array kPositionsTypes{
    Choice<PositionsType>{PositionsType::kNone, "none", "tokens are a set"},
    Choice<PositionsType>{PositionsType::kLearned, "learned",
                          "one learned vector of the width a position, added"},
};

inline constexpr std::array kAttentionTypes{
    Choice<AttentionType>{AttentionType::kSoftmax, "softmax",
                          "w_j = exp(s_j) / sum over the visible keys of exp(s)"},
    Choice<AttentionType>{AttentionType::kLinear, "linear", "w_j = s_j / n for n visible keys"},
    Choice<AttentionType>{AttentionType::kRelu, "relu", "w_j = max(s_j, 0) / n for n visible keys"},
    Choice<AttentionType>{AttentionType::kSigmoid, "sigmoid", "w_j = 1 / (1 + exp(-s_j))"},
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

enum class Activation { kRelu, kGeluTanh };
inline constexpr std::array kActivations{
    Choice<Activation>{Activation::kRelu, "relu", "max(x, 0)"},
    Choice<Activation>{Activation::kGeluTanh, "gelu_tanh",
                       "x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), the GELU of GPT-2"},
};

enum class Init { kTorch, kGpt2 };
inline constexpr std::array kInits{
    Choice<Init>{Init::kTorch, "torch",
                 "PyTorch's defaults: query, key, value U(+-sqrt(6/(d + H(2r + v)))), other maps "
                 "U(+-1/sqrt(fan_in))"},
    Choice<Init>{Init::kGpt2, "gpt2",
                 "N(0, 0.02^2), maps into the residual stream divided by sqrt(2 layers), biases 0"},
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
  std::optional<std::size_t> length;
  void declare(Fields& f);
};

struct AttentionConfig {
  AttentionType type = AttentionType::kSoftmax;
  std::size_t heads = 1;
  std::optional<std::size_t> key_size, value_size;
  std::size_t copies = 1;
  Combine combine = Combine::kMean;
  std::optional<std::size_t> kv_heads;
  MixInit mix_scores = MixInit::kNone, mix_weights = MixInit::kNone;
  std::optional<std::size_t> score_heads, value_heads;
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
  bool residual = true, bias = true;
  Init init = Init::kTorch;
  InitLayers init_layers = InitLayers::kIndependent;
  void declare(Fields& f);
};

}  // namespace headroom
