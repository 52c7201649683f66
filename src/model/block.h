// A layer: attention and FFN, each in a residual branch with its norm before (x + f(norm x)) or
// after (norm(x + f x)).
#pragma once

#include "model/attention.h"
#include "model/ffn.h"
#include "model/norm.h"

namespace headroom {

template <class S>
struct BranchCache {
  NormCache<S> norm;
  View<S, 2> inner;  // (n,C) pre: norm(x), what f sees; post: x + f(x), what the norm sees
  View<S, 2> out;    // (n,C)
};

template <class S>
struct BlockParams {
  AttentionParams<S> attention;
  NormParams<S> norm1, norm2;
  FfnParams<S> ffn;  // absent where ffn.width is 0, and norm2 with it
};

template <class S>
struct BlockCache {
  AttentionCache<S> attention;
  FfnCache<S> ffn;
  BranchCache<S> branch1, branch2;
};

// Temporaries that all layers share.
template <class S>
struct BlockScratch {
  AttentionScratch<S> attention;
  View<S, 2> branch;    // (n,C) f's output, and in backward the gradient by f's input
  View<S, 2> dsum;      // (n,C)
  View<S, 2> dhidden;   // (n,F)
  View<S, 1> row_sums;  // (n)
};

template <class S>
BranchCache<S> branch_cache(Arena<S>& a, const ModelConfig& c, std::size_t rows) {
  BranchCache<S> cache;
  cache.norm = norm_cache(a, c, rows);
  cache.inner = a.take(rows, c.width);
  cache.out = a.take(rows, c.width);
  return cache;
}

template <class S>
BlockCache<S> block_cache(Arena<S>& a, const ModelConfig& c, std::size_t batch,
                          std::size_t tokens) {
  BlockCache<S> cache;
  cache.attention = attention_cache(a, c, batch, tokens);
  cache.branch1 = branch_cache(a, c, batch * tokens);
  if (c.ffn.width > 0) {
    cache.ffn = ffn_cache(a, c, batch * tokens);
    cache.branch2 = branch_cache(a, c, batch * tokens);
  }
  return cache;
}

template <class S>
BlockScratch<S> block_scratch(Arena<S>& a, const ModelConfig& c, std::size_t batch,
                              std::size_t tokens, std::size_t n_threads, bool training) {
  BlockScratch<S> s;
  const std::size_t rows = batch * tokens;
  s.attention = attention_scratch(a, c, batch, tokens, n_threads, training);
  s.branch = a.take(rows, c.width);
  if (training) {
    s.dsum = a.take(rows, c.width);
    s.dhidden = a.take(rows, c.ffn.width);
    s.row_sums = a.take(rows);
  }
  return s;
}

// cache.out = the branch around f; f(y, x) writes y (n,C) from x (n,C).
template <class S, class F>
void branch_forward(const ModelConfig& c, const BranchCache<S>& cache, View<S, 2> scratch,
                    View<const S, 2> x, const NormParams<S>& p, const F& f) {
  const View<const S, 2> inner = cache.inner, branch = scratch;
  if (c.norm.placement == NormPlacement::kPre) {
    norm_forward(c, cache.inner, cache.norm, x, p);
    if (c.residual) {
      f(scratch, inner);
      ops::add_forward<S>(cache.out, x, branch);
    } else {
      f(cache.out, inner);
    }
  } else {
    if (c.residual) {
      f(scratch, x);
      ops::add_forward<S>(cache.inner, x, branch);
    } else {
      f(cache.inner, x);
    }
    norm_forward(c, cache.out, cache.norm, inner, p);
  }
}

// dx (n,C) is written from dout (n,C); f_backward(dx, dy, x) writes dx and accumulates its
// parameters' gradients. dx must not be dout.
template <class S, class F>
void branch_backward(const ModelConfig& c, View<S, 2> dx, const NormParams<S>& dp,
                     View<const S, 2> dout, View<const S, 2> x, const BranchCache<S>& cache,
                     const BlockScratch<S>& scratch, const NormParams<S>& p, const F& f_backward) {
  const View<const S, 2> inner = cache.inner, dx_view = dx;
  if (c.norm.placement == NormPlacement::kPre) {
    f_backward(scratch.branch, dout, inner);
    norm_backward(c, dx, dp, scratch.row_sums, View<const S, 2>(scratch.branch), x, cache.norm, p);
    if (c.residual) ops::add_forward<S>(dx, dx_view, dout);
  } else {
    norm_backward(c, scratch.dsum, dp, scratch.row_sums, dout, inner, cache.norm, p);
    const View<const S, 2> dsum = scratch.dsum;
    f_backward(dx, dsum, x);
    if (c.residual) ops::add_forward<S>(dx, dx_view, dsum);
  }
}

// Returns the layer's output (n,C), which lies in its cache.
template <class S>
View<const S, 2> block_forward(const ModelConfig& c, const BlockCache<S>& cache,
                               const BlockScratch<S>& scratch, View<const S, 2> x,
                               const BlockParams<S>& p) {
  branch_forward(c, cache.branch1, scratch.branch, x, p.norm1,
                 [&](View<S, 2> y, View<const S, 2> in) {
                   attention_forward(c, y, cache.attention, scratch.attention, in, p.attention);
                 });
  if (c.ffn.width == 0) return cache.branch1.out;
  branch_forward(
      c, cache.branch2, scratch.branch, View<const S, 2>(cache.branch1.out), p.norm2,
      [&](View<S, 2> y, View<const S, 2> in) { ffn_forward(c, y, cache.ffn, in, p.ffn); });
  return cache.branch2.out;
}

// dx is written, dp accumulates; dmiddle (n,C) holds the gradient between the two branches. dx,
// dmiddle and dout are three different buffers.
template <class S>
void block_backward(const ModelConfig& c, View<S, 2> dx, const BlockParams<S>& dp,
                    View<S, 2> dmiddle, View<const S, 2> dout, View<const S, 2> x,
                    const BlockCache<S>& cache, const BlockScratch<S>& scratch,
                    const BlockParams<S>& p) {
  View<const S, 2> dbranch1 = dout;
  if (c.ffn.width > 0) {
    branch_backward(c, dmiddle, dp.norm2, dout, View<const S, 2>(cache.branch1.out), cache.branch2,
                    scratch, p.norm2,
                    [&](View<S, 2> din, View<const S, 2> dy, View<const S, 2> in) {
                      ffn_backward(c, din, dp.ffn, scratch.dhidden, dy, in, cache.ffn, p.ffn);
                    });
    dbranch1 = dmiddle;
  }
  branch_backward(c, dx, dp.norm1, dbranch1, x, cache.branch1, scratch, p.norm1,
                  [&](View<S, 2> din, View<const S, 2> dy, View<const S, 2> in) {
                    attention_backward(c, din, dp.attention, dy, in, cache.attention,
                                       scratch.attention, p.attention);
                  });
}

}  // namespace headroom
