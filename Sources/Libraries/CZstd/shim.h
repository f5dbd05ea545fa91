#ifndef MDOC_CZSTD_SHIM_H
#define MDOC_CZSTD_SHIM_H

#include <zstd.h>

#endif
