/* process-signal.c: SendSignal. A client that kills a process expects it to be gone afterwards: the answer
 * waits a moment for its end. */

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "api/e2b/envd/process.h"
#include "api/wait.h"

#define END_USEC (2 * USEC_PER_SEC)

typedef struct Killing {
        ApiWait wait;
        ConnectCall *call;
        ExecutionWatch watch;
} Killing;

static void process_signal_answer(ConnectCall *c) {
        Process__SendSignalResponse m = PROCESS__SEND_SIGNAL_RESPONSE__INIT;

        (void) connect_answer(c, &m.base);
}

static void killing_stop(ApiWait *wait) {
        execution_unwatch(&((Killing *) wait)->watch);
}

static void killing_answer(ApiWait *wait) {
        process_signal_answer(((Killing *) wait)->call);
}

static void killing_on_changed(Execution *x, void *userdata) {
        if (execution_ended(x))
                api_wait_over(userdata);
}

static void killing_destroy(ConnectCall *c, void *state) {
        api_wait_done(state);
        free(state);
}

static void wait_for_end(ConnectCall *c, Execution *x) {
        static const ApiWaitKind kind = { .stop = killing_stop, .answer = killing_answer };
        Killing *k = calloc(1, sizeof(*k));

        if (!k) {
                process_signal_answer(c);
                return;
        }
        k->call = c;
        k->watch = (ExecutionWatch) { .changed = killing_on_changed, .userdata = k };
        connect_set_state(c, k, killing_destroy);
        if (api_wait_start(&k->wait, connect_request(c), &kind, END_USEC) < 0 || execution_watch(x, &k->watch) < 0)
                api_wait_over(&k->wait);
}

void process_send_signal(ConnectCall *c, const ProtobufCMessage *request) {
        const Process__SendSignalRequest *m = (const Process__SendSignalRequest *) request;
        Execution *x = process_find(c, m->process, /* ended_too= */ false);
        int signal_number = m->has_signal ? (int) m->signal : 0, r;

        if (!x)
                return;
        if (signal_number != SIGKILL && signal_number != SIGTERM) {
                (void) connect_error(c, CONNECT_UNIMPLEMENTED, "invalid signal: %d (SIGNAL_SIGKILL and SIGNAL_SIGTERM can be sent)", signal_number);
                return;
        }
        api_about(connect_request(c), x->sandbox, x);
        r = execution_signal(x, signal_number);
        if (r < 0)
                (void) connect_error(c, CONNECT_INTERNAL, "error sending signal: the sandbox cannot be reached");
        else if (r == 0 || signal_number != SIGKILL)
                process_signal_answer(c);
        else
                wait_for_end(c, x);
}
