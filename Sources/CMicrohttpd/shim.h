#ifndef MDOC_CMICROHTTPD_SHIM_H
#define MDOC_CMICROHTTPD_SHIM_H

#include <microhttpd.h>

#endif
