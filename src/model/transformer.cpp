#include "model/transformer.h"

#include <algorithm>
#include <complex>

namespace headroom {
namespace {

bool is_decoder(const ModelConfig& c) { return c.type == ModelType::kEncoderDecoder; }
bool has_memory(const ModelConfig& c) {
  return is_decoder(c) || c.attention.kind == AttentionKind::kCross;
}

// The stack that answers; its own attention is causal where the config says so.
BlockPlan main_plan(const ModelConfig& c, std::size_t batch, std::size_t tokens,
                    std::size_t queries, bool inspected) {
  const bool cross = c.attention.kind == AttentionKind::kCross;
  return {.attention = {.cross = cross,
                        .causal = c.attention.mask == Mask::kCausal,
                        .distances = !cross,
                        .inspected = inspected},
          .decoder = is_decoder(c),
          .batch = batch,
          .tokens = has_memory(c) ? queries : tokens,
          .memory_tokens = tokens};
}

// The encoder sees the whole of its sequence.
BlockPlan encoder_plan(std::size_t batch, std::size_t tokens, bool inspected) {
  return {.attention = {.cross = false, .causal = false, .distances = true, .inspected = inspected},
          .decoder = false,
          .batch = batch,
          .tokens = tokens,
          .memory_tokens = 0};
}

// What the main stack attends to, beside itself.
template <class S>
View<const S, 2> memory_of(const ModelConfig& c, const TransformerCache<S>& cache) {
  if (is_decoder(c)) {
    const View<const S, 2> input = as_rows(cache.tokens);
    return *c.norm.final_norm ? View<const S, 2>(cache.encoder.final_out)
                              : layer_input(c, cache.encoder, input, c.layers);
  }
  return has_memory(c) ? View<const S, 2>(as_rows(cache.tokens)) : View<const S, 2>();
}

template <class S>
View<const S, 2> main_input(const ModelConfig& c, const TransformerCache<S>& cache) {
  return has_memory(c) ? as_rows(cache.queries) : as_rows(cache.tokens);
}

// The last stack's output.
template <class S>
View<const S, 2> main_output(const ModelConfig& c, const TransformerCache<S>& cache) {
  return *c.norm.final_norm ? View<const S, 2>(cache.main.final_out)
                            : layer_input(c, cache.main, main_input(c, cache), c.layers);
}

// output (n,O) from the last stack's output x (n,C).
template <class S>
void read_out_forward(const ModelConfig& c, View<S, 2> output, View<const S, 2> x,
                      const TransformerParams<S>& p) {
  if (c.read_out == ReadOut::kLinear)
    ops::linear_forward<S>(output, x, p.read_out, p.read_out_bias, 1.0);
  else
    for (std::size_t i = 0; i < x.dims[0]; ++i)
      std::copy_n(&x(i, 0), output.dims[1], &output(i, 0));
}

}  // namespace

template <class S>
TransformerParams<S> transformer_params(Binder<S>& b, const ModelConfig& c, const ModelIo& io) {
  TransformerParams<S> p;
  p.embedding = embedding_params(b, c, io);
  if (is_decoder(c)) p.encoder = stack_params(b, c, "encoder.", false);
  p.main = stack_params(b, c, is_decoder(c) ? "decoder." : "", is_decoder(c));
  if (c.read_out == ReadOut::kLinear) {
    const LinearInit init = read_out_init(c, io.output_dim);
    p.read_out =
        b.template tensor<2>("read_out.weight", {io.output_dim, c.width}, init.weight, true);
    p.read_out_bias = bias_row(b, c.bias, "read_out.bias", io.output_dim, init.bias);
  }
  return p;
}

template <class S>
void transformer_cache(TransformerCache<S>& cache, Arena<S>& a, const ModelConfig& c,
                       const ModelIo& io, std::size_t batch, std::size_t tokens,
                       std::size_t queries, std::size_t n_threads, bool training, bool inspected) {
  cache.tokens = a.take(batch, tokens, c.width);
  if (has_memory(c)) cache.queries = a.take(batch, queries, c.width);
  if (c.positions.type == PositionsType::kSinusoidal) {
    cache.sinusoidal = a.take(std::max(tokens, queries), c.width);
    if (cache.sinusoidal.data != nullptr) fill_sinusoidal(cache.sinusoidal);
  }
  if (is_decoder(c))
    stack_cache(cache.encoder, a, c, encoder_plan(batch, tokens, inspected), n_threads, training);
  stack_cache(cache.main, a, c, main_plan(c, batch, tokens, queries, inspected), n_threads,
              training);
  if (has_memory(c) && training) cache.dmemory = a.take(batch * tokens, c.width);
  cache.output = a.take(batch, cache.main.plan.tokens, io.output_dim);
}

template <class S>
View<const S, 3> transformer_forward(const ModelConfig& c, TransformerCache<S>& cache,
                                     View<const S, 3> input, View<const S, 3> query,
                                     const TransformerParams<S>& p) {
  embedding_forward<S>(c, cache.tokens, input, cache.sinusoidal, p.embedding);
  if (has_memory(c)) embedding_forward<S>(c, cache.queries, query, cache.sinusoidal, p.embedding);
  return transformer_forward_from(c, cache, is_decoder(c) ? StackName::kEncoder : StackName::kMain,
                                  0, p);
}

template <class S>
View<const S, 3> transformer_forward_from(const ModelConfig& c, TransformerCache<S>& cache,
                                          StackName stack, std::size_t first,
                                          const TransformerParams<S>& p) {
  if (stack == StackName::kEncoder) {
    stack_forward<S>(c, cache.encoder, View<const S, 2>(as_rows(cache.tokens)), {}, p.encoder,
                     first);
    first = 0;
  }
  read_out_forward<S>(
      c, as_rows(cache.output),
      stack_forward<S>(c, cache.main, main_input(c, cache), memory_of(c, cache), p.main, first), p);
  return cache.output;
}

bool can_continue(const ModelConfig& c) {
  return !is_decoder(c) && !has_memory(c) && c.attention.mask == Mask::kCausal;
}

template <class S>
bool kept_past(const TransformerCache<S>& cache) {
  return std::ranges::all_of(cache.main.layers, [](const BlockCache<S>& layer) {
    return layer.attention.qkv.data != nullptr;
  });
}

template <class S>
void next_token_cache(NextTokenCache<S>& next, Arena<S>& a, const ModelConfig& c, const ModelIo& io,
                      std::size_t batch, std::size_t position, std::size_t n_threads) {
  BlockPlan plan = main_plan(c, batch, 1, 0, false);
  plan.attention.before = position;
  next.token = a.take(batch, 1, c.width);
  if (c.positions.type == PositionsType::kSinusoidal) {
    next.sinusoidal = a.take(1, c.width);
    if (next.sinusoidal.data != nullptr) fill_sinusoidal(next.sinusoidal, position);
  }
  stack_cache(next.stack, a, c, plan, n_threads, false);
  next.output = a.take(batch, 1, io.output_dim);
}

template <class S>
View<const S, 3> next_token_forward(const ModelConfig& c, NextTokenCache<S>& next,
                                    const TransformerCache<S>& cache, View<const S, 3> token,
                                    const TransformerParams<S>& p) {
  [[maybe_unused]] const BlockPlan& past = cache.main.plan;
  const std::size_t position = next.stack.plan.attention.before;
  assert(next.stack.plan.batch == past.batch && position <= past.tokens);
  for (std::size_t layer = 0; layer < c.layers; ++layer) {
    const BlockCache<S>& kept = cache.main.layers[layer];
    const bool pre = c.norm.placement == NormPlacement::kPre;
    const View<const S, 2> x = pre ? View<const S, 2>(kept.branch1.inner)
                                   : layer_input(c, cache.main, main_input(c, cache), layer);
    const AttentionOperands<S> o =
        attention_operands(kept.attention, x, {}, p.main.layer(layer).attention);
    next.stack.layers[layer].attention.past = {o.k, o.v};
  }
  EmbeddingParams<S> embedding = p.embedding;  // its table of positions begins at this one
  if (!embedding.positions.empty()) embedding.positions = embedding.positions.range(position, 1);
  embedding_forward<S>(c, next.token, token, next.sinusoidal, embedding);
  const View<const S, 2> x = as_rows(next.token);
  read_out_forward<S>(c, as_rows(next.output), stack_forward<S>(c, next.stack, x, {}, p.main), p);
  return next.output;
}

template <class S>
void transformer_backward(const ModelConfig& c, const TransformerParams<S>& dp,
                          View<const S, 3> doutput, View<const S, 3> input, View<const S, 3> query,
                          TransformerCache<S>& cache, const TransformerParams<S>& p) {
  const View<const S, 2> dout = as_rows(doutput);
  const View<S, 2> dx = cache.main.d.now;
  if (c.read_out == ReadOut::kLinear) {
    ops::linear_backward_params<S>(dp.read_out, dp.read_out_bias, dout, main_output(c, cache), 1.0);
    ops::linear_backward_input<S>(dx, dout, p.read_out, 1.0);
  } else {
    for (std::size_t i = 0; i < dx.dims[0]; ++i) {
      std::copy_n(&dout(i, 0), dout.dims[1], &dx(i, 0));
      std::fill(&dx(i, 0) + dout.dims[1], &dx(i, 0) + dx.dims[1], S{});
    }
  }
  if (has_memory(c)) std::fill_n(cache.dmemory.data, cache.dmemory.size(), S{});
  stack_backward<S>(c, cache.main, dp.main, cache.dmemory, main_input(c, cache),
                    memory_of(c, cache), p.main);
  if (has_memory(c)) embedding_backward<S>(c, dp.embedding, cache.main.d.now, query);
  if (is_decoder(c)) {
    std::copy_n(cache.dmemory.data, cache.dmemory.size(), cache.encoder.d.now.data);
    stack_backward<S>(c, cache.encoder, dp.encoder, {}, View<const S, 2>(as_rows(cache.tokens)), {},
                      p.encoder);
  }
  const View<const S, 2> dtokens = is_decoder(c)   ? cache.encoder.d.now
                                   : has_memory(c) ? cache.dmemory
                                                   : cache.main.d.now;
  embedding_backward<S>(c, dp.embedding, dtokens, input);
}

template <class S>
std::vector<AttentionRecord<S>> attention_records(const ModelConfig& c,
                                                  const TransformerCache<S>& cache,
                                                  const TransformerParams<S>& p) {
  std::vector<AttentionRecord<S>> records;
  const auto add = [&](const std::string& name, StackName stack, std::size_t layer, bool tokens,
                       const AttentionCache<S>& attention, View<const S, 2> source,
                       const AttentionContext<S>& context, const AttentionParams<S>& params) {
    records.push_back({name, stack, layer, tokens, attention.sizes,
                       attention_operands(attention, source, context, params), attention.z,
                       params});
  };
  const auto add_stack = [&](StackName name, const std::string& prefix, const StackCache<S>& stack,
                             View<const S, 2> input, View<const S, 2> memory,
                             const StackParams<S>& params) {
    const AttentionContext<S> context{memory, stack.bias, stack.rotary};
    for (std::size_t layer = 0; layer < c.layers; ++layer) {
      const std::string at = prefix + "layers." + std::to_string(layer);
      const BlockCache<S>& block = stack.layers[layer];
      const bool pre = c.norm.placement == NormPlacement::kPre;
      const View<const S, 2> x =
          pre ? View<const S, 2>(block.branch1.inner) : layer_input(c, stack, input, layer);
      add(at + ".attention", name, layer, stack.plan.attention.cross || !stack.plan.decoder,
          block.attention, attention_source(block.attention.sizes, x, context), context,
          params.layer(layer).attention);
      if (stack.plan.decoder)
        add(at + ".cross_attention", name, layer, true, block.cross_attention, memory, context,
            params.layer(layer).cross_attention);
    }
  };
  if (is_decoder(c))
    add_stack(StackName::kEncoder, "encoder.", cache.encoder,
              View<const S, 2>(as_rows(cache.tokens)), {}, p.encoder);
  add_stack(StackName::kMain, is_decoder(c) ? "decoder." : "", cache.main, main_input(c, cache),
            memory_of(c, cache), p.main);
  return records;
}

template <class S>
std::vector<StreamRecord<S>> stream_records(const ModelConfig& c,
                                            const TransformerCache<S>& cache) {
  std::vector<StreamRecord<S>> records;
  const auto add_stack = [&](const std::string& prefix, const StackCache<S>& stack,
                             const char* input_name, View<const S, 2> input) {
    for (std::size_t layer = 0; layer <= c.layers; ++layer)
      records.push_back({layer == 0 ? input_name : prefix + "layers." + std::to_string(layer - 1),
                         stack.plan.tokens, layer_input(c, stack, input, layer)});
  };
  if (is_decoder(c))
    add_stack("encoder.", cache.encoder, "tokens", View<const S, 2>(as_rows(cache.tokens)));
  add_stack(is_decoder(c) ? "decoder." : "", cache.main, has_memory(c) ? "queries" : "tokens",
            main_input(c, cache));
  return records;
}

// NOLINTBEGIN(bugprone-macro-parentheses): S is a type.
#define HEADROOM_INSTANTIATE(S)                                                                \
  template TransformerParams<S> transformer_params(Binder<S>&, const ModelConfig&,             \
                                                   const ModelIo&);                            \
  template void transformer_cache(TransformerCache<S>&, Arena<S>&, const ModelConfig&,         \
                                  const ModelIo&, std::size_t, std::size_t, std::size_t,       \
                                  std::size_t, bool, bool);                                    \
  template View<const S, 3> transformer_forward(const ModelConfig&, TransformerCache<S>&,      \
                                                View<const S, 3>, View<const S, 3>,            \
                                                const TransformerParams<S>&);                  \
  template View<const S, 3> transformer_forward_from(const ModelConfig&, TransformerCache<S>&, \
                                                     StackName, std::size_t,                   \
                                                     const TransformerParams<S>&);             \
  template bool kept_past(const TransformerCache<S>&);                                         \
  template void next_token_cache(NextTokenCache<S>&, Arena<S>&, const ModelConfig&,            \
                                 const ModelIo&, std::size_t, std::size_t, std::size_t);       \
  template View<const S, 3> next_token_forward(const ModelConfig&, NextTokenCache<S>&,         \
                                               const TransformerCache<S>&, View<const S, 3>,   \
                                               const TransformerParams<S>&);                   \
  template std::vector<AttentionRecord<S>> attention_records(                                  \
      const ModelConfig&, const TransformerCache<S>&, const TransformerParams<S>&);            \
  template std::vector<StreamRecord<S>> stream_records(const ModelConfig&,                     \
                                                       const TransformerCache<S>&);            \
  template void transformer_backward(const ModelConfig&, const TransformerParams<S>&,          \
                                     View<const S, 3>, View<const S, 3>, View<const S, 3>,     \
                                     TransformerCache<S>&, const TransformerParams<S>&);
// NOLINTEND(bugprone-macro-parentheses)
HEADROOM_INSTANTIATE(float)
HEADROOM_INSTANTIATE(double)
HEADROOM_INSTANTIATE(std::complex<double>)
#undef HEADROOM_INSTANTIATE

}  // namespace headroom
