/* process.h: what the files of process.Process share. A process is an execution of the core, known by its pid inside or by its tag; nothing is kept of it here.
 * Private to process*.c. Must not know: codecs, pipes inside. */
#pragma once

#include "api/e2b/connect/connect.h"
#include "api/e2b/process.pb-c.h"
#include "core/execution.h"

#define PROCESS_KEPT_USEC (30 * USEC_PER_SEC) /* an ended one is still told to who comes late */
#define PROCESS_TEXT_MAX  64

extern const ConnectMethod process_methods[];

/* NULL: there is none, and the call has been answered. Ended ones count for a while, for who asks how it went; a living one comes first, the newest of those. */
Execution *process_find(ConnectCall *c, const Process__ProcessSelector *selector, bool ended_too);

/* "exit status 3", "signal: killed". */
void process_status_text(const Execution *x, char ret[static PROCESS_TEXT_MAX]);

/* process-stream.c: an execution as a stream of events, from the beginning, or from now on. Answers also when it cannot. */
int process_stream(ConnectCall *c, Execution *x, bool from_now);

void process_start(ConnectCall *c, const ProtobufCMessage *request);
void process_connect(ConnectCall *c, const ProtobufCMessage *request);
void process_send_input(ConnectCall *c, const ProtobufCMessage *request);
void process_stream_input(ConnectCall *c, const ProtobufCMessage *request);
void process_send_signal(ConnectCall *c, const ProtobufCMessage *request);
