/* process-signal.c: SendSignal. Who has killed a process finds it gone afterwards: the answer waits for its end, for a moment. */

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "api/e2b/envd/process.h"

#define END_USEC (2 * USEC_PER_SEC)

typedef struct Killing {
        ConnectCall *call;
        ExecutionWatch watch;
        sd_event_source *timer;
} Killing;

static void process_signal_answer(ConnectCall *c) {
        Process__SendSignalResponse m = PROCESS__SEND_SIGNAL_RESPONSE__INIT;

        (void) connect_answer(c, &m.base);
}

static void process_signal_on_changed(Execution *x, void *userdata) {
        Killing *k = userdata;

        if (!execution_ended(x))
                return;
        execution_unwatch(&k->watch);
        process_signal_answer(k->call);
}

static int process_signal_on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        Killing *k = userdata;

        process_signal_answer(k->call);
        return 0;
}

static void process_signal_destroy(ConnectCall *c, void *state) {
        Killing *k = state;

        execution_unwatch(&k->watch);
        sd_event_source_disable_unref(k->timer);
        free(k);
}

static void wait_for_end(ConnectCall *c, Execution *x) {
        Killing *k = calloc(1, sizeof(*k));

        if (!k) {
                process_signal_answer(c);
                return;
        }
        *k = (Killing) { .call = c, .watch = { .changed = process_signal_on_changed, .userdata = k } };
        connect_set_state(c, k, process_signal_destroy);
        if (execution_watch(x, &k->watch) < 0 ||
                        sd_event_add_time_relative(connect_request(c)->manager->event, &k->timer, CLOCK_MONOTONIC, END_USEC, USEC_PER_MSEC,
                                        process_signal_on_timer, k) < 0)
                process_signal_answer(c);
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
