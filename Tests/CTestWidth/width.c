#include "width.h"

#include <stdlib.h>

// Swift Testing starts all tests at once. Thousands that share two cores use gigabytes, and those that keep deadlines with a
// server miss them. So a few run at a time, unless the environment or the command line says otherwise. Swift Testing reads
// the variable when it starts, before any code of a test runs.
__attribute__((constructor)) static void limit_parallel_tests(void) {
  setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", MDOC_PARALLEL_TESTS, 0);
}
