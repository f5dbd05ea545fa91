#ifndef MDOC_CMICROHTTPD_SHIM_H
#define MDOC_CMICROHTTPD_SHIM_H

#include <stddef.h>
#include <stdint.h>
#include <microhttpd.h>

/* Everything variadic in libmicrohttpd, which Swift cannot call, behind functions of fixed arity. */

typedef void *(*mdoc_http_target_callback)(void *context, const char *target, struct MHD_Connection *connection);

struct mdoc_http_options {
  int listen_fd;
  unsigned int threads;
  unsigned int connection_limit;
  unsigned int connection_limit_per_address; /* 0: none */
  unsigned int idle_timeout;                 /* seconds */
  size_t connection_memory;
  MHD_AccessHandlerCallback on_request;
  mdoc_http_target_callback on_target;
  MHD_RequestCompletedCallback on_completed;
  MHD_NotifyConnectionCallback on_connection;
  void *context; /* first argument of every callback */
};

static inline struct MHD_Daemon *mdoc_http_start(unsigned int flags, const struct mdoc_http_options *o) {
  struct MHD_OptionItem pool[] = {
      {o->threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, (intptr_t)o->threads, NULL},
      {MHD_OPTION_END, 0, NULL},
  };
  return MHD_start_daemon(flags, 0, NULL, NULL, o->on_request, o->context,
                          MHD_OPTION_LISTEN_SOCKET, (MHD_socket)o->listen_fd,
                          MHD_OPTION_CONNECTION_LIMIT, o->connection_limit,
                          MHD_OPTION_PER_IP_CONNECTION_LIMIT, o->connection_limit_per_address,
                          MHD_OPTION_CONNECTION_TIMEOUT, o->idle_timeout,
                          MHD_OPTION_CONNECTION_MEMORY_LIMIT, o->connection_memory,
                          MHD_OPTION_URI_LOG_CALLBACK, o->on_target, o->context,
                          MHD_OPTION_NOTIFY_COMPLETED, o->on_completed, o->context,
                          MHD_OPTION_NOTIFY_CONNECTION, o->on_connection, o->context,
                          MHD_OPTION_ARRAY, pool,
                          MHD_OPTION_END);
}

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

#endif
