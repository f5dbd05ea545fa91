#ifndef MDOC_CLIBCBOR_SHIM_H
#define MDOC_CLIBCBOR_SHIM_H

// Only the streaming decoder and the encoders: cbor_load() allocates for what a head claims and is not to be used.
#include <cbor.h>

#endif
