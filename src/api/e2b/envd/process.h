/* process.h: shared by the files of process.Process. A process is an execution of the core, identified by its
 * pid inside or by its tag; no state of it is kept here. Private to process*.c.
 * Must not know: codecs, pipes in the sandbox. */
#pragma once

#include "api/e2b/connect/connect.h"
#include "api/e2b/process.pb-c.h"
#include "core/execution.h"

#define PROCESS_KEPT_USEC (30 * USEC_PER_SEC) /* an ended process can still be found for so long */
#define PROCESS_TEXT_MAX  64

extern const ConnectMethod process_methods[];

/* NULL: not found, and the call has been answered. ended_too: recently ended ones count, for late clients.
 * Living ones come first, and among equals the newest. */
Execution *process_find(ConnectCall *c, const Process__ProcessSelector *selector, bool ended_too);

/* "exit status 3", "signal: killed". */
void process_status_text(const Execution *x, char ret[static PROCESS_TEXT_MAX]);

/* process-stream.c: sends an execution as a stream of events, from the beginning, or from now on. Also
 * answers on failure. */
int process_stream(ConnectCall *c, Execution *x, bool from_now);

void process_start(ConnectCall *c, const ProtobufCMessage *request);
void process_connect(ConnectCall *c, const ProtobufCMessage *request);
void process_send_input(ConnectCall *c, const ProtobufCMessage *request);
void process_stream_input(ConnectCall *c, const ProtobufCMessage *request);
void process_send_signal(ConnectCall *c, const ProtobufCMessage *request);
