#include "kernels/tile_matmul.h"

#include <algorithm>
#include <cstdint>
#include <memory>

#include "core/intrinsics.h"

#if defined(__x86_64__) && defined(__linux__)

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

// For these functions alone, so that a build for any CPU has them: has_tiles() decides.
#define HEADROOM_TILES \
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16,amx-tile,amx-bf16")))

namespace headroom::kernels {
namespace {

// A tile register: 16 rows of 64 bytes. Of the left operand 16 x 32 numbers, of the right one
// 32 x 16 with two successive rows side by side in each 4 bytes, of sums 16 x 16.
constexpr std::size_t kSide = 16, kDeep = 32, kTile = 1024;
// Sums are made of two rows of tiles by two.
constexpr std::size_t kPair = 2 * kSide;
// Blocks of operands in bfloat16: what is multiplied together stays in the second-level cache.
constexpr std::size_t kRows = 256, kColumns = 256, kDepth = 512;

constexpr std::size_t tiles(std::size_t n, std::size_t side) { return (n + side - 1) / side; }

bool ask_for_tiles() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kTiles = 1u << 24, kTilesOfBfloat16 = 1u << 22, kAvx512Bfloat16 = 1u << 5;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  if ((d & kTiles) == 0 || (d & kTilesOfBfloat16) == 0) return false;
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d) == 0 || (a & kAvx512Bfloat16) == 0) return false;
  // Linux hands out the registers' 8 KiB a thread on request: ARCH_REQ_XCOMP_PERM, XTILEDATA.
  constexpr long kRequest = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
}

// What was written to p's memory is there, and what will be read of it is read anew: compilers do
// not know what memory the instructions on tiles touch.
inline void in_memory(const void* p) { asm volatile("" : : "r"(p) : "memory"); }

// All tiles of full size, for as long as it lives.
class Tiles {
 public:
  HEADROOM_TILES Tiles() {
    struct alignas(64) {
      std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
      std::uint16_t bytes_a_row[16] = {};
      std::uint8_t rows[16] = {};
    } config;
    for (std::size_t i = 0; i < 8; ++i) {
      config.bytes_a_row[i] = 64;
      config.rows[i] = kSide;
    }
    in_memory(&config);
    _tile_loadconfig(&config);
  }
  HEADROOM_TILES ~Tiles() { _tile_release(); }  // or every change of threads saves them
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;
};

HEADROOM_TILES __mmask16 first_lanes(std::size_t n) {
  return static_cast<__mmask16>((1u << std::min<std::size_t>(n, 16)) - 1u);
}

// Up to 16 rows of up to 32 numbers: rows of pairs of successive columns. Beyond them 0.
HEADROOM_TILES void pair_columns(__m512i (&to)[kSide], Matrix<const float> from, float factor) {
  const __mmask16 low = first_lanes(from.cols),
                  high = first_lanes(from.cols > 16 ? from.cols - 16 : 0);
  const __m512 f = _mm512_set1_ps(factor);
  for (std::size_t i = 0; i < kSide; ++i) {
    if (i >= from.rows) {
      to[i] = _mm512_setzero_si512();
      continue;
    }
    const float* const row = from.row(i);
    const __m512 left = _mm512_maskz_loadu_ps(low, row),
                 right = _mm512_maskz_loadu_ps(high, row + 16);
    to[i] = reinterpret_cast<__m512i>(
        _mm512_cvtne2ps_pbh(_mm512_mul_ps(f, right), _mm512_mul_ps(f, left)));
  }
}

// Up to 32 rows of up to 16 numbers: rows of pairs of numbers below one another. Beyond them 0.
HEADROOM_TILES void pair_rows(__m512i (&to)[kSide], Matrix<const float> from, float factor) {
  const __mmask16 mask = first_lanes(from.cols);
  const __m512 f = _mm512_set1_ps(factor);
  // 16-bit numbers 0, 16, 1, 17, ...
  const __m512i first = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i order =
      _mm512_or_si512(first, _mm512_slli_epi32(_mm512_add_epi32(first, _mm512_set1_epi32(16)), 16));
  for (std::size_t i = 0; i < kSide; ++i) {
    const std::size_t row = 2 * i;
    if (row >= from.rows) {
      to[i] = _mm512_setzero_si512();
      continue;
    }
    const __m512 above = _mm512_maskz_loadu_ps(mask, from.row(row)),
                 below = row + 1 < from.rows ? _mm512_maskz_loadu_ps(mask, from.row(row + 1))
                                             : _mm512_setzero_ps();
    to[i] = _mm512_permutexvar_epi16(order, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(
                                                _mm512_mul_ps(f, below), _mm512_mul_ps(f, above))));
  }
}

// 16 x 16 numbers of 4 bytes.
HEADROOM_TILES void transpose(__m512i (&r)[kSide]) {
  __m512i s[kSide];
  for (std::size_t i = 0; i < kSide; i += 2) {
    s[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
    s[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
  }
  for (std::size_t i = 0; i < kSide; i += 4)
    for (std::size_t h = 0; h < 2; ++h) {
      r[i + 2 * h] = _mm512_unpacklo_epi64(s[i + h], s[i + h + 2]);
      r[i + 2 * h + 1] = _mm512_unpackhi_epi64(s[i + h], s[i + h + 2]);
    }
  // r[4 g + c] holds of rows 4 g .. 4 g + 3 the columns c, c + 4, c + 8, c + 12.
  for (std::size_t c = 0; c < 4; ++c) {
    s[c] = _mm512_shuffle_i32x4(r[c], r[4 + c], 0x88);
    s[4 + c] = _mm512_shuffle_i32x4(r[c], r[4 + c], 0xdd);
    s[8 + c] = _mm512_shuffle_i32x4(r[8 + c], r[12 + c], 0x88);
    s[12 + c] = _mm512_shuffle_i32x4(r[8 + c], r[12 + c], 0xdd);
  }
  for (std::size_t c = 0; c < 4; ++c) {
    r[c] = _mm512_shuffle_i32x4(s[c], s[8 + c], 0x88);
    r[8 + c] = _mm512_shuffle_i32x4(s[c], s[8 + c], 0xdd);
    r[4 + c] = _mm512_shuffle_i32x4(s[4 + c], s[12 + c], 0x88);
    r[12 + c] = _mm512_shuffle_i32x4(s[4 + c], s[12 + c], 0xdd);
  }
}

// An operand as it is multiplied: `across` rows of op(a), or columns of op(b), and `deep` numbers
// of a sum. In memory its rows run across, or along the sums.
struct Operand {
  Matrix<const float> values;
  bool along;  // whether rows run along the sums
  float factor;

  Matrix<const float> part(std::size_t first, std::size_t across, std::size_t from,
                           std::size_t deep) const {
    return along ? Matrix<const float>(values.row(first) + from, across, deep, values.stride)
                 : Matrix<const float>(values.row(from) + first, deep, across, values.stride);
  }
};

// Rounds a block into tiles, the tiles of one 16 across in a row, in the order in which memory is
// read best. Left operands lie in a tile across by along, right ones along by across.
HEADROOM_TILES void pack(std::uint8_t* to, const Operand& x, std::size_t first, std::size_t across,
                         std::size_t from, std::size_t deep, bool left) {
  const std::size_t n_across = tiles(across, kSide), n_deep = tiles(deep, kDeep);
  for (std::size_t tile = 0; tile < n_across * n_deep; ++tile) {
    const std::size_t i = x.along ? tile / n_deep : tile % n_across,
                      p = x.along ? tile % n_deep : tile / n_across;
    const Matrix<const float> part = x.part(first + i * kSide, std::min(kSide, across - i * kSide),
                                            from + p * kDeep, std::min(kDeep, deep - p * kDeep));
    __m512i rows[kSide];
    if (x.along) {
      pair_columns(rows, part, x.factor);
    } else {
      pair_rows(rows, part, x.factor);
    }
    if (x.along != left) transpose(rows);
    std::uint8_t* const packed = to + (i * n_deep + p) * kTile;
    for (std::size_t r = 0; r < kSide; ++r) _mm512_store_si512(packed + 64 * r, rows[r]);
  }
}

// 32 x 32 sums, on top of what `sums` holds, of two rows of left and two of right tiles, `deep`
// tiles long. The rows of `sums` lie `stride` bytes apart.
HEADROOM_TILES void multiply_four(float* sums, std::size_t stride, const std::uint8_t* left,
                                  const std::uint8_t* right, std::size_t deep, bool from_zero) {
  float* const below = sums + kSide * stride / sizeof(float);
  in_memory(sums);
  if (from_zero) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  } else {
    _tile_loadd(0, sums, stride);
    _tile_loadd(1, sums + kSide, stride);
    _tile_loadd(2, below, stride);
    _tile_loadd(3, below + kSide, stride);
  }
  for (std::size_t p = 0; p < deep; ++p) {
    _tile_loadd(4, left + p * kTile, 64);
    _tile_loadd(6, right + p * kTile, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, right + (deep + p) * kTile, 64);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(5, left + (deep + p) * kTile, 64);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, sums, stride);
  _tile_stored(1, sums + kSide, stride);
  _tile_stored(2, below, stride);
  _tile_stored(3, below + kSide, stride);
  in_memory(sums);
}

// What is multiplied in one piece: a block of either operand.
struct Buffers {
  alignas(64) std::uint8_t left[2 * kRows * kDepth], right[2 * kColumns * kDepth];
};

// The sums of packed operands, `deep` tiles long, into c.
HEADROOM_TILES void multiply_blocks(Matrix<float> c, const std::uint8_t* all_left,
                                    const std::uint8_t* all_right, std::size_t deep, float beta) {
  alignas(64) float part[kPair * kPair];
  for (std::size_t i = 0; i < c.rows; i += kPair)
    for (std::size_t j = 0; j < c.cols; j += kPair) {
      const std::size_t rows = std::min(kPair, c.rows - i), cols = std::min(kPair, c.cols - j);
      const std::uint8_t* const left = all_left + i / kSide * deep * kTile;
      const std::uint8_t* const right = all_right + j / kSide * deep * kTile;
      float* const to = c.row(i) + j;
      if (rows == kPair && cols == kPair && (beta == 0 || beta == 1)) {
        multiply_four(to, c.stride * sizeof(float), left, right, deep, beta == 0);
        continue;
      }
      multiply_four(part, kPair * sizeof(float), left, right, deep, true);
      for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t s = 0; s < cols; ++s) {
          const float sum = part[r * kPair + s];
          float& element = to[r * c.stride + s];
          element = beta == 0 ? sum : beta * element + sum;
        }
    }
}

}  // namespace

bool has_tiles() {
  static const bool has = ask_for_tiles();
  return has;
}

void tile_matmul(Matrix<float> c, Matrix<const float> a, bool transposed_a, Matrix<const float> b,
                 bool transposed_b, float alpha, float beta) {
  thread_local const std::unique_ptr<Buffers> buffers = std::make_unique<Buffers>();
  const Tiles registers;
  const Operand left{a, !transposed_a, alpha}, right{b, transposed_b, 1.0f};
  const std::size_t k = transposed_a ? a.rows : a.cols;
  for (std::size_t p = 0; p < k; p += kDepth) {
    const std::size_t depth = std::min(kDepth, k - p), deep = tiles(depth, kDeep);
    for (std::size_t j = 0; j < c.cols; j += kColumns) {
      const std::size_t cols = std::min(kColumns, c.cols - j);
      pack(buffers->right, right, j, cols, p, depth, false);
      for (std::size_t i = 0; i < c.rows; i += kRows) {
        const std::size_t rows = std::min(kRows, c.rows - i);
        pack(buffers->left, left, i, rows, p, depth, true);
        multiply_blocks(c.row_range(i, rows).col_range(j, cols), buffers->left, buffers->right,
                        deep, p == 0 ? beta : 1.0f);
      }
    }
  }
}

std::size_t tile_floats(std::size_t across, std::size_t deep) {
  return tiles(across, kPair) * 2 * tiles(deep, kDeep) * kTile / sizeof(float);
}

void lay_out_tiles(float* to, Matrix<const float> x, bool transposed, bool left) {
  const Operand operand{x, left != transposed, 1.0f};
  const std::size_t across = operand.along ? x.rows : x.cols,
                    deep = operand.along ? x.cols : x.rows;
  pack(reinterpret_cast<std::uint8_t*>(to), operand, 0, across, 0, deep, left);
}

void multiply_tiles(Matrix<float> c, const float* left, const float* right, std::size_t deep,
                    float beta) {
  const Tiles registers;
  multiply_blocks(c, reinterpret_cast<const std::uint8_t*>(left),
                  reinterpret_cast<const std::uint8_t*>(right), tiles(deep, kDeep), beta);
}

}  // namespace headroom::kernels

#else

namespace headroom::kernels {

bool has_tiles() { return false; }
void tile_matmul(Matrix<float>, Matrix<const float>, bool, Matrix<const float>, bool, float,
                 float) {}
std::size_t tile_floats(std::size_t, std::size_t) { return 0; }
void lay_out_tiles(float*, Matrix<const float>, bool, bool) {}
void multiply_tiles(Matrix<float>, const float*, const float*, std::size_t, float) {}

}  // namespace headroom::kernels

#endif
