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

static inline carryless_element eq_portable(carryless_eq eq, uint64_t index) {
  return carryless_multiply_portable(eq.low[index & ((1u << eq.low_bits) - 1)], eq.high[index >> eq.low_bits]);
}

void carryless_eq_sum_portable(carryless_element *sums, size_t count, carryless_eq a, carryless_eq b) {
  for (size_t i = 0; i < count; i++) {
    carryless_element first = eq_portable(a, i), second = eq_portable(b, i);
    sums[i] = (carryless_element){first.low ^ second.low, first.high ^ second.high};
  }
}

carryless_element carryless_bind_portable(const carryless_group *groups, size_t count,
                                          const carryless_entry *entries, const carryless_element *constants,
                                          uint32_t one, const carryless_element *outputs, carryless_eq left,
                                          carryless_eq right) {
  wide sum = {{0, 0, 0, 0}};
  size_t term = 0;
  for (size_t i = 0; i < count; i++) {
    wide inner = {{0, 0, 0, 0}};
    for (; term < groups[i].end; term++) {
      carryless_element output = outputs[entries[term].output];
      if (entries[term].constant == one) {
        inner.limbs[0] ^= output.low;
        inner.limbs[1] ^= output.high;
      } else {
        add(&inner, wide_product_portable(constants[entries[term].constant], output));
      }
    }
    carryless_element wires =
        carryless_multiply_portable(eq_portable(left, groups[i].left), eq_portable(right, groups[i].right));
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

FAST static void eq_sum_fast(carryless_element *sums, size_t count, carryless_eq a, carryless_eq b) {
  size_t mask = ((size_t)1 << a.low_bits) - 1;
  for (size_t i = 0; i < count; i++) {
    accumulator sum = accumulator_zero();
    accumulate(&sum, load(a.low + (i & mask)), load(a.high + (i >> a.low_bits)));
    accumulate(&sum, load(b.low + (i & mask)), load(b.high + (i >> b.low_bits)));
    sums[i] = value(reduced(sum));
  }
}

/// Adds value * the reduced sum to the next sum, and starts the sum again.
FAST static inline void carry(accumulator *next, const carryless_element *value, accumulator *sum) {
  accumulate(next, load(value), reduced(*sum));
  *sum = accumulator_zero();
}

// The groups are sorted by their left wire, mostly: what they have in common is multiplied once. There is a sum for
// the groups with the same left wire and high bits of the right one, for those with the same left wire, for those with
// the same high bits of the left one, and for all.
FAST static carryless_element bind_fast(const carryless_group *groups, size_t count, const carryless_entry *entries,
                                        const carryless_element *constants, uint32_t one,
                                        const carryless_element *outputs, carryless_eq left, carryless_eq right) {
  accumulator same_right_high = accumulator_zero(), same_left = same_right_high, same_left_high = same_right_high,
              sum = same_right_high;
  uint64_t left_mask = (1u << left.low_bits) - 1, right_mask = (1u << right.low_bits) - 1;
  size_t term = 0;
  for (size_t i = 0; i < count; i++) {
    carryless_group group = groups[i];
    vector plain = nothing();
    accumulator inner = accumulator_zero();
    int has_products = 0;
    for (; term < group.end; term++) {
      carryless_entry entry = entries[term];
      vector output = load(outputs + entry.output);
      if (entry.constant == one) {
        plain = sum_of(plain, output);
      } else {
        accumulate(&inner, load(constants + entry.constant), output);
        has_products = 1;
      }
    }
    if (has_products) plain = sum_of(plain, reduced(inner));
    accumulate(&same_right_high, load(right.low + (group.right & right_mask)), plain);
    int is_last = i + 1 == count;
    carryless_group next = groups[is_last ? i : i + 1];
    int ends_left = is_last || next.left != group.left;
    if (!ends_left && next.right >> right.low_bits == group.right >> right.low_bits) continue;
    carry(&same_left, right.high + (group.right >> right.low_bits), &same_right_high);
    if (!ends_left) continue;
    carry(&same_left_high, left.low + (group.left & left_mask), &same_left);
    if (!is_last && next.left >> left.low_bits == group.left >> left.low_bits) continue;
    carry(&sum, left.high + (group.left >> left.low_bits), &same_left_high);
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

carryless_element carryless_bind(const carryless_group *groups, size_t count, const carryless_entry *entries,
                                 const carryless_element *constants, uint32_t one, const carryless_element *outputs,
                                 carryless_eq left, carryless_eq right) {
  CHOOSE(bind_fast(groups, count, entries, constants, one, outputs, left, right),
         carryless_bind_portable(groups, count, entries, constants, one, outputs, left, right));
}

void carryless_eq_sum(carryless_element *sums, size_t count, carryless_eq a, carryless_eq b) {
#if defined(FAST)
  if (is_fast) {
    eq_sum_fast(sums, count, a, b);
    return;
  }
#endif
  carryless_eq_sum_portable(sums, count, a, b);
}
