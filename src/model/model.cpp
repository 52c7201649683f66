#include "model/model.h"

#include <cassert>

#include "core/parallel.h"
#include "model/transformer.h"

namespace headroom {

template <class S>
struct Model<S>::Impl {
  ModelConfig config;
  ModelIo io;
  std::size_t max_batch;
  bool training;
  std::size_t n_threads;
  ParamTable table;
  Arena<S> memory;  // parameters and gradients, then the activations
  View<S, 1> flat_params, flat_grads;
  TransformerParams<S> params, grads;
  Arena<S> activations;
  TransformerCache<S> cache;
  std::size_t batch = 0, tokens = 0;  // what the cache is laid out for

  void lay_out(std::size_t new_batch, std::size_t new_tokens) {
    assert(new_batch <= max_batch && new_tokens <= io.tokens);
    assert(static_cast<std::size_t>(threads()) <= n_threads);  // each has its scratch
    if (new_batch == batch && new_tokens == tokens) return;
    batch = new_batch;
    tokens = new_tokens;
    activations.rewind(0);
    transformer_cache(cache, activations, config, io, batch, tokens, n_threads, training);
  }
};

template <class S>
Model<S>::Model(const ModelConfig& config, const ModelIo& io, std::size_t max_batch, bool training)
    : impl_(new Impl{resolve(config, io),
                     io,
                     max_batch,
                     training,
                     static_cast<std::size_t>(threads()),
                     {},
                     {},
                     {},
                     {},
                     {},
                     {},
                     {},
                     {},
                     0,
                     0}) {
  Impl& m = *impl_;
  Binder<S> declare(m.table);
  transformer_params(declare, m.config, io);
  const std::size_t n = m.table.size();
  Arena<S> measure;
  (void)measure.take(n);
  if (training) (void)measure.take(n);
  m.memory = Arena<S>(measure.used());
  m.flat_params = m.memory.take(n);
  Binder<S> bind(m.flat_params.data);
  m.params = transformer_params(bind, m.config, io);
  if (training) {
    m.flat_grads = m.memory.take(n);
    Binder<S> bind_grads(m.flat_grads.data);
    m.grads = transformer_params(bind_grads, m.config, io);
  }
  Arena<S> measure_activations;
  transformer_cache(m.cache, measure_activations, m.config, io, max_batch, io.tokens, m.n_threads,
                    training);
  m.activations = Arena<S>(measure_activations.used());
}

template <class S>
Model<S>::~Model() = default;

template <class S>
const ParamTable& Model<S>::table() const {
  return impl_->table;
}
template <class S>
View<S, 1> Model<S>::params() {
  return impl_->flat_params;
}
template <class S>
View<S, 1> Model<S>::grads() {
  return impl_->flat_grads;
}

template <class S>
std::size_t Model<S>::memory_bytes() const {
  return sizeof(S) * (impl_->memory.capacity() + impl_->activations.capacity());
}

template <class S>
View<const S, 3> Model<S>::forward(View<const S, 3> input,
                                   [[maybe_unused]] View<const S, 3> query) {
  assert(query.empty());  // no model asks with tokens of their own yet
  impl_->lay_out(input.dims[0], input.dims[1]);
  return transformer_forward(impl_->config, impl_->cache, input, impl_->params);
}

template <class S>
void Model<S>::backward(View<const S, 3> input, View<const S, 3> doutput,
                        [[maybe_unused]] View<const S, 3> query) {
  assert(query.empty());
  assert(impl_->training && input.dims[0] == impl_->batch && input.dims[1] == impl_->tokens);
  transformer_backward(impl_->config, impl_->grads, doutput, input, impl_->cache, impl_->params);
}

template class Model<float>;
template class Model<double>;
template class Model<std::complex<double>>;

}  // namespace headroom
