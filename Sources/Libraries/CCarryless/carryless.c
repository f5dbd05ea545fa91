#include "products.h"

int carryless_is_fast(void) { return is_fast; }

carryless_element carryless_multiply_portable(carryless_element a, carryless_element b) {
  return reduce(wide_product_portable(a, b));
}

carryless_element carryless_dot_portable(const carryless_element *a, const carryless_element *b, size_t count) {
  wide sum = {{0, 0, 0, 0}};
  for (size_t i = 0; i < count; i++) add(&sum, wide_product_portable(a[i], b[i]));
  return reduce(sum);
}

static carryless_element bind_portable(const carryless_group *groups, size_t count, const uint32_t *term_outputs,
                                       const uint16_t *term_constants, const carryless_element *constants,
                                       uint32_t one, const carryless_element *outputs, const carryless_element *left,
                                       const carryless_element *right) {
  wide sum = {{0, 0, 0, 0}};
  size_t term = 0;
  for (size_t i = 0; i < count; i++) {
    wide inner = {{0, 0, 0, 0}};
    for (; term < groups[i].end; term++) {
      carryless_element output = outputs[term_outputs[term]];
      if (term_constants[term] == one) {
        inner.limbs[0] ^= output.low;
        inner.limbs[1] ^= output.high;
      } else {
        add(&inner, wide_product_portable(constants[term_constants[term]], output));
      }
    }
    carryless_element wires = carryless_multiply_portable(left[groups[i].left], right[groups[i].right]);
    add(&sum, wide_product_portable(wires, reduce(inner)));
  }
  return reduce(sum);
}

#if defined(FAST)
FAST static carryless_element multiply_fast(carryless_element a, carryless_element b) {
  accumulator sum = accumulator_zero();
  accumulate(&sum, load(&a), load(&b));
  return value(reduced(sum));
}

FAST static carryless_element dot_fast(const carryless_element *a, const carryless_element *b, size_t count) {
  accumulator sum = accumulator_zero();
  for (size_t i = 0; i < count; i++) accumulate(&sum, load(a + i), load(b + i));
  return value(reduced(sum));
}

FAST static carryless_element bind_fast(const carryless_group *groups, size_t count, const uint32_t *term_outputs,
                                        const uint16_t *term_constants, const carryless_element *constants,
                                        uint32_t one, const carryless_element *outputs, const carryless_element *left,
                                        const carryless_element *right) {
  accumulator sum = accumulator_zero();
  size_t term = 0;
  for (size_t i = 0; i < count; i++) {
    vector plain = nothing();
    accumulator inner = accumulator_zero();
    int has_products = 0;
    for (; term < groups[i].end; term++) {
      vector output = load(outputs + term_outputs[term]);
      if (term_constants[term] == one) {
        plain = sum_of(plain, output);
      } else {
        accumulate(&inner, load(constants + term_constants[term]), output);
        has_products = 1;
      }
    }
    if (has_products) plain = sum_of(plain, reduced(inner));
    accumulator wires = accumulator_zero();
    accumulate(&wires, load(left + groups[i].left), load(right + groups[i].right));
    accumulate(&sum, reduced(wires), plain);
  }
  return value(reduced(sum));
}

#define CHOOSE(fast, portable) return is_fast ? fast : portable
#else
#define CHOOSE(fast, portable) return portable
#endif

carryless_element carryless_multiply(carryless_element a, carryless_element b) {
  CHOOSE(multiply_fast(a, b), carryless_multiply_portable(a, b));
}

carryless_element carryless_dot(const carryless_element *a, const carryless_element *b, size_t count) {
  CHOOSE(dot_fast(a, b, count), carryless_dot_portable(a, b, count));
}

carryless_element carryless_bind(const carryless_group *groups, size_t count, const uint32_t *term_outputs,
                                 const uint16_t *term_constants, const carryless_element *constants, uint32_t one,
                                 const carryless_element *outputs, const carryless_element *left,
                                 const carryless_element *right) {
  CHOOSE(bind_fast(groups, count, term_outputs, term_constants, constants, one, outputs, left, right),
         bind_portable(groups, count, term_outputs, term_constants, constants, one, outputs, left, right));
}
