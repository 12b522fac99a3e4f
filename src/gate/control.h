/* control.h: the protocol between coved and cove-gate.
 *
 * SOCK_SEQPACKET on DIR/run/gate.sock (mode 0600; the gate checks the peer's uid). One JSON object per
 * datagram, CONTROL_MESSAGE_MAX bytes at most, with descriptors where the table says so. There is one coved
 * at a time: the newest connection counts, an older one is closed. Without coved, the gate continues with the
 * settings it received last; a request that the policy would ask about is denied meanwhile. The gate ends
 * when it has neither a coved nor a sandbox. The sockets of a sandbox that is not attached are not read:
 * nothing gets out.
 *
 *  coved → gate
 *      {"do":"hello","version":4,"dns":["203.0.113.53:53"],"reachable":["10.1.0.0/16"],"seed":"<64 hex>",
 *       "authorities":"PEM","memory":B,
 *       "proxy":{"http":"URL","https":"URL","except":"a,b","packages":[…]}}
 *                                                        first, and after a reload. authorities: certificates trusted in addition to the host's trust
 *                                                        store (and SSL_CERT_FILE) when upstream's are checked. memory: the gate's limit for all
 *                                                        sandboxes together (memory.h). proxy: relay/proxy.h. All three may be absent
 *              → {"hello":1,"version":4,"pid":N}
 *      {"do":"attach","serial":N,"id":"…","mode":"egress|open|isolated","network":{egress.h, normalised},
 *       "credentials":[{"name":"…","placeholder":"…","value":"…","domain":"…","in":["header",…],"headers":["Authorization"]}],
 *       "packages":["https://pypi.org",…],                 what the word "packages" in its rules stands for; if a rule has the word
 *       "names":{"db":"10.213.0.3"},                       isolated: the members of the group
 *       "used":{"bytes":N}, "grants":[rule objects]}       bytes used before; what was approved before
 *              + descriptors: egress, open: TCP listener, DNS socket, UDP socket, pidfd of PID 1; isolated: DNS socket, pidfd
 *              → {"done":N,"certificate":"PEM of the authority, if TLS will be opened"}
 *      {"do":"policy","serial":N,"id":…, as attach without descriptors}      replaces it; cuts open connections that it would not allow
 *              → as attach
 *      {"do":"names","id":"…","names":{…}}
 *      {"do":"execution","id":"…"}                         an execution begins while no other runs: requests are counted from 0
 *      {"do":"answer","ask":"…","allow":bool,"grant":rule object or absent}     absent: this once
 *      {"do":"flow","token":N,"error":errno}               + descriptor, if error is 0: the UDP socket asked for
 *      {"do":"detach","serial":N,"id":"…"} → {"done":N}
 *      {"do":"usage","serial":N,"id":"…"}  → {"done":N,"usage":{"up":B,"down":B,"requests":N,"connections":N,"denied":N,"cpu":usec}}
 *      {"do":"list"}                       → {"item":"id"} …, {"end":true}
 *      {"do":"quit"}                       ends the gate (another version takes over)
 *
 *  gate → coved
 *      {"done":N, …} | {"failed":N,"error":"…"}
 *      {"event":"denied"|"allowed"|"asked"|"expired"|"limit"|"masked","id":"…","time":usec,"protocol":"https","host":"…","address":"…","port":443,
 *       "method":"GET","path":"/…","rule":"text or null","reason":"no_rule","text":"…","cure":"…","count":N,"ask":"…","expires":usec}
 *              "allowed" only in learn mode. A repetition within ten seconds is not sent; "count" of the next event includes it.
 *      {"event":"flow","id":"…","token":N,"local":"addr","localPort":N,"remote":"addr","remotePort":N}    wants a UDP socket inside:
 *              local is the guest's end of the flow, remote the world's
 *      {"event":"gone","id":"…","usage":{…}}               PID 1 of the sandbox has ended; the gate has detached it
 *
 * Must not know: what either side does with the messages. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "json/json.h"

#define CONTROL_VERSION     4 /* 2: the gate holds a claim (claim.h). 3: it knows "packages". 4: it knows "proxy" */
#define CONTROL_MESSAGE_MAX (160 * 1024)
#define CONTROL_FDS_MAX     4
#define CONTROL_VALUE_MIN   4     /* bytes of a credential's value; a shorter one cannot be told from ordinary text in a response */
#define CONTROL_VALUES_MAX  16384 /* bytes of all values of a sandbox: each byte of a response is compared with all of them */

/* Checks what the gate accepts as a value, so that coved refuses others early. all: bytes of the values
 * before this one; updated to include it. -EINVAL, -E2BIG; the message does not contain the value. */
int control_check_value(const char *value, size_t size, size_t *all, Error *reterr);

/* -EAGAIN: the socket is full. -EMSGSIZE. */
int control_send(int fd, json_t *message, const int *fds, size_t n_fds);

/* 1: a message. 0: the peer has hung up. -EAGAIN, -EBADMSG. CONTROL_SHORT: a message whose descriptors are
 * lost, because this process has reached its descriptor limit. */
#define CONTROL_SHORT 2
int control_receive(int fd, json_t **ret, int ret_fds[static CONTROL_FDS_MAX], size_t *ret_n_fds);
