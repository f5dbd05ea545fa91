#ifndef MDOC_CP11KIT_SHIM_H
#define MDOC_CP11KIT_SHIM_H

// p11-kit announces its loader of single modules by this name.
#define P11_KIT_FUTURE_UNSTABLE_API

#include <p11-kit/p11-kit.h>
#include <p11-kit/pkcs11.h>
#include <p11-kit/uri.h>

#endif
