#include "products.h"

static inline carryless_element plain_sum(carryless_element a, carryless_element b) {
  return (carryless_element){a.low ^ b.low, a.high ^ b.high};
}

#define NAME(name) name##_portable
#define TARGET
#define VALUE carryless_element
#define ZERO() ((carryless_element){0, 0})
#define LOAD(pointer) (*(pointer))
#define STORE(pointer, value) (*(pointer) = (value))
#define ADD(a, b) plain_sum(a, b)
#define MUL(a, b) reduce(wide_product_portable(a, b))
#define SUM wide
#define SUM_ZERO() ((wide){{0, 0, 0, 0}})
#define SUM_ADD(sum, a, b) add(sum, wide_product_portable(a, b))
#define SUM_VALUE(sum) reduce(sum)
#include "kernels.h"
#undef NAME
#undef TARGET
#undef VALUE
#undef ZERO
#undef LOAD
#undef STORE
#undef ADD
#undef MUL
#undef SUM
#undef SUM_ZERO
#undef SUM_ADD
#undef SUM_VALUE

#if defined(FAST)
FAST static inline vector product_of(vector a, vector b) {
  accumulator sum = accumulator_zero();
  accumulate(&sum, a, b);
  return reduced(sum);
}

FAST static inline void store(carryless_element *pointer, vector v) { *pointer = value(v); }

#define NAME(name) name##_fast
#define TARGET FAST
#define VALUE vector
#define ZERO() nothing()
#define LOAD(pointer) load(pointer)
#define STORE(pointer, v) store(pointer, v)
#define ADD(a, b) sum_of(a, b)
#define MUL(a, b) product_of(a, b)
#define SUM accumulator
#define SUM_ZERO() accumulator_zero()
#define SUM_ADD(sum, a, b) accumulate(sum, a, b)
#define SUM_VALUE(sum) reduced(sum)
#include "kernels.h"
#define CHOSEN(name, ...) (is_fast ? name##_fast(__VA_ARGS__) : name##_portable(__VA_ARGS__))
#else
#define CHOSEN(name, ...) name##_portable(__VA_ARGS__)
#endif

void carryless_add_scaled(carryless_element *sum, const carryless_element *row, size_t count,
                          carryless_element factor) {
  CHOSEN(add_scaled, sum, row, count, factor);
}

void carryless_add_products(carryless_element *sum, const carryless_element *a, const carryless_element *b,
                            size_t count) {
  CHOSEN(add_products, sum, a, b, count);
}

void carryless_forward(carryless_element *low, carryless_element *high, size_t count, carryless_element twiddle) {
  CHOSEN(forward, low, high, count, twiddle);
}

void carryless_inverse(carryless_element *low, carryless_element *high, size_t count, carryless_element twiddle) {
  CHOSEN(inverse, low, high, count, twiddle);
}

void carryless_diagonal(carryless_element *low, carryless_element *high, size_t count, carryless_element twiddle) {
  CHOSEN(diagonal, low, high, count, twiddle);
}

void carryless_fold(carryless_element *values, size_t pairs, carryless_element challenge) {
  CHOSEN(fold, values, pairs, challenge);
}

void carryless_round_sums(const carryless_element *sums, const carryless_element *wires, size_t pairs,
                          carryless_element *constant, carryless_element *square) {
  CHOSEN(round_sums, sums, wires, pairs, constant, square);
}

int carryless_evaluate(const carryless_group *groups, size_t count, const carryless_entry *entries,
                       const carryless_element *constants, uint32_t one, const carryless_element *wires,
                       carryless_element *outputs) {
  return CHOSEN(evaluate, groups, count, entries, constants, one, wires, outputs);
}

void carryless_bind_outputs(const carryless_group *groups, size_t count, const carryless_entry *entries,
                            const carryless_element *constants, uint32_t one, const carryless_element *outputs,
                            const carryless_element *wires, carryless_term *terms, carryless_element *sums) {
  CHOSEN(bind_outputs, groups, count, entries, constants, one, outputs, wires, terms, sums);
}

size_t carryless_fold_terms(int hand, carryless_term *terms, size_t count, carryless_element challenge,
                            const carryless_element *wires, carryless_element *sums) {
  return CHOSEN(fold_terms, hand, terms, count, challenge, wires, sums);
}
