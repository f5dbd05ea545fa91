#ifndef MDOC_COPENSSL_SHIM_H
#define MDOC_COPENSSL_SHIM_H

// RFC 6979 signing with a given nonce exists only in the older API (ECDSA_do_sign_ex).
#define OPENSSL_SUPPRESS_DEPRECATED 1

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/obj_mac.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// A macro that Swift cannot see.
static inline long mdoc_BIO_get_mem_data(BIO *bio, char **data) { return BIO_get_mem_data(bio, data); }

// OSSL_PARAM keeps the pointer to its name, so arrays of them are made here, where names are static.
static inline int mdoc_mac_set_digest(EVP_MAC_CTX *context, const EVP_MD *digest) {
  OSSL_PARAM parameters[2];
  parameters[0] = OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)EVP_MD_get0_name(digest), 0);
  parameters[1] = OSSL_PARAM_construct_end();
  return EVP_MAC_CTX_set_params(context, parameters);
}

static inline int mdoc_single_step_kdf(
    EVP_KDF *kdf, const EVP_MD *digest, const void *secret, size_t secret_length, const void *info, size_t info_length,
    unsigned char *output, size_t output_length) {
  OSSL_PARAM parameters[4];
  parameters[0] = OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)EVP_MD_get0_name(digest), 0);
  parameters[1] = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SECRET, (void *)secret, secret_length);
  parameters[2] = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *)info, info_length);
  parameters[3] = OSSL_PARAM_construct_end();
  EVP_KDF_CTX *context = EVP_KDF_CTX_new(kdf);
  int is_derived = context != NULL && EVP_KDF_derive(context, output, output_length, parameters) == 1;
  EVP_KDF_CTX_free(context);
  return is_derived;
}

static inline EVP_PKEY *mdoc_ec_key_pair(
    const char *group, const BIGNUM *secret, const unsigned char *point, size_t point_length) {
  EVP_PKEY *key = NULL;
  OSSL_PARAM *parameters = NULL;
  OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, NULL);
  if (builder != NULL && context != NULL
      && OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, group, 0)
      && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_PRIV_KEY, secret)
      && OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, point_length)
      && (parameters = OSSL_PARAM_BLD_to_param(builder)) != NULL && EVP_PKEY_fromdata_init(context) == 1) {
    EVP_PKEY_fromdata(context, &key, EVP_PKEY_KEYPAIR, parameters);
  }
  OSSL_PARAM_free(parameters);
  OSSL_PARAM_BLD_free(builder);
  EVP_PKEY_CTX_free(context);
  return key;
}

#endif
