// Counts a process's allocations, by LD_PRELOAD: those that OpenSSL makes, and all others. The counts are written to
// the file named by ALLOCATION_COUNTS when the process ends.
#define _GNU_SOURCE
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);

static uintptr_t first, last;
static atomic_long openssl, others;

static int find(struct dl_phdr_info *library, size_t size, void *unused) {
  (void)size, (void)unused;
  if (!strstr(library->dlpi_name, "libcrypto.so")) return 0;
  first = UINTPTR_MAX;
  for (int index = 0; index < library->dlpi_phnum; index++) {
    if (library->dlpi_phdr[index].p_type != PT_LOAD) continue;
    const uintptr_t start = library->dlpi_addr + library->dlpi_phdr[index].p_vaddr;
    if (start < first) first = start;
    if (start + library->dlpi_phdr[index].p_memsz > last) last = start + library->dlpi_phdr[index].p_memsz;
  }
  return 1;
}

__attribute__((constructor)) static void start(void) { dl_iterate_phdr(find, NULL); }

__attribute__((destructor)) static void report(void) {
  const char *path = getenv("ALLOCATION_COUNTS");
  FILE *file = path ? fopen(path, "w") : NULL;
  if (!file) return;
  fprintf(file, "%ld %ld\n", (long)others, (long)openssl);
  fclose(file);
}

static void count(void *caller) {
  const uintptr_t address = (uintptr_t)caller;
  atomic_fetch_add_explicit(address >= first && address < last ? &openssl : &others, 1, memory_order_relaxed);
}

void *malloc(size_t size) {
  count(__builtin_return_address(0));
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  count(__builtin_return_address(0));
  return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
  count(__builtin_return_address(0));
  return __libc_realloc(memory, size);
}
