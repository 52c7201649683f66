// The whole model behind one small interface: parameters, forward, backward. S is float (the fast
// kernels), double or std::complex<double> (the reference loops); all three run the same lines of
// transformer.h.
#pragma once

#include <complex>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "core/view.h"
#include "model/model_config.h"
#include "model/params.h"

namespace headroom {

// What the task asks of the model.
struct ModelIo {
  std::size_t input_dim = 0;   // D: coordinates of a token
  std::size_t output_dim = 0;  // O: coordinates of a prediction
  std::size_t tokens = 0;      // T: the longest sequence
  std::size_t queries = 0;     // Q: the most query tokens beside it; 0: the tokens ask themselves
};

// The config with every null filled in for this task; throws Error(kUsage) for impossible
// combinations.
ModelConfig resolve(ModelConfig config, const ModelIo& io);

// The parameters of such a model.
ParamTable parameter_table(const ModelConfig& config, const ModelIo& io);

// What the last forward left behind, for looking into the model (model/transformer.h).
template <class S>
struct AttentionRecord;
template <class S>
struct StreamRecord;

// What memory a model plans, and what may be asked of it.
enum class ModelUse {
  kTraining,
  kAnswering,  // forward and forward_next alone
  kInspection  // forward, then what it left: no layer runs as one kernel that forgets its queries
};

template <class S>
class Model {
 public:
  // Plans all memory for batches of up to max_batch sequences. Throws Error(kUsage) where that is
  // more than there is.
  Model(const ModelConfig& config, const ModelIo& io, std::size_t max_batch,
        ModelUse use = ModelUse::kTraining);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const ParamTable& table() const;
  View<S, 1> params();
  View<S, 1> grads();
  std::size_t memory_bytes() const;  // of parameters, gradients and activations

  // The most sequences whose activations lie in memory together: max_batch, or less of a large
  // model, which takes more in parts of that size. Of the shapes alone.
  std::size_t items_at_once() const;

  // input (B,T,D), B <= max_batch, T <= io.tokens; query (B,Q,D), Q <= io.queries, where the task
  // asks with tokens of their own, else empty. Returns the output (B,T,O), or (B,Q,O) with queries,
  // valid until the next forward.
  View<const S, 3> forward(View<const S, 3> input, View<const S, 3> query = {});
  // The output (B,1,O) for `token` (B,1,D) behind the first `position` tokens of the last forward's
  // input: what a forward of those tokens and `token` gives there, at the cost of one token, valid
  // until the next call. The last forward and its output stay as they are.
  // Only where continues(): of a model made for kAnswering, an encoder with a causal mask, whose
  // last forward took at most items_at_once() and kept its layers' keys and values.
  View<const S, 3> forward_next(View<const S, 3> token, std::size_t position);
  bool continues() const;
  // Adds the gradient of the last forward, of the same input and query, B <= items_at_once(), to
  // grads(). doutput, as the output, is the loss's gradient by it.
  void backward(View<const S, 3> input, View<const S, 3> doutput, View<const S, 3> query = {});

  // Forward, loss and backward of a batch, input and query as above: adds the gradient to grads()
  // and returns the sum of what `loss` returns. loss(first, output, doutput) is asked for the items
  // from `first` on and writes their part of doutput, (B,T,O) or (B,Q,O). Several threads may ask
  // at once: a small model goes through its batch in slices, each from end to end in one thread's
  // cache. A large model goes through it in parts of items_at_once(). Both depend on the shapes
  // alone, and gradients and losses are added in order.
  using SliceLoss = std::function<double(std::size_t, View<const S, 3>, View<S, 3>)>;
  double gradient(View<const S, 3> input, View<const S, 3> query, View<S, 3> doutput,
                  const SliceLoss& loss);

  // Of a model made for kInspection: the attention layers in the order in which they run, as the
  // last forward left them; valid until the next forward.
  std::vector<AttentionRecord<S>> attention() const;
  // The residual stream, likewise, of any model.
  std::vector<StreamRecord<S>> stream() const;
  // The output of the last forward's items with head `head` of copy `copy` of attention layer
  // `site` (an index into attention()) left out: its sums, or with mix_weights its weights, are 0.
  // Layers from there on are computed again, so after a forward the sites must be asked in falling
  // order. Parameters stay as they are.
  View<const S, 3> forward_without(std::size_t site, std::size_t copy, std::size_t head);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

extern template class Model<float>;
extern template class Model<double>;
extern template class Model<std::complex<double>>;

}  // namespace headroom
