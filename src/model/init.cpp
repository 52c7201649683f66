#include "model/init.h"

#include <cmath>

namespace headroom {
namespace {

constexpr double kGpt2Sd = 0.02;

InitRule uniform(double a) { return {InitRule::Kind::kUniform, a}; }
InitRule normal(double sd) { return {InitRule::Kind::kNormal, sd}; }
double inv_sqrt(std::size_t n) { return 1.0 / std::sqrt(static_cast<double>(n)); }

// Glorot and Bengio 2010.
InitRule xavier(std::size_t fan_in, std::size_t fan_out) {
  return uniform(std::sqrt(6.0 / static_cast<double>(fan_in + fan_out)));
}

// GPT-2's maps into the residual stream.
InitRule gpt2_residual(const ModelConfig& c) {
  return normal(kGpt2Sd / std::sqrt(2.0 * static_cast<double>(c.layers)));
}

// A map that is no part of attention; PyTorch's nn.Linear draws weight and bias alike.
LinearInit linear_init(Init init, std::size_t fan_in, std::size_t fan_out) {
  switch (init) {
    case Init::kTorch:
      return {uniform(inv_sqrt(fan_in)), uniform(inv_sqrt(fan_in))};
    case Init::kGpt2:
      return {normal(kGpt2Sd), {}};
    case Init::kXavier:
      return {xavier(fan_in, fan_out), {}};
    case Init::kMup:
      return {normal(inv_sqrt(fan_in)), {}};
  }
  return {};
}

}  // namespace

namespace {

AttentionInit drawn_attention(const ModelConfig& c) {
  const AttentionSizes n = attention_sizes(c, {}, 1, 1, 1);
  const std::size_t copies = n.shape.copies, sums = n.sums / copies, values = n.values / copies;
  switch (c.init) {
    case Init::kTorch: {
      // nn.MultiheadAttention: Xavier over the fused matrix of one copy; its output is a Linear.
      const InitRule fused = xavier(c.width, n.projected() / copies);
      return {fused, fused, fused, uniform(inv_sqrt(sums))};
    }
    case Init::kGpt2: {
      const bool full = c.attention.value_map == HeadMap::kFull;
      return {normal(kGpt2Sd), normal(kGpt2Sd), full ? gpt2_residual(c) : normal(kGpt2Sd),
              gpt2_residual(c)};
    }
    case Init::kXavier: {
      const InitRule head = xavier(c.width, n.shape.key_size);
      return {head, head, xavier(c.width, values), xavier(sums, c.width)};
    }
    case Init::kMup:
      return {{}, normal(inv_sqrt(c.width)), normal(inv_sqrt(c.width)), normal(inv_sqrt(sums))};
  }
  return {};
}

}  // namespace

AttentionInit attention_init(const ModelConfig& c) {
  AttentionInit init = drawn_attention(c);
  if (c.attention.value_init == ValueInit::kIdentity)
    init.value = {InitRule::Kind::kIdentity, 1 / static_cast<double>(*c.attention.value_heads)};
  return init;
}

FfnInit ffn_init(const ModelConfig& c) {
  const LinearInit up = linear_init(c.init, c.width, c.ffn.width);
  LinearInit down = linear_init(c.init, c.ffn.width, c.width);
  if (c.init == Init::kGpt2) down.weight = gpt2_residual(c);
  return {up.weight, up.bias, down.weight, down.bias};
}

LinearInit read_in_init(const ModelConfig& c, std::size_t input_dim) {
  // Garg et al. leave nn.Linear's start to the two maps about their GPT-2.
  const Init init = c.init == Init::kGpt2 ? Init::kTorch : c.init;
  return linear_init(init, input_dim, embedded_width(c));
}

LinearInit read_out_init(const ModelConfig& c, std::size_t output_dim) {
  if (c.init == Init::kMup) return {};
  return linear_init(c.init == Init::kGpt2 ? Init::kTorch : c.init, c.width, output_dim);
}

InitRule positions_init(const ModelConfig& c) {
  if (c.init == Init::kGpt2) return normal(kGpt2Sd);
  if (c.positions.type == PositionsType::kConcatenated) return uniform(1.0);  // Amsel et al.'s
  if (c.positions.type == PositionsType::kRelativeBias) return normal(inv_sqrt(c.width));  // T5's
  return normal(1.0);
}

}  // namespace headroom
