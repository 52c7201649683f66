// A layer: attention, in a decoder cross-attention, and FFN, each in a residual branch with its
// norm before (x + f(norm x)) or after (norm(x + f x)).
#pragma once

#include <utility>

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

// The norms stand in the order of the branches: norm1 with attention, then cross_attention's, then
// the FFN's.
template <class S>
struct BlockParams {
  AttentionParams<S> attention;
  NormParams<S> norm1;
  AttentionParams<S> cross_attention;  // a decoder's; absent elsewhere, and cross_norm with it
  NormParams<S> cross_norm;
  FfnParams<S> ffn;  // absent where ffn.width is 0, and ffn_norm with it
  NormParams<S> ffn_norm;
};

template <class S>
struct BlockCache {
  AttentionCache<S> attention, cross_attention;
  FfnCache<S> ffn;
  BranchCache<S> branch1, cross_branch, ffn_branch;
};

// Temporaries that all layers of a stack share.
template <class S>
struct BlockScratch {
  AttentionScratch<S> attention, cross_attention;
  FfnScratch<S> ffn;
  View<S, 2> branch;    // (n,C) f's output, and in backward the gradient by f's input
  View<S, 2> dsum;      // (n,C)
  View<S, 1> row_sums;  // (n)
};

// What kind of layers a stack is made of.
struct BlockPlan {
  AttentionSite attention;
  bool decoder = false;  // cross-attention behind the self-attention
  std::size_t batch = 0, tokens = 0, memory_tokens = 0;
  std::size_t rows() const { return batch * tokens; }
  std::size_t keys() const { return attention.cross ? memory_tokens : tokens; }
};
inline constexpr AttentionSite kDecoderCross{.cross = true, .causal = false, .distances = false};

template <class S>
BranchCache<S> branch_cache(Arena<S>& a, const ModelConfig& c, std::size_t rows) {
  BranchCache<S> cache;
  cache.norm = norm_cache(a, c, rows);
  cache.inner = a.take(rows, c.width);
  cache.out = a.take(rows, c.width);
  return cache;
}

template <class S>
BlockCache<S> block_cache(Arena<S>& a, const ModelConfig& c, const BlockPlan& plan, bool training) {
  BlockCache<S> cache;
  cache.attention = attention_cache(a, c, plan.attention, plan.batch, plan.tokens, plan.keys());
  cache.branch1 = branch_cache(a, c, plan.rows());
  if (plan.decoder) {
    cache.cross_attention =
        attention_cache(a, c, kDecoderCross, plan.batch, plan.tokens, plan.memory_tokens);
    cache.cross_branch = branch_cache(a, c, plan.rows());
  }
  if (c.ffn.width > 0) {
    cache.ffn = ffn_cache(a, c, plan.rows(), training);
    cache.ffn_branch = branch_cache(a, c, plan.rows());
  }
  return cache;
}

template <class S>
BlockScratch<S> block_scratch(Arena<S>& a, const ModelConfig& c, const BlockPlan& plan,
                              std::size_t n_threads, bool training) {
  BlockScratch<S> s;
  s.attention = attention_scratch(a, c, plan.attention, plan.batch, plan.tokens, plan.keys(),
                                  n_threads, training);
  if (plan.decoder)
    s.cross_attention = attention_scratch(a, c, kDecoderCross, plan.batch, plan.tokens,
                                          plan.memory_tokens, n_threads, training);
  if (c.ffn.width > 0) s.ffn = ffn_scratch(a, c, plan.rows(), n_threads, training);
  s.branch = a.take(plan.rows(), c.width);
  if (training) {
    s.dsum = a.take(plan.rows(), c.width);
    s.row_sums = a.take(plan.rows());
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
View<const S, 2> block_forward(const ModelConfig& c, const BlockPlan& plan,
                               const BlockCache<S>& cache, const BlockScratch<S>& scratch,
                               View<const S, 2> x, const AttentionContext<S>& context,
                               const BlockParams<S>& p) {
  branch_forward(
      c, cache.branch1, scratch.branch, x, p.norm1, [&](View<S, 2> y, View<const S, 2> in) {
        attention_forward(c, y, cache.attention, scratch.attention, in, context, p.attention);
      });
  x = cache.branch1.out;
  if (plan.decoder) {
    branch_forward(c, cache.cross_branch, scratch.branch, x, p.cross_norm,
                   [&](View<S, 2> y, View<const S, 2> in) {
                     attention_forward(c, y, cache.cross_attention, scratch.cross_attention, in,
                                       context, p.cross_attention);
                   });
    x = cache.cross_branch.out;
  }
  if (c.ffn.width == 0) return x;
  branch_forward(c, cache.ffn_branch, scratch.branch, x, p.ffn_norm,
                 [&](View<S, 2> y, View<const S, 2> in) {
                   ffn_forward(c, y, cache.ffn, scratch.ffn, in, p.ffn);
                 });
  return cache.ffn_branch.out;
}

// d.now (n,C) holds the gradient by the layer's output, and afterwards that by its input; dp and
// dcontext accumulate.
template <class S>
struct GradientBuffers {
  View<S, 2> now, next;  // (n,C) each
  void swap() { std::swap(now, next); }
};

template <class S>
void block_backward(const ModelConfig& c, const BlockPlan& plan, GradientBuffers<S>& d,
                    const BlockParams<S>& dp, const AttentionContextGrads<S>& dcontext,
                    View<const S, 2> x, const AttentionContext<S>& context,
                    const BlockCache<S>& cache, const BlockScratch<S>& scratch,
                    const BlockParams<S>& p) {
  if (c.ffn.width > 0) {
    const View<S, 2> in = plan.decoder ? cache.cross_branch.out : cache.branch1.out;
    branch_backward(c, d.next, dp.ffn_norm, View<const S, 2>(d.now), View<const S, 2>(in),
                    cache.ffn_branch, scratch, p.ffn_norm,
                    [&](View<S, 2> din, View<const S, 2> dy, View<const S, 2> fin) {
                      ffn_backward(c, din, dp.ffn, scratch.ffn, dy, fin, cache.ffn, p.ffn);
                    });
    d.swap();
  }
  if (plan.decoder) {
    branch_backward(c, d.next, dp.cross_norm, View<const S, 2>(d.now),
                    View<const S, 2>(cache.branch1.out), cache.cross_branch, scratch, p.cross_norm,
                    [&](View<S, 2> din, View<const S, 2> dy, View<const S, 2> in) {
                      attention_backward(c, din, dp.cross_attention, dcontext, dy, in, context,
                                         cache.cross_attention, scratch.cross_attention,
                                         p.cross_attention);
                    });
    d.swap();
  }
  branch_backward(c, d.next, dp.norm1, View<const S, 2>(d.now), x, cache.branch1, scratch, p.norm1,
                  [&](View<S, 2> din, View<const S, 2> dy, View<const S, 2> in) {
                    attention_backward(c, din, dp.attention, dcontext, dy, in, context,
                                       cache.attention, scratch.attention, p.attention);
                  });
  d.swap();
}

}  // namespace headroom
