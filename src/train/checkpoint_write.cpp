#include <string>
#include <vector>

#include "core/numbers.h"
#include "train/checkpoint.h"
#include "train/checkpoint_format.h"

namespace headroom {
namespace {

std::string field_text(std::uint64_t value) { return std::to_string(value); }
std::string field_text(double value) { return real_text(value); }

}  // namespace

void save_checkpoint(const std::filesystem::path& file, const ParamTable& table,
                     std::span<const float> params, const Optimizer<float>& optimizer,
                     const TrainState& state, const std::string& config) {
  std::vector<safetensors::Tensor> tensors;
  const auto add = [&](std::string_view prefix, std::span<const float> values) {
    for (const ParamRow& row : table.rows()) {
      tensors.push_back(safetensors::tensor(std::string(prefix) + row.name, row.shape,
                                            values.subspan(row.offset, row.size)));
    }
  };
  add("", params);
  add(kFirstMoment, optimizer.m());
  if (!optimizer.v().empty()) add(kSecondMoment, optimizer.v());
  safetensors::Metadata metadata{{"format", kCheckpointFormat},
                                 {"version", kCheckpointVersion},
                                 {"optimizer", optimizer_name(optimizer.type())}};
  for_each_field(state, [&](const char* name, const auto& field) {
    metadata.emplace_back(name, field_text(field));
  });
  metadata.emplace_back("config", config);
  safetensors::write(file, tensors, metadata);
}

}  // namespace headroom
