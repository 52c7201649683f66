#include <algorithm>
#include <string>
#include <vector>

#include "fuzz/readers.h"
#include "train/checkpoint.h"

namespace headroom::fuzz {
namespace {

constexpr float kUntouched = -12345.0f;

// A model that would fit the file as far as its tensors go.
ParamTable table_of(const safetensors::Archive& archive, std::string_view prefix) {
  ParamTable table;
  for (const safetensors::Tensor& t : archive.tensors()) {
    if (!t.name.starts_with(prefix) || t.name.starts_with("optimizer.")) continue;
    // A model's own names have nothing odd in them.
    const auto odd = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
    if (std::any_of(t.name.begin(), t.name.end(), odd)) continue;
    ParamRow row;
    row.name = t.name.substr(prefix.size());
    row.shape = t.shape;
    table.add(row);
  }
  return table;
}

void check_tensors(const safetensors::Archive& archive) {
  const char* end = nullptr;
  double sum = 0;
  for (const safetensors::Tensor& t : archive.tensors()) {
    std::size_t size = 1;
    for (const std::size_t d : t.shape) size *= d;
    require(size == t.size(), "a shape fits its bytes: " + t.name);
    require(end == nullptr || t.bytes.data() == end, "tensors lie end to end: " + t.name);
    require(archive.find(t.name) != nullptr, "a tensor is found by its name: " + t.name);
    end = t.bytes.data() + t.bytes.size();
    for (const char c : t.bytes) sum += c;  // every byte is there to be read
  }
  require(sum == sum, "bytes are numbers");
}

template <class S>
void load(const safetensors::Archive& archive, const ParamTable& table, OptimizerType type) {
  Optimizer<S> optimizer({.type = type}, table);
  std::vector<S> params(table.size(), kUntouched);
  const bool good = taken(
      [&] {
        const TrainState state = load_checkpoint(archive, table, std::span<S>(params), optimizer);
        require(archive.has_checksums(), "a checkpoint has checksums");
        for (const S x : params) require(x - x == 0, "loaded parameters are finite");
        require(state.step == checkpoint_state(archive).step, "the state is that of the file");
      },
      {Exit::kCorrupt});
  if (good) return;
  for (const S x : params) require(x == kUntouched, "a refused file changes no parameter");
  for (const S x : optimizer.m()) require(x == 0, "a refused file changes no moment");
}

}  // namespace

void read_checkpoint(std::string_view input) {
  taken(
      [&] {
        const safetensors::Archive archive(std::string(input), "last.safetensors");
        check_tensors(archive);
        const ParamTable own = table_of(archive, "");
        for (const OptimizerType type : {OptimizerType::kAdamW, OptimizerType::kSgd}) {
          load<float>(archive, own, type);
        }
        load<double>(archive, own, OptimizerType::kAdamW);
        for (const std::string_view prefix : {"", "param."}) {
          const ParamTable table = table_of(archive, prefix);
          std::vector<float> params(table.size());
          taken([&] { load_params(archive, table, std::span<float>(params), prefix); },
                {Exit::kCorrupt});
        }
        ParamTable other = own;
        ParamRow row;
        row.name = "another.weight";
        row.shape = {2, 3};
        other.add(row);
        std::vector<float> params(other.size(), kUntouched);
        const bool fits =
            taken([&] { load_params(archive, other, std::span<float>(params)); }, {Exit::kCorrupt});
        require(!fits, "a missing tensor is noticed");
        if (own.rows().empty()) return;
        ParamTable reshaped;
        for (ParamRow of_file : own.rows()) {
          of_file.shape.push_back(1);
          reshaped.add(of_file);
        }
        require(!taken([&] { load_params(archive, reshaped, std::span<float>(params)); },
                       {Exit::kCorrupt}),
                "another shape is noticed");
      },
      {Exit::kCorrupt});
}

}  // namespace headroom::fuzz
