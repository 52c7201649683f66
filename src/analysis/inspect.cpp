#include "analysis/inspect.h"

#include <algorithm>
#include <cmath>

#include "analysis/ablation.h"
#include "analysis/head_maps.h"
#include "analysis/sample_mean.h"
#include "model/budget.h"
#include "train/evaluate.h"

namespace headroom {

namespace {

constexpr std::size_t kChunkItems = 16;  // of one forward

// For each query row of a batch the token whose very coordinates are the answer wanted; nothing
// where some answer is no token, as where numbers are to be predicted.
std::vector<std::size_t> wanted_keys(const Batch& items, const TaskShape& shape) {
  if (shape.input_dim != shape.output_dim) return {};
  std::vector<std::size_t> wanted(items.items() * shape.outputs(), kNoKey);
  for (std::size_t b = 0; b < items.items(); ++b)
    for (std::size_t p = 0; p < shape.predictions; ++p) {
      const std::span<const float> target = items.target[b][p].flat();
      std::size_t token = 0;
      while (token < shape.tokens && !std::ranges::equal(items.input[b][token].flat(), target))
        ++token;
      if (token == shape.tokens) return {};
      wanted[b * shape.outputs() + shape.read_at().token(p)] = token;
    }
  return wanted;
}

// Of `tokens` rows a sequence.
void add_residuals(std::vector<double>& residuals, const StreamRecord<float>& stream) {
  const std::size_t c = stream.rows.dim(1);
  for (std::size_t b = 0; b < stream.rows.dim(0) / stream.tokens; ++b) {
    const View<const float, 2> x = stream.rows.range(b * stream.tokens, stream.tokens);
    double square = 0, residual = 0;
    for (std::size_t e = 0; e < c; ++e) {
      double mean = 0;
      for (std::size_t t = 0; t < stream.tokens; ++t) {
        mean += double{x(t, e)} / static_cast<double>(stream.tokens);
        square += double{x(t, e)} * double{x(t, e)};
      }
      for (std::size_t t = 0; t < stream.tokens; ++t) residual += std::pow(x(t, e) - mean, 2);
    }
    residuals.push_back(std::sqrt(residual / square));
  }
}

void dump_batch(AttentionDump& dump, const Batch& items, View<const float, 3> output) {
  const auto add = [&](const char* name, View<const float, 3> view) {
    if (view.empty()) return;
    dump.memory.emplace_back(view.data, view.data + view.size());
    dump.tensors.push_back(safetensors::tensor<float>(name, {view.dims.begin(), view.dims.end()},
                                                      std::span<const float>(dump.memory.back())));
  };
  add("batch.input", items.input);
  add("batch.query", items.query);
  add("batch.target", items.target);
  add("output", output);
}

void dump_maps(AttentionDump& dump, const AttentionRecord<float>& layer, AttentionMaps maps) {
  const AttentionShape& s = layer.sizes.shape;
  const auto add = [&](const char* what, std::size_t heads, std::vector<float>& values) {
    if (values.empty()) return;
    dump.memory.push_back(std::move(values));
    dump.tensors.push_back(safetensors::tensor<float>(
        layer.name + what, {s.batch, s.copies * heads, s.queries, s.keys},
        std::span<const float>(dump.memory.back())));
  };
  add(".weights", s.heads, maps.weights);
  add(".mixed_weights", s.value_heads, maps.mixed);
}

}  // namespace

InspectPlan inspect_plan(const Task& task, const ModelConfig& unresolved) {
  // Arithmetic that takes a few seconds, and what is enough for a standard error.
  constexpr double kAttentionWork = 1e9, kAblationFlops = 5e11, kDumpBytes = 512e6;
  constexpr double kFewest = 4, kMost = 512, kMostDumped = 16;
  const ModelIo io = model_io(task);
  const ModelConfig c = resolve(unresolved, io);
  const bool decoder = c.type == ModelType::kEncoderDecoder;
  const double own = static_cast<double>(io.queries > 0 ? io.queries : io.tokens);
  const double tokens = static_cast<double>(io.tokens), layers = static_cast<double>(c.layers);
  // Entries of one head's maps in all layers.
  const double entries =
      layers * (decoder ? tokens * tokens + own * own + own * tokens : own * tokens);
  const AttentionShape s = attention_sizes(c, {}, 1, 1, 1).shape;
  const auto real = [](std::size_t n) { return static_cast<double>(n); };
  const double heads = real(s.copies * s.heads), sites = layers * (decoder ? 3 : 1);
  constexpr double kEntryWork = 20;  // the exponential, entropy and the rest
  const double work =
      entries * real(s.copies) *
      (real(s.score_heads * s.key_size) +
       real(s.heads) * (real(s.score_heads) + real(s.value_heads) + real(s.heads) + kEntryWork));
  const double flops = model_budget(c, io).flops_per_token * real(io.tokens + io.queries);
  // A layer's heads take the layers from it on once more: half of all, on average.
  const double ablation = flops * (1 + sites * heads * (1 + 1 / layers) / 2);
  const auto whole = [](double n, double least, double most) {
    return static_cast<std::size_t>(std::clamp(n, least, most));
  };
  return {.items = whole(kAttentionWork / work, kFewest, kMost),
          .ablation_items = whole(kAblationFlops / ablation, kFewest, kMost),
          .dump_items = whole(kDumpBytes / (4 * heads * entries), 1, kMostDumped)};
}

std::optional<Inspection> inspect(const Task& task, const ModelConfig& config,
                                  std::span<const float> params, std::uint64_t seed,
                                  const InspectPlan& plan, AttentionDump* dump,
                                  const std::function<bool()>& stop) {
  const ModelIo io = model_io(task);
  const ModelConfig resolved = resolve(config, io);
  const Stage stage = task.final_stage();
  const TaskShape shape = task.shape(stage);
  Model<float> model(config, io, kChunkItems, ModelUse::kInspection);
  std::copy(params.begin(), params.end(), model.params().data);
  OwnedBatch batch;
  batch.shape(shape, kChunkItems);
  std::vector<float> memory(kChunkItems * shape.predictions * shape.output_dim);
  const View<float, 3> predictions(memory.data(),
                                   {kChunkItems, shape.predictions, shape.output_dim});

  Inspection result{.items = plan.items,
                    .ablation_items = plan.ablation_items,
                    .loss = {},
                    .layers = {},
                    .tokens = {}};
  std::vector<AttentionObserver> observers;
  std::vector<std::string> stream_names;
  std::vector<std::vector<double>> residuals;
  Ablation ablation(task);
  const std::size_t n_items =
      std::max({plan.items, plan.ablation_items, dump == nullptr ? 0 : plan.dump_items});
  // Parts of the stream that every use takes from its start, in chunks.
  const auto part = [](std::size_t first, std::size_t items) {
    return first >= items ? 0 : std::min(kChunkItems, items - first);
  };
  for (std::size_t first = 0; first < n_items; first += kChunkItems) {
    const auto forward = [&](std::size_t count) {
      const Batch items = batch.views.range(0, count);
      sample_batch(task, seed, Purpose::kEval, 0, first, stage, items);
      return std::pair(items, model.forward(items.input, items.query));
    };
    if (stop()) return std::nullopt;
    if (const std::size_t count = dump == nullptr ? 0 : part(first, plan.dump_items)) {
      const auto [items, output] = forward(count);
      dump_batch(*dump, items, output);
      for (const AttentionRecord<float>& layer : model.attention()) {
        AttentionMaps maps;
        AttentionObserver().add(layer, {}, &maps);
        dump_maps(*dump, layer, std::move(maps));
      }
    }
    if (const std::size_t count = part(first, plan.items)) {
      const auto [items, output] = forward(count);
      const std::vector<std::size_t> wanted = wanted_keys(items, shape);
      const std::vector<AttentionRecord<float>> layers = model.attention();
      if (first == 0)
        for (const auto& layer : layers) result.layers.push_back(inspect_maps(resolved, layer));
      observers.resize(layers.size());
      for (std::size_t i = 0; i < layers.size(); ++i) {
        if (stop()) return std::nullopt;
        const bool ends = layers[i].keys_are_tokens && layers[i].stack == StackName::kMain;
        observers[i].add(layers[i], ends ? std::span(wanted) : std::span<const std::size_t>());
      }
      const std::vector<StreamRecord<float>> streams = model.stream();
      residuals.resize(streams.size());
      for (std::size_t i = 0; i < streams.size(); ++i) {
        if (first == 0) result.tokens.push_back({streams[i].name, {}});
        add_residuals(residuals[i], streams[i]);
      }
    }
    if (const std::size_t count = part(first, plan.ablation_items)) {
      const auto [items, output] = forward(count);
      if (!ablation.add(model, items, predictions.range(0, count), output, stop))
        return std::nullopt;
    }
  }

  result.loss = ablation.loss();
  const std::vector<std::vector<Mean>> deltas = ablation.deltas();
  for (std::size_t i = 0; i < result.layers.size(); ++i) {
    LayerInspection& layer = result.layers[i];
    const AttentionStatistics statistics = observers[i].result();
    layer.cosine = statistics.cosine;
    for (HeadInspection& row : layer.rows) {
      if (row.head >= layer.heads) continue;
      const std::size_t g = row.copy * layer.heads + row.head;
      row.attention = statistics.heads[g];
      row.loss_without = deltas[i][g];
    }
  }
  for (std::size_t i = 0; i < residuals.size(); ++i)
    result.tokens[i].residual = mean_of(residuals[i]);
  return result;
}

}  // namespace headroom
