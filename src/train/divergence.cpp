#include "train/divergence.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

#include "model/transformer.h"

namespace headroom {
namespace {

struct Extent {
  double largest = 0;  // of the finite ones, absolute
  std::uint64_t n_nonfinite = 0;

  void add(std::span<const float> values) {
    for (const float x : values) {
      if (std::isfinite(x)) {
        largest = std::max(largest, std::abs(static_cast<double>(x)));
      } else {
        ++n_nonfinite;
      }
    }
  }
};

struct Layer {
  std::string name;
  Extent params{}, grads{}, stream{};
  bool has_stream = false;
};

// "encoder.layers.3" of "encoder.layers.3.ffn.up.weight", "read_in" of "read_in.weight".
std::string layer_of(const std::string& tensor) {
  constexpr std::string_view kLayers = "layers.";
  const std::size_t at = tensor.find(kLayers);
  const std::size_t from = at == std::string::npos ? 0 : at + kLayers.size();
  return tensor.substr(0, tensor.find('.', from));
}

Layer& layer_named(std::vector<Layer>& layers, const std::string& name) {
  const auto at = std::find_if(layers.begin(), layers.end(),
                               [&](const Layer& layer) { return layer.name == name; });
  if (at != layers.end()) return *at;
  return layers.emplace_back(Layer{.name = name});
}

}  // namespace

std::vector<RecentUpdate> RecentUpdates::rows() const {
  std::vector<RecentUpdate> rows;
  for (std::size_t i = n_ - std::min(n_, kKept); i < n_; ++i) rows.push_back(ring_[i % kKept]);
  return rows;
}

json::Value divergence_value(std::uint64_t step, const std::string& what, const std::string& again,
                             const std::string& checkpoint, const RecentUpdates& recent,
                             Model<float>& model, const std::optional<Batch>& items) {
  json::Value root;
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? json::Value() : json::text(text);
  };
  json::add(root, "step", json::number(step));
  json::add(root, "what", json::text(what));
  json::add(root, "again", text_or_null(again));
  json::add(root, "last_checkpoint", text_or_null(checkpoint));

  json::Array updates;
  for (const RecentUpdate& u : recent.rows()) {
    updates.push_back(json::Value(json::Object{{"step", json::number(u.step)},
                                               {"loss", json::number(u.loss)},
                                               {"lr", json::number(u.lr)},
                                               {"grad_norm", json::number(u.grad_norm)}}));
  }
  json::add(root, "updates", json::Value(std::move(updates)));

  std::vector<Layer> layers;
  for (std::size_t first = 0; items && first < items->items(); first += model.items_at_once()) {
    const Batch part = items->range(first, std::min(model.items_at_once(), items->items() - first));
    model.forward(part.input, part.query);
    for (const StreamRecord<float>& record : model.stream()) {
      Layer& layer = layer_named(layers, record.name);
      layer.has_stream = true;
      layer.stream.add({record.rows.data, record.rows.size()});
    }
  }
  json::Array tensors;
  for (const ParamRow& row : model.table().rows()) {
    const auto of_row = [&](View<float, 1> flat) {
      Extent extent;
      extent.add(flat.flat().subspan(row.offset, row.size));
      return extent;
    };
    const Extent params = of_row(model.params()), grads = of_row(model.grads());
    Layer& layer = layer_named(layers, layer_of(row.name));
    layer.params.largest = std::max(layer.params.largest, params.largest);
    layer.grads.largest = std::max(layer.grads.largest, grads.largest);
    tensors.push_back(
        json::Value(json::Object{{"name", json::text(row.name)},
                                 {"parameter_max", json::number(params.largest)},
                                 {"gradient_max", json::number(grads.largest)},
                                 {"parameters_nonfinite", json::number(params.n_nonfinite)},
                                 {"gradients_nonfinite", json::number(grads.n_nonfinite)}}));
  }
  json::Array by_layer;
  for (const Layer& layer : layers) {
    by_layer.push_back(json::Value(json::Object{
        {"name", json::text(layer.name)},
        {"parameter_max", json::number(layer.params.largest)},
        {"gradient_max", json::number(layer.grads.largest)},
        {"stream_max", layer.has_stream ? json::number(layer.stream.largest) : json::Value()},
        {"stream_nonfinite", json::number(layer.stream.n_nonfinite)}}));
  }
  json::add(root, "layers", json::Value(std::move(by_layer)));
  json::add(root, "tensors", json::Value(std::move(tensors)));
  return root;
}

}  // namespace headroom
