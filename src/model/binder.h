// Walks the parameters of a model in their one order. The same code declares the rows of the
// ParamTable (over no memory) and cuts the views out of a flat vector, so names, shapes and offsets
// cannot disagree.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <string>

#include "core/view.h"
#include "model/params.h"

namespace headroom {

template <class S>
class Binder {
 public:
  explicit Binder(ParamTable& declare_into) : table_(&declare_into) {}
  explicit Binder(S* flat) : flat_(flat) {}

  // Names from here on begin with this prefix, such as "layers.3.".
  void enter(std::string prefix) { prefix_ = std::move(prefix); }
  // The init stream of the next tensor; a layer set back to the first one's stream starts as its
  // copy.
  std::size_t stream() const { return stream_; }
  void set_stream(std::size_t stream) { stream_ = stream; }

  template <std::size_t N>
  View<S, N> tensor(const std::string& name, std::array<std::size_t, N> dims, InitRule init,
                    bool decay) {
    View<S, N> view{flat_ == nullptr ? nullptr : flat_ + offset_, dims};
    if (table_ != nullptr)
      table_->add({prefix_ + name, {dims.begin(), dims.end()}, init, decay, 0, 0, stream_});
    ++stream_;
    offset_ += view.size();
    return view;
  }

 private:
  ParamTable* table_ = nullptr;
  S* flat_ = nullptr;
  std::string prefix_;
  std::size_t offset_ = 0, stream_ = 0;
};

}  // namespace headroom
