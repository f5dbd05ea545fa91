// Products without carries, in line: by the processor's instruction where it has one (`FAST`), and portable.
#ifndef MDOC_CARRYLESS_PRODUCTS_H
#define MDOC_CARRYLESS_PRODUCTS_H

#include "CCarryless.h"

/// An unreduced product: 256 bits, the lowest first.
typedef struct {
  uint64_t limbs[4];
} wide;

static inline carryless_element reduce(wide w) {
  // x^128 = x^7 + x^2 + x + 1, first for the top limb, then for the one below with what the top left in it.
  uint64_t top = w.limbs[3];
  uint64_t third = w.limbs[2] ^ (top >> 63) ^ (top >> 62) ^ (top >> 57);
  carryless_element result;
  result.high = w.limbs[1] ^ top ^ (top << 1) ^ (top << 2) ^ (top << 7) ^ (third >> 63) ^ (third >> 62) ^ (third >> 57);
  result.low = w.limbs[0] ^ third ^ (third << 1) ^ (third << 2) ^ (third << 7);
  return result;
}

// The portable way: ordinary products of numbers with holes of three bits, in which carries are lost.

static inline uint64_t low_product(uint64_t x, uint64_t y) {
  const uint64_t m0 = 0x1111111111111111, m1 = m0 << 1, m2 = m0 << 2, m3 = m0 << 3;
  uint64_t x0 = x & m0, x1 = x & m1, x2 = x & m2, x3 = x & m3;
  uint64_t y0 = y & m0, y1 = y & m1, y2 = y & m2, y3 = y & m3;
  uint64_t z0 = (x0 * y0) ^ (x1 * y3) ^ (x2 * y2) ^ (x3 * y1);
  uint64_t z1 = (x0 * y1) ^ (x1 * y0) ^ (x2 * y3) ^ (x3 * y2);
  uint64_t z2 = (x0 * y2) ^ (x1 * y1) ^ (x2 * y0) ^ (x3 * y3);
  uint64_t z3 = (x0 * y3) ^ (x1 * y2) ^ (x2 * y1) ^ (x3 * y0);
  return (z0 & m0) | (z1 & m1) | (z2 & m2) | (z3 & m3);
}

static inline uint64_t reversed(uint64_t x) {
  x = ((x & 0x5555555555555555) << 1) | ((x >> 1) & 0x5555555555555555);
  x = ((x & 0x3333333333333333) << 2) | ((x >> 2) & 0x3333333333333333);
  x = ((x & 0x0F0F0F0F0F0F0F0F) << 4) | ((x >> 4) & 0x0F0F0F0F0F0F0F0F);
  return __builtin_bswap64(x);
}

static inline uint64_t high_product(uint64_t x, uint64_t y) {
  return reversed(low_product(reversed(x), reversed(y))) >> 1;
}

static inline wide wide_product_portable(carryless_element a, carryless_element b) {
  uint64_t l0 = low_product(a.low, b.low), l1 = high_product(a.low, b.low);
  uint64_t h0 = low_product(a.high, b.high), h1 = high_product(a.high, b.high);
  uint64_t m0 = low_product(a.low ^ a.high, b.low ^ b.high) ^ l0 ^ h0;
  uint64_t m1 = high_product(a.low ^ a.high, b.low ^ b.high) ^ l1 ^ h1;
  return (wide){{l0, l1 ^ m0, h0 ^ m1, h1}};
}

static inline void add(wide *sum, wide term) {
  for (int i = 0; i < 4; i++) sum->limbs[i] ^= term.limbs[i];
}

#if defined(__x86_64__)
#include <immintrin.h>
#define FAST __attribute__((target("pclmul,sse4.1")))

/// Unreduced sums, with the middle products apart.
typedef struct {
  __m128i low, middle, high;
} accumulator;

FAST static inline accumulator accumulator_zero(void) {
  return (accumulator){_mm_setzero_si128(), _mm_setzero_si128(), _mm_setzero_si128()};
}

// By Karatsuba's three products of halves; the middle one still has the other two in it.
FAST static inline void accumulate(accumulator *sum, __m128i a, __m128i b) {
  __m128i a_halves = _mm_xor_si128(a, _mm_shuffle_epi32(a, 0x4e));
  __m128i b_halves = _mm_xor_si128(b, _mm_shuffle_epi32(b, 0x4e));
  sum->low = _mm_xor_si128(sum->low, _mm_clmulepi64_si128(a, b, 0x00));
  sum->high = _mm_xor_si128(sum->high, _mm_clmulepi64_si128(a, b, 0x11));
  sum->middle = _mm_xor_si128(sum->middle, _mm_clmulepi64_si128(a_halves, b_halves, 0x00));
}

FAST static inline __m128i reduced(accumulator sum) {
  __m128i middle = _mm_xor_si128(sum.middle, _mm_xor_si128(sum.low, sum.high));
  __m128i low = _mm_xor_si128(sum.low, _mm_slli_si128(middle, 8));
  __m128i high = _mm_xor_si128(sum.high, _mm_srli_si128(middle, 8));
  __m128i modulus = _mm_set_epi64x(0, 0x87);
  __m128i top = _mm_clmulepi64_si128(high, modulus, 0x01);
  low = _mm_xor_si128(low, _mm_slli_si128(top, 8));
  high = _mm_xor_si128(high, _mm_srli_si128(top, 8));
  return _mm_xor_si128(low, _mm_clmulepi64_si128(high, modulus, 0x00));
}

FAST static inline __m128i load(const carryless_element *e) { return _mm_loadu_si128((const __m128i *)e); }
FAST static inline carryless_element value(__m128i v) {
  return (carryless_element){(uint64_t)_mm_extract_epi64(v, 0), (uint64_t)_mm_extract_epi64(v, 1)};
}
FAST static inline __m128i sum_of(__m128i a, __m128i b) { return _mm_xor_si128(a, b); }
FAST static inline __m128i nothing(void) { return _mm_setzero_si128(); }
typedef __m128i vector;

static int is_fast = 0;
__attribute__((constructor)) static void detect(void) {
  __builtin_cpu_init();
  is_fast = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
}

#elif defined(__aarch64__)
#include <arm_neon.h>
#if defined(__linux__)
#include <sys/auxv.h>
#endif
#define FAST __attribute__((target("aes")))

typedef struct {
  uint64x2_t low, middle, high;
} accumulator;
typedef uint64x2_t vector;

FAST static inline uint64x2_t product(uint64_t a, uint64_t b) {
  return vreinterpretq_u64_p128(vmull_p64((poly64_t)a, (poly64_t)b));
}
FAST static inline accumulator accumulator_zero(void) {
  return (accumulator){vdupq_n_u64(0), vdupq_n_u64(0), vdupq_n_u64(0)};
}
FAST static inline void accumulate(accumulator *sum, vector a, vector b) {
  uint64_t a0 = vgetq_lane_u64(a, 0), a1 = vgetq_lane_u64(a, 1), b0 = vgetq_lane_u64(b, 0), b1 = vgetq_lane_u64(b, 1);
  sum->low = veorq_u64(sum->low, product(a0, b0));
  sum->high = veorq_u64(sum->high, product(a1, b1));
  sum->middle = veorq_u64(sum->middle, veorq_u64(product(a0, b1), product(a1, b0)));
}
FAST static inline vector reduced(accumulator sum) {
  wide w = {{vgetq_lane_u64(sum.low, 0), vgetq_lane_u64(sum.low, 1) ^ vgetq_lane_u64(sum.middle, 0),
             vgetq_lane_u64(sum.high, 0) ^ vgetq_lane_u64(sum.middle, 1), vgetq_lane_u64(sum.high, 1)}};
  carryless_element e = reduce(w);
  return vcombine_u64(vcreate_u64(e.low), vcreate_u64(e.high));
}
FAST static inline vector load(const carryless_element *e) { return vld1q_u64((const uint64_t *)e); }
FAST static inline carryless_element value(vector v) {
  return (carryless_element){vgetq_lane_u64(v, 0), vgetq_lane_u64(v, 1)};
}
FAST static inline vector sum_of(vector a, vector b) { return veorq_u64(a, b); }
FAST static inline vector nothing(void) { return vdupq_n_u64(0); }

static int is_fast = 0;
__attribute__((constructor)) static void detect(void) {
#if defined(__linux__)
  is_fast = (getauxval(AT_HWCAP) & (1 << 4)) != 0;  // HWCAP_PMULL
#else
  is_fast = 1;
#endif
}
#else
static const int is_fast = 0;
#endif

#endif
