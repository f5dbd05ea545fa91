#ifndef MDOC_CZLIB_SHIM_H
#define MDOC_CZLIB_SHIM_H

#include <zlib.h>

#endif
