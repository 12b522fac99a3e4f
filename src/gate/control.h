/* control.h: what coved and cove-gate say to each other.
 *
 * SOCK_SEQPACKET on DIR/run/gate.sock (mode 0600; the gate checks the peer's uid). One JSON object per datagram, CONTROL_MESSAGE_MAX
 * bytes at most, with descriptors where it says so. One coved at a time: the newest connection counts, an older one is closed. The gate goes
 * on without coved, by what it was told last (what would ask is denied meanwhile: nobody could answer); it ends when it has neither a coved
 * nor a sandbox. A sandbox that is not attached has sockets that nobody accepts on: nothing gets out.
 *
 *  coved → gate
 *      {"do":"hello","version":3,"dns":["203.0.113.53:53"],"reachable":["10.1.0.0/16"],"seed":"<64 hex>",
 *       "authorities":"PEM","memory":B}                    first, and after a reload. authorities: certificates that count beside the host's trust
 *                                                        store (and SSL_CERT_FILE) when upstream's are checked. memory: what the gate may hold for
 *                                                        all sandboxes (memory.h). Both may be absent
 *              → {"hello":1,"version":3,"pid":N}
 *      {"do":"attach","serial":N,"id":"…","mode":"egress|open|isolated","network":{egress.h, normalised},
 *       "credentials":[{"name":"…","placeholder":"…","value":"…","domain":"…","in":["header",…],"headers":["Authorization"]}],
 *       "packages":["https://pypi.org",…],                 what the word in its rules stands for; where it has the word
 *       "names":{"db":"10.213.0.3"},                       isolated: who is in the group
 *       "used":{"bytes":N}, "grants":[rule objects]}       what was approved before
 *              + descriptors: egress, open: TCP listener, DNS socket, UDP socket, pidfd of PID 1; isolated: DNS socket, pidfd
 *              → {"done":N,"certificate":"PEM of the authority, where TLS will be opened"}
 *      {"do":"policy","serial":N,"id":…, as attach without descriptors}      replaces it; open connections that it would not allow are cut
 *              → as attach
 *      {"do":"names","id":"…","names":{…}}
 *      {"do":"execution","id":"…"}                         one begins while no other runs: requests are counted from 0
 *      {"do":"answer","ask":"…","allow":bool,"grant":rule object or absent}     absent: this once
 *      {"do":"flow","token":N,"error":errno}               + descriptor, when error is 0: the UDP socket asked for
 *      {"do":"detach","serial":N,"id":"…"} → {"done":N}
 *      {"do":"usage","serial":N,"id":"…"}  → {"done":N,"usage":{"up":B,"down":B,"requests":N,"connections":N,"denied":N,"cpu":usec}}
 *      {"do":"list"}                       → {"item":"id"} …, {"end":true}
 *      {"do":"quit"}                       ends the gate (another version takes over)
 *
 *  gate → coved
 *      {"done":N, …} | {"failed":N,"error":"…"}
 *      {"event":"denied"|"allowed"|"asked"|"expired"|"limit"|"masked","id":"…","time":usec,"protocol":"https","host":"…","address":"…","port":443,
 *       "method":"GET","path":"/…","rule":"text or null","reason":"no_rule","text":"…","cure":"…","count":N,"ask":"…","expires":usec}
 *              "allowed" only in learn mode. The same thing again within ten seconds is counted, not told again ("count" of the next one).
 *      {"event":"flow","id":"…","token":N,"local":"addr","localPort":N,"remote":"addr","remotePort":N}    wants a UDP socket inside:
 *              local is the guest's end of the flow, remote the world's
 *      {"event":"gone","id":"…","usage":{…}}               its PID 1 has ended; detached by itself
 *
 * Must not know: what either side does with it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "json/json.h"

#define CONTROL_VERSION     3 /* 2: it holds a claim (claim.h). 3: it knows "packages" */
#define CONTROL_MESSAGE_MAX (160 * 1024)
#define CONTROL_FDS_MAX     4
#define CONTROL_VALUE_MIN   4     /* bytes of a credential's value: what is shorter cannot be told from ordinary text when it comes back */
#define CONTROL_VALUES_MAX  16384 /* of a sandbox, together: each byte that comes back is compared with all of them */

/* What the gate takes as a value, so that coved refuses the rest before it is too late. all: bytes of those before it, and then with it.
 * -EINVAL, -E2BIG; no value is in the words. */
int control_check_value(const char *value, size_t size, size_t *all, Error *reterr);

/* -EAGAIN: no room; -EMSGSIZE. */
int control_send(int fd, json_t *message, const int *fds, size_t n_fds);

/* 1 with a message, 0: hung up, -EAGAIN, -EBADMSG. CONTROL_SHORT: a message whose descriptors are lost, for this process may have no more. */
#define CONTROL_SHORT 2
int control_receive(int fd, json_t **ret, int ret_fds[static CONTROL_FDS_MAX], size_t *ret_n_fds);
