/* stranger.h: what somebody may cost who has proved nothing: no key, no token, no link, no signature.
 *
 * The one place where these figures are; docs/SECURITY.md has the same table in words (*Strangers*), and test/api/strangers tries each. What
 * cove.yaml and options of the daemon decide (connections, idle time) is not here.
 * Must not know: HTTP, the audit log. Only numbers. */
#pragma once

#include "base/clock.h"

/* Memory. */
#define STRANGER_HEAD_BYTES       ((size_t) 32 << 10) /* the head of a request */
#define STRANGER_TARGET_BYTES     ((size_t) 16 << 10) /* path and query of it, as they come */
#define STRANGER_QUERIES          64
#define STRANGER_CONNECTION_BYTES ((size_t) 64 << 10) /* that a connection may hold; a body is dropped as it comes */
#define STRANGER_PEERS            64                  /* that are told apart in a window, among those refused and among those let in (a public port) */

/* Time and work. */
#define STRANGER_HANDSHAKE_USEC (30 * USEC_PER_SEC) /* of TLS */
#define STRANGER_BODY_BYTES     ((uint64_t) 64 << 20) /* of a body that nobody wants: read, so that the answer arrives; then the connection ends */

/* Disk and log, in a window (audit.strangerWindow). What is beyond is counted, and told by one record and one line at its end. */
#define STRANGER_RECORDS_EACH 10  /* of a peer with the same outcome: written one by one */
#define STRANGER_RECORDS      20  /* of all who are refused, and as many of all who are let in */
#define STRANGER_PATH_BYTES   256 /* of the path in such a record */
#define STRANGER_PEERS_TOLD   8   /* by the record at the end */
