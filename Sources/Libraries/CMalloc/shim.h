#ifndef MDOC_CMALLOC_SHIM_H
#define MDOC_CMALLOC_SHIM_H

// For malloc_trim(), which Swift's module of glibc leaves out.
#include <malloc.h>

#endif
