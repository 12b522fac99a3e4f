/* stranger.h: limits for unauthenticated peers, which have no key, token, link or signature.
 *
 * All of these limits are here; docs/SECURITY.md has the same table in prose (*Strangers*), and test/api/strangers
 * tests each. Limits that cove.yaml and options of the daemon set (connections, idle time) are not here.
 * Must not know: HTTP, the audit log. Only numbers. */
#pragma once

#include "base/clock.h"

/* Memory. */
#define STRANGER_HEAD_BYTES       ((size_t) 32 << 10) /* the head of a request */
#define STRANGER_TARGET_BYTES     ((size_t) 16 << 10) /* its path and query, encoded */
#define STRANGER_QUERIES          64
#define STRANGER_CONNECTION_BYTES ((size_t) 64 << 10) /* memory per connection; a body is dropped as it arrives */
#define STRANGER_PEERS            64                  /* distinct peers per window, among refused ones and among admitted ones (a public port) */

/* Time and work. */
#define STRANGER_HANDSHAKE_USEC (30 * USEC_PER_SEC) /* of TLS */
/* Of an unwanted body: read and dropped, so that the client gets the answer; then the connection is closed. */
#define STRANGER_BODY_BYTES     ((uint64_t) 64 << 20)

/* Disk and log, per window (audit.strangerWindow). The excess is counted, and reported by one record and one line
 * at the end of the window. */
#define STRANGER_RECORDS_EACH 10  /* individual records of one peer with the same outcome */
#define STRANGER_RECORDS      20  /* of all refused peers, and as many of all admitted ones */
#define STRANGER_PATH_BYTES   256 /* of the path in such a record */
#define STRANGER_PEERS_TOLD   8   /* peers named by the record at the end */
