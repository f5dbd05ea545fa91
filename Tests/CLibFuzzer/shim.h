#include <stddef.h>
#include <stdint.h>

/* libFuzzer's documented way in for programs with a main of their own; it comes with -sanitize=fuzzer. */
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*run)(const uint8_t *data, size_t size));
