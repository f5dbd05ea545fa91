// The prover's loops, written once. Included twice, with names for one kind of product:
// NAME(x) the function's name, TARGET its attributes, VALUE an element, LOAD, STORE, ADD, MUL, and for sums of products
// SUM, SUM_ZERO, SUM_ADD, SUM_VALUE.

TARGET static void NAME(add_scaled)(carryless_element *sum, const carryless_element *row, size_t count,
                                    carryless_element factor) {
  VALUE f = LOAD(&factor);
  for (size_t i = 0; i < count; i++) STORE(sum + i, ADD(LOAD(sum + i), MUL(f, LOAD(row + i))));
}

TARGET static void NAME(add_products)(carryless_element *sum, const carryless_element *a, const carryless_element *b,
                                      size_t count) {
  for (size_t i = 0; i < count; i++) STORE(sum + i, ADD(LOAD(sum + i), MUL(LOAD(a + i), LOAD(b + i))));
}

TARGET static void NAME(forward)(carryless_element *low, carryless_element *high, size_t count,
                                 carryless_element twiddle) {
  VALUE t = LOAD(&twiddle);
  for (size_t i = 0; i < count; i++) {
    VALUE h = LOAD(high + i), l = ADD(LOAD(low + i), MUL(t, h));
    STORE(low + i, l);
    STORE(high + i, ADD(h, l));
  }
}

TARGET static void NAME(inverse)(carryless_element *low, carryless_element *high, size_t count,
                                 carryless_element twiddle) {
  VALUE t = LOAD(&twiddle);
  for (size_t i = 0; i < count; i++) {
    VALUE l = LOAD(low + i), h = ADD(LOAD(high + i), l);
    STORE(high + i, h);
    STORE(low + i, ADD(l, MUL(t, h)));
  }
}

TARGET static void NAME(diagonal)(carryless_element *low, carryless_element *high, size_t count,
                                  carryless_element twiddle) {
  VALUE t = LOAD(&twiddle);
  for (size_t i = 0; i < count; i++) {
    VALUE l = LOAD(low + i), h = LOAD(high + i);
    STORE(high + i, ADD(h, l));
    STORE(low + i, ADD(l, MUL(t, h)));
  }
}

TARGET static void NAME(fold)(carryless_element *values, size_t pairs, carryless_element challenge) {
  VALUE x = LOAD(&challenge);
  for (size_t i = 0; i < pairs; i++) {
    VALUE l = LOAD(values + 2 * i);
    STORE(values + i, ADD(l, MUL(x, ADD(l, LOAD(values + 2 * i + 1)))));
  }
}

TARGET static void NAME(round_sums)(const carryless_element *sums, const carryless_element *wires, size_t pairs,
                                    carryless_element *constant, carryless_element *square) {
  SUM first = SUM_ZERO(), last = SUM_ZERO();
  for (size_t i = 0; i < pairs; i++) {
    VALUE q = LOAD(sums + 2 * i), w = LOAD(wires + 2 * i);
    SUM_ADD(&first, q, w);
    SUM_ADD(&last, ADD(q, LOAD(sums + 2 * i + 1)), ADD(w, LOAD(wires + 2 * i + 1)));
  }
  STORE(constant, SUM_VALUE(first));
  STORE(square, SUM_VALUE(last));
}

TARGET static int NAME(evaluate)(const carryless_group *groups, size_t count, const carryless_entry *entries,
                                 const carryless_element *constants, uint32_t one, const carryless_element *wires,
                                 carryless_element *outputs) {
  uint64_t fault = 0;
  size_t term = 0;
  for (size_t i = 0; i < count; i++) {
    VALUE product = MUL(LOAD(wires + groups[i].left), LOAD(wires + groups[i].right));
    carryless_element plain;
    STORE(&plain, product);
    for (; term < groups[i].end; term++) {
      carryless_element *output = outputs + entries[term].output;
      const carryless_element *constant = constants + entries[term].constant;
      if (entries[term].constant == one) {
        STORE(output, ADD(LOAD(output), product));
      } else if ((constant->low | constant->high) == 0) {
        fault |= plain.low | plain.high;
      } else {
        STORE(output, ADD(LOAD(output), MUL(product, LOAD(constant))));
      }
    }
  }
  return fault == 0;
}

TARGET static void NAME(bind_outputs)(const carryless_group *groups, size_t count, const carryless_entry *entries,
                                      const carryless_element *constants, uint32_t one,
                                      const carryless_element *outputs, const carryless_element *wires,
                                      carryless_term *terms, carryless_element *sums) {
  size_t term = 0;
  for (size_t i = 0; i < count; i++) {
    VALUE inner = ZERO();
    for (; term < groups[i].end; term++) {
      VALUE output = LOAD(outputs + entries[term].output);
      uint32_t constant = entries[term].constant;
      inner = ADD(inner, constant == one ? output : MUL(LOAD(constants + constant), output));
    }
    terms[i].left = groups[i].left;
    terms[i].right = groups[i].right;
    STORE(&terms[i].value, inner);
    carryless_element *sum = sums + groups[i].left;
    STORE(sum, ADD(LOAD(sum), MUL(inner, LOAD(wires + groups[i].right))));
  }
}

/// `hand` is a constant where this is called, so that each hand has a loop of its own.
TARGET static inline __attribute__((always_inline)) size_t NAME(fold_hand)(int hand, carryless_term *terms,
                                                                           size_t count, VALUE x,
                                                                           const carryless_element *wires,
                                                                           carryless_element *sums) {
  size_t kept = 0;
  for (size_t i = 0; i < count;) {
    uint32_t own = hand ? terms[i].right : terms[i].left, other = hand ? terms[i].left : terms[i].right;
    VALUE value = LOAD(&terms[i].value);
    size_t next = i + 1;
    if (own & 1) {
      value = MUL(value, x);
    } else if (next < count && (hand ? terms[next].right : terms[next].left) == own + 1 &&
               (hand ? terms[next].left : terms[next].right) == other) {
      value = ADD(value, MUL(x, ADD(value, LOAD(&terms[next].value))));
      next++;
    } else {
      value = ADD(value, MUL(value, x));
    }
    i = next;
    own >>= 1;
    terms[kept].left = hand ? other : own;
    terms[kept].right = hand ? own : other;
    STORE(&terms[kept].value, value);
    kept++;
    carryless_element *sum = sums + other;
    STORE(sum, ADD(LOAD(sum), MUL(value, LOAD(wires + own))));
  }
  return kept;
}

TARGET static size_t NAME(fold_terms)(int hand, carryless_term *terms, size_t count, carryless_element challenge,
                                      const carryless_element *wires, carryless_element *sums) {
  VALUE x = LOAD(&challenge);
  return hand ? NAME(fold_hand)(1, terms, count, x, wires, sums) : NAME(fold_hand)(0, terms, count, x, wires, sums);
}
