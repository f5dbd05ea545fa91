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

// The prover's loops. All indices must have been checked.

/// A term of a layer's sum whose outputs are bound.
typedef struct {
  uint32_t left, right;
  carryless_element value;
} carryless_term;

/// sum[i] += factor * row[i].
void carryless_add_scaled(carryless_element *sum, const carryless_element *row, size_t count,
                          carryless_element factor);

/// sum[i] += a[i] * b[i].
void carryless_add_products(carryless_element *sum, const carryless_element *a, const carryless_element *b,
                            size_t count);

/// Steps of the additive transform: low += t * high, high += low; their inverse; and, with the old high, high += low,
/// low += t * high.
void carryless_forward(carryless_element *low, carryless_element *high, size_t count, carryless_element twiddle);
void carryless_inverse(carryless_element *low, carryless_element *high, size_t count, carryless_element twiddle);
void carryless_diagonal(carryless_element *low, carryless_element *high, size_t count, carryless_element twiddle);

/// values[i] = values[2i] + x * (values[2i + 1] - values[2i]).
void carryless_fold(carryless_element *values, size_t pairs, carryless_element challenge);

/// The sums over pairs of sums[2i] * wires[2i], and of the products of the pairs' differences.
void carryless_round_sums(const carryless_element *sums, const carryless_element *wires, size_t pairs,
                          carryless_element *constant, carryless_element *square);

/// Adds each term to its output; 0 if a term with the constant 0 has another product than 0.
int carryless_evaluate(const carryless_group *groups, size_t count, const carryless_entry *entries,
                       const carryless_element *constants, uint32_t one, const carryless_element *wires,
                       carryless_element *outputs);

/// Makes one term a group, with the sum of constants[constant] * outputs[output] for value, and adds value *
/// wires[right] to sums[left].
void carryless_bind_outputs(const carryless_group *groups, size_t count, const carryless_entry *entries,
                            const carryless_element *constants, uint32_t one, const carryless_element *outputs,
                            const carryless_element *wires, carryless_term *terms, carryless_element *sums);

/// Binds the lowest bit of one hand's wires (0 left, 1 right), merges neighbours, and adds each value * wires[own] to
/// sums[other]. Returns how many terms are left.
size_t carryless_fold_terms(int hand, carryless_term *terms, size_t count, carryless_element challenge,
                            const carryless_element *wires, carryless_element *sums);

#endif
