// What the heads of a model are and do: spectra of their maps, what they attend to on held-out
// items, what the loss is without each.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/attention_statistics.h"
#include "analysis/spectrum.h"
#include "tasks/score.h"
#include "tasks/task.h"
#include "train/safetensors.h"

namespace headroom {

// A mixing matrix of one copy.
struct MixerSpectrum {
  std::vector<double> singular_values;
  std::optional<double> distance_to_identity;  // ||P - I||_F / sqrt(heads), of a square one
};

// One row a head. Where their numbers differ, head g of the scores, of the softmaxes and of the
// values are not one thing, and a row holds those that there are.
struct HeadInspection {
  std::size_t copy = 0, head = 0;
  std::optional<Spectrum> qk;              // W_Q^T W_K, before the scale; g < score_heads
  std::optional<Spectrum> mixed_qk;        // sum_k P[g,k] W_Q^k^T W_K^k of mixed scores; g < heads
  std::optional<Spectrum> ov;              // W_O W_V; g < value_heads
  std::optional<HeadAttention> attention;  // g < heads
  std::optional<Mean> loss_without;        // minus the loss with it; g < heads
};

struct LayerInspection {
  std::string name;
  std::size_t copies = 0, score_heads = 0, heads = 0, value_heads = 0;
  std::size_t key_size = 0, value_size = 0, width = 0;
  std::size_t score_rank = 0;  // that a score can have: key_size, mixed min(width, score_heads *
                               // key_size)
  std::vector<HeadInspection> rows;                    // copy by copy
  std::vector<double> cosine;                          // (c,h,h) of the heads' maps
  std::vector<MixerSpectrum> mix_scores, mix_weights;  // by copy; empty without
};

// ||X - 1 x^T||_F / ||X||_F of a sequence's tokens, x their mean: 0 where all are one (rank
// collapse; Dong, Cordonnier, Loukas 2021). Mean over items.
struct TokenSpread {
  std::string name;
  Mean residual;
};

struct Inspection {
  std::size_t items = 0;           // for attention and tokens
  std::size_t ablation_items = 0;  // for the losses without a head
  Mean loss;                       // on the latter
  std::vector<LayerInspection> layers;
  std::vector<TokenSpread> tokens;  // of the embedded tokens and behind each layer
};

// How many held-out items are worth their time: a pure function of the config, so that every look
// at a run sees the same ones.
struct InspectPlan {
  std::size_t items = 0, ablation_items = 0, dump_items = 0;
};
InspectPlan inspect_plan(const Task& task, const ModelConfig& config);

// Looks at items 0, 1, ... of stream (seed, kEval, 0) at the task's final stage. `dump`, if given,
// receives the batch, the output and the attention maps of the first plan.dump_items items as named
// tensors over memory that it keeps. Nothing once `stop` says true.
struct AttentionDump {
  std::vector<safetensors::Tensor> tensors;
  std::vector<std::vector<float>> memory;
};
std::optional<Inspection> inspect(const Task& task, const ModelConfig& config,
                                  std::span<const float> params, std::uint64_t seed,
                                  const InspectPlan& plan, AttentionDump* dump,
                                  const std::function<bool()>& stop);

}  // namespace headroom
