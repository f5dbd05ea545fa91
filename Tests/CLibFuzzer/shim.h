#include <stddef.h>
#include <stdint.h>

/* libFuzzer's documented way in for programs with a main of their own; it comes with -sanitize=fuzzer. */
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*run)(const uint8_t *data, size_t size));

/* Its own mutations, for those that know more of what they change. Returns the new size, at most max_size. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
