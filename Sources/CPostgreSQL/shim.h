#ifndef MDOC_CPOSTGRESQL_SHIM_H
#define MDOC_CPOSTGRESQL_SHIM_H

#include <libpq-fe.h>

/* libpq prints notices to standard error, which is our log's. */
static void mdoc_pq_ignore_notice(void *context, const PGresult *notice) {
  (void)context;
  (void)notice;
}

static inline void mdoc_pq_silence(PGconn *connection) {
  PQsetNoticeReceiver(connection, mdoc_pq_ignore_notice, 0);
}

/* PG_DIAG_SQLSTATE is a character; NULL where the fault is not the server's. */
static inline const char *mdoc_pq_sqlstate(const PGresult *result) {
  return PQresultErrorField(result, PG_DIAG_SQLSTATE);
}

#endif
