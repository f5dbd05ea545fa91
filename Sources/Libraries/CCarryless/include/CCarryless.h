#ifndef MDOC_CCARRYLESS_H
#define MDOC_CCARRYLESS_H

#include <stddef.h>
#include <stdint.h>

/// An element of GF(2^128), modulo x^128 + x^7 + x^2 + x + 1; bit i is the coefficient of x^i.
typedef struct {
  uint64_t low, high;
} carryless_element;

/// Terms with the same two input wires: their entries end before `end` in the layer's list. A circuit has millions.
typedef struct {
  uint64_t left : 20, right : 20, end : 24;
} carryless_group;

/// What else a term has: its output wire and the index of its constant.
typedef struct {
  uint32_t output : 20, constant : 12;
} carryless_entry;

/// Whether the processor multiplies without carries itself.
int carryless_is_fast(void);

/// The reduced product, by the fastest way that the processor has.
carryless_element carryless_multiply(carryless_element a, carryless_element b);

/// The same product with shifts and ordinary multiplications alone.
carryless_element carryless_multiply_portable(carryless_element a, carryless_element b);

/// The sum of `count` products, reduced once.
carryless_element carryless_dot(const carryless_element *a, const carryless_element *b, size_t count);

/// The same sum by the portable way.
carryless_element carryless_dot_portable(const carryless_element *a, const carryless_element *b, size_t count);

/// A vector in two factors: value i is low[i mod 2^low_bits] * high[i div 2^low_bits].
typedef struct {
  const carryless_element *low, *high;
  uint32_t low_bits;
} carryless_eq;

/// Writes the first `count` values of a + b; both have as many low bits.
void carryless_eq_sum(carryless_element *sums, size_t count, carryless_eq a, carryless_eq b);

/// The same sums by the portable way.
void carryless_eq_sum_portable(carryless_element *sums, size_t count, carryless_eq a, carryless_eq b);

/// The sum over groups of left[group.left] * right[group.right] * (the sum over the group's terms of
/// constants[constant] * outputs[output]). All indices must have been checked.
/// `one` is the index of the constant 1, or one that does not occur.
carryless_element carryless_bind(const carryless_group *groups, size_t count, const carryless_entry *entries,
                                 const carryless_element *constants, uint32_t one, const carryless_element *outputs,
                                 carryless_eq left, carryless_eq right);

/// The same sum by the portable way.
carryless_element carryless_bind_portable(const carryless_group *groups, size_t count,
                                          const carryless_entry *entries, const carryless_element *constants,
                                          uint32_t one, const carryless_element *outputs, carryless_eq left,
                                          carryless_eq right);

#endif
