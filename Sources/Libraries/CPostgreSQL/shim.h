#ifndef MDOC_CPOSTGRESQL_SHIM_H
#define MDOC_CPOSTGRESQL_SHIM_H

#include <string.h>
#include <libpq-fe.h>

/* What the server says unasked, libpq hands over as a notice, its farewell (FATAL) included. */
static void mdoc_pq_receive_notice(void *farewell, const PGresult *notice) {
  const char *severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
  if (severity && (strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0)) *(int *)farewell = 1;
}

/* Instead of printing notices to standard error, which is our log's, notes in `farewell` when the server goes. */
static inline void mdoc_pq_note_farewell(PGconn *connection, int *farewell) {
  PQsetNoticeReceiver(connection, mdoc_pq_receive_notice, farewell);
}

/* PG_DIAG_SQLSTATE is a character; NULL where the fault is not the server's. */
static inline const char *mdoc_pq_sqlstate(const PGresult *result) {
  return PQresultErrorField(result, PG_DIAG_SQLSTATE);
}

#endif
