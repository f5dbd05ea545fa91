#ifndef MDOC_CSQLITE_SHIM_H
#define MDOC_CSQLITE_SHIM_H

#include <sqlite3.h>

#endif
