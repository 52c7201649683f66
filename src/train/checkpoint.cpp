// The reader of checkpoints; the writer is checkpoint_write.cpp.
#include "train/checkpoint.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "core/error.h"
#include "core/spelling.h"
#include "train/checkpoint_format.h"
#include "train/gradient.h"

namespace headroom {
namespace {

[[noreturn]] void fail(const safetensors::Archive& archive, const std::string& what) {
  throw Error(Exit::kCorrupt, archive.path().string() + ": " + what);
}

const std::string& require(const safetensors::Archive& archive, const std::string& key) {
  const std::string* const text = archive.metadata(key);
  if (text == nullptr) fail(archive, "is no whole checkpoint: metadata '" + key + "' is missing");
  return *text;
}

template <class T>
void read_field(const safetensors::Archive& archive, const std::string& key, T& field) {
  const std::string& text = require(archive, key);
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, field);
  if (problem != std::errc() || stop != end) {
    fail(archive, "metadata '" + key + "' is not a number: " + in_quotes(text));
  }
}

// Checks names and shapes of all tensors PREFIX NAME before any value is copied.
void check_tensors(const safetensors::Archive& archive, const ParamTable& table,
                   std::string_view prefix) {
  for (const ParamRow& row : table.rows()) {
    const std::string name = std::string(prefix) + row.name;
    const safetensors::Tensor* const t = archive.find(name);
    if (t == nullptr) fail(archive, "has no tensor '" + name + "', which this model needs");
    if (t->shape != row.shape) {
      fail(archive, "tensor '" + name + "' has shape " + shape_text(t->shape) +
                        ", this model needs " + shape_text(row.shape));
    }
  }
}

template <class S>
void copy_tensors(const safetensors::Archive& archive, const ParamTable& table,
                  std::string_view prefix, std::span<S> out) {
  for (const ParamRow& row : table.rows()) {
    safetensors::copy_values(*archive.find(std::string(prefix) + row.name),
                             out.subspan(row.offset, row.size));
  }
}

}  // namespace

bool is_checkpoint(const safetensors::Archive& archive) {
  const std::string* const format = archive.metadata("format");
  return format != nullptr && *format == kCheckpointFormat;
}

TrainState checkpoint_state(const safetensors::Archive& archive) {
  if (!is_checkpoint(archive)) {
    fail(archive,
         "holds weights but is no checkpoint of headroom; --init-from starts a new run "
         "from such a file");
  }
  if (!archive.has_checksums()) fail(archive, "has no checksums");
  if (const std::string version = require(archive, "version"); version != kCheckpointVersion) {
    fail(archive, "has checkpoint version " + in_quotes(version) + ", this program reads " +
                      kCheckpointVersion);
  }
  TrainState state;
  for_each_field(state, [&](const char* name, auto& field) { read_field(archive, name, field); });
  return state;
}

template <class S>
TrainState load_checkpoint(const safetensors::Archive& archive, const ParamTable& table,
                           std::span<S> params, Optimizer<S>& optimizer) {
  const TrainState state = checkpoint_state(archive);
  if (const std::string type = require(archive, "optimizer");
      type != optimizer_name(optimizer.type())) {
    fail(archive, "was made with optimizer " + in_quotes(type) + ", the config says " +
                      optimizer_name(optimizer.type()));
  }
  const bool has_v = !optimizer.v().empty();
  check_tensors(archive, table, "");
  check_tensors(archive, table, kFirstMoment);
  if (has_v) check_tensors(archive, table, kSecondMoment);
  const std::size_t wanted = table.rows().size() * (has_v ? 3 : 2);
  if (archive.tensors().size() != wanted) {
    fail(archive, "has " + std::to_string(archive.tensors().size()) +
                      " tensors, this model needs " + std::to_string(wanted));
  }
  std::vector<S> values(params.size());
  copy_tensors(archive, table, "", std::span<S>(values));
  if (const std::string bad = first_nonfinite<S>(table, values); !bad.empty()) {
    fail(archive, "parameter '" + bad + "' is not finite");
  }
  std::copy(values.begin(), values.end(), params.begin());
  copy_tensors(archive, table, kFirstMoment, optimizer.m());
  if (has_v) copy_tensors(archive, table, kSecondMoment, optimizer.v());
  return state;
}

template <class S>
void load_params(const safetensors::Archive& archive, const ParamTable& table, std::span<S> params,
                 std::string_view prefix) {
  check_tensors(archive, table, prefix);
  for (const safetensors::Tensor& t : archive.tensors()) {
    const std::string_view name = t.name;
    if (name.starts_with(kFirstMoment) || name.starts_with(kSecondMoment) ||
        !name.starts_with(prefix))
      continue;
    if (table.find(name.substr(prefix.size())) == nullptr) {
      fail(archive, "has a tensor " + in_quotes(t.name) + ", which this model has not");
    }
  }
  copy_tensors(archive, table, prefix, params);
}

template TrainState load_checkpoint<float>(const safetensors::Archive&, const ParamTable&,
                                           std::span<float>, Optimizer<float>&);
template TrainState load_checkpoint<double>(const safetensors::Archive&, const ParamTable&,
                                            std::span<double>, Optimizer<double>&);
template void load_params<float>(const safetensors::Archive&, const ParamTable&, std::span<float>,
                                 std::string_view);
template void load_params<double>(const safetensors::Archive&, const ParamTable&, std::span<double>,
                                  std::string_view);

}  // namespace headroom
