#ifndef MDOC_CMICROHTTPD_SHIM_H
#define MDOC_CMICROHTTPD_SHIM_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>

/* Everything variadic in libmicrohttpd, which Swift cannot call, behind functions of fixed arity; and what its TLS,
   which is GnuTLS, needs of a certificate and its key. */

typedef void *(*mdoc_http_target_callback)(void *context, const char *target, struct MHD_Connection *connection);

struct mdoc_http_options {
  int listen_fd;
  unsigned int threads;
  unsigned int connection_limit;
  unsigned int idle_timeout; /* seconds */
  size_t connection_memory;
  const char *tls_priorities;                            /* GnuTLS; NULL: plain HTTP */
  gnutls_certificate_retrieve_function3 *on_certificate; /* with TLS */
  MHD_AcceptPolicyCallback on_accept;
  MHD_AccessHandlerCallback on_request;
  mdoc_http_target_callback on_target;
  MHD_RequestCompletedCallback on_completed;
  MHD_NotifyConnectionCallback on_connection;
  void *context; /* first argument of every callback */
};

#define MDOC_HTTP_OPTIONS(o, pool)                                                        \
  MHD_OPTION_LISTEN_SOCKET, (MHD_socket)(o)->listen_fd,                                   \
      MHD_OPTION_CONNECTION_LIMIT, (o)->connection_limit,                                 \
      MHD_OPTION_CONNECTION_TIMEOUT, (o)->idle_timeout,                                   \
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, (o)->connection_memory,                         \
      MHD_OPTION_URI_LOG_CALLBACK, (o)->on_target, (o)->context,                          \
      MHD_OPTION_NOTIFY_COMPLETED, (o)->on_completed, (o)->context,                       \
      MHD_OPTION_NOTIFY_CONNECTION, (o)->on_connection, (o)->context,                     \
      MHD_OPTION_ARRAY, (pool)

static inline struct MHD_Daemon *mdoc_http_start(unsigned int flags, const struct mdoc_http_options *o) {
  struct MHD_OptionItem pool[] = {
      {o->threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, (intptr_t)o->threads, NULL},
      {MHD_OPTION_END, 0, NULL},
  };
  if (!o->tls_priorities)
    return MHD_start_daemon(flags, 0, o->on_accept, o->context, o->on_request, o->context,
                            MDOC_HTTP_OPTIONS(o, pool), MHD_OPTION_END);
  return MHD_start_daemon(flags | MHD_USE_TLS, 0, o->on_accept, o->context, o->on_request, o->context,
                          MDOC_HTTP_OPTIONS(o, pool),
                          MHD_OPTION_HTTPS_PRIORITIES, o->tls_priorities,
                          MHD_OPTION_HTTPS_CERT_CALLBACK2, o->on_certificate,
                          MHD_OPTION_END);
}

#undef MDOC_HTTP_OPTIONS

static inline int mdoc_http_connection_fd(struct MHD_Connection *c) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? (int)info->connect_fd : -1;
}

static inline const struct sockaddr *mdoc_http_client_address(struct MHD_Connection *c) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return info ? info->client_addr : NULL;
}

static inline void *mdoc_http_socket_context(struct MHD_Connection *c) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info ? info->socket_context : NULL;
}

/* Bytes from the first of the method to the last of the empty line; 0 when unknown. */
static inline size_t mdoc_http_header_size(struct MHD_Connection *c) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  return info ? info->header_size : 0;
}

/* glibc shows this to GNU sources only, which Swift's view of it is not. */
extern int mdoc_sched_getaffinity(int process, size_t size, void *mask) __asm__("sched_getaffinity");

/* A chain, the leaf first, and the leaf's key, as GnuTLS hands them to handshakes. */
struct mdoc_tls_identity {
  gnutls_pcert_st chain[8];
  unsigned int length;
  gnutls_privkey_t key;
};

static inline void mdoc_tls_free(struct mdoc_tls_identity *identity) {
  if (!identity) return;
  for (unsigned int i = 0; i < identity->length; i++) gnutls_pcert_deinit(&identity->chain[i]);
  if (identity->key) gnutls_privkey_deinit(identity->key);
  free(identity);
}

/* Reads a chain and its key, both PEM; NULL, and GnuTLS's code, where they cannot be read or do not belong together. */
static inline struct mdoc_tls_identity *mdoc_tls_load(const void *certificate, size_t certificate_size, const void *key,
                                                      size_t key_size, int *code) {
  gnutls_datum_t chain = {(unsigned char *)certificate, (unsigned int)certificate_size};
  gnutls_datum_t secret = {(unsigned char *)key, (unsigned int)key_size};
  gnutls_certificate_credentials_t pair = NULL;
  *code = gnutls_certificate_allocate_credentials(&pair);
  if (*code < 0) return NULL;
  /* The one call that compares the two. */
  *code = gnutls_certificate_set_x509_key_mem(pair, &chain, &secret, GNUTLS_X509_FMT_PEM);
  gnutls_certificate_free_credentials(pair);
  if (*code < 0) return NULL;
  struct mdoc_tls_identity *identity = (struct mdoc_tls_identity *)calloc(1, sizeof *identity);
  if (!identity) {
    *code = GNUTLS_E_MEMORY_ERROR;
    return NULL;
  }
  unsigned int length = sizeof identity->chain / sizeof identity->chain[0];
  *code = gnutls_pcert_list_import_x509_raw(identity->chain, &length, &chain, GNUTLS_X509_FMT_PEM, 0);
  if (*code >= 0) identity->length = length;
  if (*code >= 0) *code = gnutls_privkey_init(&identity->key);
  if (*code >= 0) *code = gnutls_privkey_import_x509_raw(identity->key, &secret, GNUTLS_X509_FMT_PEM, NULL, 0);
  if (*code < 0) {
    mdoc_tls_free(identity);
    return NULL;
  }
  return identity;
}

/* When the first certificate of the chain to end does, in Unix seconds; -1 where that cannot be read. */
static inline int64_t mdoc_tls_expiry(const void *certificate, size_t certificate_size) {
  gnutls_datum_t data = {(unsigned char *)certificate, (unsigned int)certificate_size};
  gnutls_x509_crt_t *chain = NULL;
  unsigned int length = 0;
  if (gnutls_x509_crt_list_import2(&chain, &length, &data, GNUTLS_X509_FMT_PEM, 0) < 0) return -1;
  int64_t first = -1;
  for (unsigned int i = 0; i < length; i++) {
    int64_t end = (int64_t)gnutls_x509_crt_get_expiration_time(chain[i]);
    if (end >= 0 && (first < 0 || end < first)) first = end;
    gnutls_x509_crt_deinit(chain[i]);
  }
  gnutls_free(chain);
  return first;
}

#endif
