#include "model/transformer.h"

#include <algorithm>
#include <cmath>
#include <complex>

namespace headroom {
namespace {

InitRule uniform(double a) { return {InitRule::Kind::kUniform, a}; }
InitRule normal(double sd) { return {InitRule::Kind::kNormal, sd}; }
double inv_sqrt(std::size_t n) { return 1.0 / std::sqrt(static_cast<double>(n)); }

// PyTorch's nn.Linear: U(+-1/sqrt(fan_in)) for weight and bias.
InitRule linear_init(std::size_t fan_in) { return uniform(inv_sqrt(fan_in)); }

template <class S>
BlockParams<S> block_params(Binder<S>& b, const ModelConfig& c) {
  constexpr double kGpt2Sd = 0.02;
  const AttentionSizes n = attention_sizes(c, 1, 1);
  // nn.MultiheadAttention: Xavier-uniform over the fused matrix of one copy; nn.Linear elsewhere.
  const double xavier =
      std::sqrt(6.0 / (static_cast<double>(c.width) +
                       static_cast<double>(n.projected()) / static_cast<double>(n.shape.copies)));
  const InitRule residual = normal(kGpt2Sd / std::sqrt(2.0 * static_cast<double>(c.layers)));
  const bool torch = c.init == Init::kTorch;
  BlockParams<S> p;
  p.attention =
      attention_params(b, c, "attention",
                       torch ? AttentionInit{uniform(xavier), linear_init(n.sums / n.shape.copies)}
                             : AttentionInit{normal(kGpt2Sd), residual});
  p.norm1 = norm_params(b, c, "norm1");
  if (c.ffn.width > 0) {
    const InitRule up = linear_init(c.width), down = linear_init(c.ffn.width);
    p.ffn = torch ? ffn_params(b, c, "ffn", up, up, down, down)
                  : ffn_params(b, c, "ffn", normal(kGpt2Sd), {}, residual, {});
    p.norm2 = norm_params(b, c, "norm2");
  }
  return p;
}

// What layer `layer` reads: the output of the one before, or the embedded tokens.
template <class S>
View<const S, 2> layer_input(const ModelConfig& c, const TransformerCache<S>& cache,
                             std::size_t layer) {
  if (layer == 0) return as_rows(cache.embedded);
  const BlockCache<S>& below = cache.layers[layer - 1];
  return c.ffn.width == 0 ? below.branch1.out : below.branch2.out;
}

}  // namespace

template <class S>
TransformerParams<S> transformer_params(Binder<S>& b, const ModelConfig& c, const ModelIo& io) {
  TransformerParams<S> p;
  if (c.read_in == ReadIn::kLinear) {
    p.read_in = b.template tensor<2>("read_in.weight", {c.width, io.input_dim},
                                     linear_init(io.input_dim), true);
    p.read_in_bias = bias_row(b, c.bias, "read_in.bias", c.width, linear_init(io.input_dim));
  }
  if (c.positions.type == PositionsType::kLearned)
    p.positions = b.template tensor<2>("positions.weight", {*c.positions.length, c.width},
                                       normal(c.init == Init::kGpt2 ? 0.02 : 1.0), false);
  const std::size_t first_stream = b.stream();
  for (std::size_t layer = 0; layer < c.layers; ++layer) {
    if (c.init_layers == InitLayers::kIdentical) b.set_stream(first_stream);
    b.enter("layers." + std::to_string(layer) + ".");
    p.layers.push_back(block_params(b, c));
  }
  b.enter("");
  if (*c.norm.final_norm) p.final_norm = norm_params(b, c, "final_norm");
  if (c.read_out == ReadOut::kLinear) {
    p.read_out = b.template tensor<2>("read_out.weight", {io.output_dim, c.width},
                                      linear_init(c.width), true);
    p.read_out_bias = bias_row(b, c.bias, "read_out.bias", io.output_dim, linear_init(c.width));
  }
  return p;
}

template <class S>
void transformer_cache(TransformerCache<S>& cache, Arena<S>& a, const ModelConfig& c,
                       const ModelIo& io, std::size_t batch, std::size_t tokens,
                       std::size_t n_threads, bool training) {
  const std::size_t rows = batch * tokens;
  cache.embedded = a.take(batch, tokens, c.width);
  cache.layers.resize(c.layers);
  for (BlockCache<S>& layer : cache.layers) layer = block_cache(a, c, batch, tokens);
  if (*c.norm.final_norm) {
    cache.final_norm = norm_cache(a, c, rows);
    cache.final_out = a.take(rows, c.width);
  }
  cache.output = a.take(batch, tokens, io.output_dim);
  cache.scratch = block_scratch(a, c, batch, tokens, n_threads, training);
  if (training)
    for (View<S, 2>& d : cache.dx) d = a.take(rows, c.width);
}

template <class S>
View<const S, 3> transformer_forward(const ModelConfig& c, TransformerCache<S>& cache,
                                     View<const S, 3> input, const TransformerParams<S>& p) {
  View<S, 2> embedded = as_rows(cache.embedded);
  if (c.read_in == ReadIn::kLinear)
    ops::linear_forward<S>(embedded, as_rows(input), p.read_in, p.read_in_bias, 1.0);
  else
    std::copy_n(input.data, input.size(), embedded.data);
  if (c.positions.type == PositionsType::kLearned)
    ops::add_positions_forward<S>(cache.embedded, p.positions);

  View<const S, 2> x = embedded;
  for (std::size_t layer = 0; layer < c.layers; ++layer)
    x = block_forward(c, cache.layers[layer], cache.scratch, x, p.layers[layer]);
  if (*c.norm.final_norm) {
    norm_forward(c, cache.final_out, cache.final_norm, x, p.final_norm);
    x = cache.final_out;
  }
  const View<S, 2> output = as_rows(cache.output);
  if (c.read_out == ReadOut::kLinear)
    ops::linear_forward<S>(output, x, p.read_out, p.read_out_bias, 1.0);
  else
    for (std::size_t i = 0; i < x.dims[0]; ++i)
      std::copy_n(&x(i, 0), output.dims[1], &output(i, 0));
  return cache.output;
}

template <class S>
void transformer_backward(const ModelConfig& c, const TransformerParams<S>& dp,
                          View<const S, 3> doutput, View<const S, 3> input,
                          const TransformerCache<S>& cache, const TransformerParams<S>& p) {
  const View<const S, 2> x_last = layer_input(c, cache, c.layers);
  const View<const S, 2> dout = as_rows(doutput);
  View<S, 2> dx = cache.dx[0], dnext = cache.dx[1];
  if (c.read_out == ReadOut::kLinear) {
    const View<const S, 2> x = *c.norm.final_norm ? View<const S, 2>(cache.final_out) : x_last;
    ops::linear_backward_params<S>(dp.read_out, dp.read_out_bias, dout, x, 1.0);
    ops::linear_backward_input<S>(dx, dout, p.read_out, 1.0);
  } else {
    for (std::size_t i = 0; i < dx.dims[0]; ++i) {
      std::copy_n(&dout(i, 0), dout.dims[1], &dx(i, 0));
      std::fill(&dx(i, 0) + dout.dims[1], &dx(i, 0) + dx.dims[1], S{});
    }
  }
  if (*c.norm.final_norm) {
    norm_backward(c, dnext, dp.final_norm, cache.scratch.row_sums, View<const S, 2>(dx), x_last,
                  cache.final_norm, p.final_norm);
    std::swap(dx, dnext);
  }
  for (std::size_t layer = c.layers; layer-- > 0;) {
    block_backward(c, dnext, dp.layers[layer], cache.dx[2], View<const S, 2>(dx),
                   layer_input(c, cache, layer), cache.layers[layer], cache.scratch,
                   p.layers[layer]);
    std::swap(dx, dnext);
  }
  const View<const S, 3> dembedded = dx.template reshape<3>(cache.embedded.dims);
  if (c.positions.type == PositionsType::kLearned)
    ops::add_positions_backward<S>(dp.positions, dembedded);
  if (c.read_in == ReadIn::kLinear)
    ops::linear_backward_params<S>(dp.read_in, dp.read_in_bias, View<const S, 2>(dx),
                                   as_rows(input), 1.0);
}

#define HEADROOM_INSTANTIATE(S)                                                                 \
  template TransformerParams<S> transformer_params(Binder<S>&, const ModelConfig&,              \
                                                   const ModelIo&);                             \
  template void transformer_cache(TransformerCache<S>&, Arena<S>&, const ModelConfig&,          \
                                  const ModelIo&, std::size_t, std::size_t, std::size_t, bool); \
  template View<const S, 3> transformer_forward(const ModelConfig&, TransformerCache<S>&,       \
                                                View<const S, 3>, const TransformerParams<S>&); \
  template void transformer_backward(const ModelConfig&, const TransformerParams<S>&,           \
                                     View<const S, 3>, View<const S, 3>,                        \
                                     const TransformerCache<S>&, const TransformerParams<S>&);
HEADROOM_INSTANTIATE(float)
HEADROOM_INSTANTIATE(double)
HEADROOM_INSTANTIATE(std::complex<double>)
#undef HEADROOM_INSTANTIATE

}  // namespace headroom
