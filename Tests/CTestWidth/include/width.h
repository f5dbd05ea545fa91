#ifndef MDOC_TEST_WIDTH_H
#define MDOC_TEST_WIDTH_H

/// How many tests run at once.
#define MDOC_PARALLEL_TESTS "6"

#endif
