/* process-stream.c: an execution as a stream of events: start, data, end.
 *
 *      feed                  output, from the beginning or from now on; start; end
 *      sandbox's watch       the sandbox is killed or paused: the connection is closed, and a client that calls again gets the reason
 *      drained               the client has read: continue with later output
 *
 * The output stays in the journals (core/feed.h) until the client takes it. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/e2b/envd/process.h"
#include "core/feed.h"

#define PIECE_MAX     ((size_t) 32 << 10)
#define PIECE_PTY_MAX ((size_t) 16 << 10)

typedef struct ProcessStream {
        ConnectCall *call;
        SandboxWatch sandbox_watch;
        Feed feed;
        bool pty;

        /* How it ended. */
        ExecutionReason reason;
        int exit_code, signal, cwd_error;
        char status[PROCESS_TEXT_MAX];
        char *message, *command, *cwd;
} ProcessStream;

static void stream_release(ProcessStream *s) {
        sandbox_unwatch(&s->sandbox_watch);
        feed_close(&s->feed);
}

static void process_stream_destroy(ConnectCall *c, void *state) {
        ProcessStream *s = state;

        stream_release(s);
        free(s->message);
        free(s->command);
        free(s->cwd);
        free(s);
}

/* Events. The answers of both methods have the same layout. */

static int process_stream_send_event(ProcessStream *s, Process__ProcessEvent *event) {
        Process__StartResponse m = PROCESS__START_RESPONSE__INIT;

        m.event = event;
        return connect_send(s->call, &m.base);
}

static int process_stream_send_start(Feed *f, void *userdata) {
        Process__ProcessEvent__StartEvent start = PROCESS__PROCESS_EVENT__START_EVENT__INIT;
        Process__ProcessEvent event = PROCESS__PROCESS_EVENT__INIT;

        start.has_pid = true;
        start.pid = (uint32_t) f->pid;
        event.event_case = PROCESS__PROCESS_EVENT__EVENT_START;
        event.start = &start;
        return process_stream_send_event(userdata, &event);
}

static ssize_t process_stream_send_data(Feed *f, ExecutionStream stream, const uint8_t *data, size_t size, void *userdata) {
        Process__ProcessEvent event = PROCESS__PROCESS_EVENT__INIT;
        ProcessStream *s = userdata;
        Process__ProcessEvent__DataEvent output;
        int r;

        size = s->pty ? MIN_OF(size, PIECE_PTY_MAX) : size;
        process__process_event__data_event__init(&output);
        output.output_case = s->pty              ? PROCESS__PROCESS_EVENT__DATA_EVENT__OUTPUT_PTY :
                             stream == STREAM_STDOUT ? PROCESS__PROCESS_EVENT__DATA_EVENT__OUTPUT_STDOUT :
                                                       PROCESS__PROCESS_EVENT__DATA_EVENT__OUTPUT_STDERR;
        output.stdout = (ProtobufCBinaryData) { size, (uint8_t *) (uintptr_t) data }; /* a union with stderr and pty */
        event.event_case = PROCESS__PROCESS_EVENT__EVENT_DATA;
        event.data = &output;
        r = process_stream_send_event(s, &event);
        return r < 0 ? r : (ssize_t) size;
}

static int send_end(ProcessStream *s) {
        Process__ProcessEvent__EndEvent end = PROCESS__PROCESS_EVENT__END_EVENT__INIT;
        Process__ProcessEvent event = PROCESS__PROCESS_EVENT__INIT;
        int r;

        end.has_exit_code = end.has_exited = true;
        end.exit_code = s->signal != 0 ? -1 : s->exit_code;
        end.exited = s->signal == 0;
        end.status = s->status;
        end.error = s->signal != 0 || s->exit_code != 0 ? s->status : NULL;
        event.event_case = PROCESS__PROCESS_EVENT__EVENT_END;
        event.end = &end;
        r = process_stream_send_event(s, &event);
        return r < 0 ? r : connect_end(s->call);
}

/* The process was never started. */
static void tell_failure(ProcessStream *s) {
        if (s->cwd_error == ENOENT)
                (void) connect_error(s->call, CONNECT_INVALID_ARGUMENT, "cwd '%s' does not exist", s->cwd ? s->cwd : "");
        else
                (void) connect_error(s->call, s->reason == EXECUTION_REASON_INTERNAL ? CONNECT_INTERNAL : CONNECT_INVALID_ARGUMENT,
                                "error starting process '%s': %s", s->command ? s->command : "", s->message ? s->message : "it could not be started");
}

/* All output has been sent. */
static int process_stream_tell_end(Feed *f, void *userdata) {
        ProcessStream *s = userdata;

        switch (s->reason) {
        case EXECUTION_REASON_SANDBOX_ENDED:
        case EXECUTION_REASON_PARKED:
        case EXECUTION_REASON_RESTORED:
                connect_break(s->call);
                break;
        case EXECUTION_REASON_TIMEOUT:
                (void) connect_error(s->call, CONNECT_DEADLINE_EXCEEDED, "context deadline exceeded");
                break;
        default:
                if (!f->started)
                        tell_failure(s);
                else if (s->signal == 0 && s->exit_code < 0)
                        (void) connect_error(s->call, CONNECT_INTERNAL, "%s", s->message ? s->message : "how it ended is not known");
                else
                        (void) send_end(s);
        }
        stream_release(s);
        return 0;
}

/* Output. */

static bool process_stream_is_full(const Feed *f, void *userdata) {
        const ProcessStream *s = userdata;

        return connect_backlog(s->call) > CONNECT_HIGH;
}

static void process_stream_pump(ProcessStream *s) {
        int r = feed_pump(&s->feed);

        if (r < 0 && r != -ESHUTDOWN) /* ESHUTDOWN: the deadline has passed, or the connection is broken off */
                (void) connect_errno(s->call, r, "the output cannot be read");
        if (r < 0)
                stream_release(s);
}

static void process_stream_on_drained(ConnectCall *c, void *state) {
        process_stream_pump(state);
}

/* What happens. */

static void process_stream_taken(Feed *f, const Execution *x, void *userdata) {
        ProcessStream *s = userdata;

        s->reason = x->reason;
        s->exit_code = x->exit_code;
        s->signal = x->signal;
        s->cwd_error = x->cwd_error;
        process_status_text(x, s->status);
        s->message = x->message ? strdup(x->message) : NULL;
        s->command = x->spec.args.n > 0 ? strdup(x->spec.args.items[0]) : NULL;
        s->cwd = x->spec.cwd ? strdup(x->spec.cwd) : NULL;
}

static void process_stream_on_changed(Feed *f, void *userdata) {
        process_stream_pump(userdata);
}

static void process_stream_on_sandbox(Sandbox *sb, Execution *x, void *userdata) {
        ProcessStream *s = userdata;

        if (x || s->feed.over || sandbox_is_up(sb) || sb->status == SANDBOX_INITIALIZING)
                return;
        connect_break(s->call);
        stream_release(s);
}

static int process_stream_open(ProcessStream *s, Execution *x, bool from_now) {
        static const FeedReader reader = {
                .piece_max = PIECE_MAX,
                .changed = process_stream_on_changed,
                .taken = process_stream_taken,
                .start = process_stream_send_start,
                .full = process_stream_is_full,
                .piece = process_stream_send_data,
                .end = process_stream_tell_end,
        };
        const uint64_t from = from_now ? FEED_NOW : 0;

        s->sandbox_watch = (SandboxWatch) { .changed = process_stream_on_sandbox, .userdata = s };
        sandbox_watch(x->sandbox, &s->sandbox_watch);
        return feed_open(&s->feed, x, (uint64_t[]) { from, x->spec.pty ? FEED_SKIP : from }, &reader, s);
}

static int start_pings(ConnectCall *c) {
        Process__ProcessEvent__KeepAlive ping = PROCESS__PROCESS_EVENT__KEEP_ALIVE__INIT;
        Process__ProcessEvent event = PROCESS__PROCESS_EVENT__INIT;
        Process__StartResponse m = PROCESS__START_RESPONSE__INIT;

        event.event_case = PROCESS__PROCESS_EVENT__EVENT_KEEPALIVE;
        event.keepalive = &ping;
        m.event = &event;
        return connect_keepalive(c, &m.base);
}

int process_stream(ConnectCall *c, Execution *x, bool from_now) {
        ProcessStream *s = calloc(1, sizeof(*s));
        int r;

        if (!s)
                return connect_errno(c, -ENOMEM, NULL);
        s->call = c;
        s->pty = x->spec.pty;
        connect_set_state(c, s, process_stream_destroy);
        connect_on_drained(c, process_stream_on_drained);
        r = process_stream_open(s, x, from_now);
        if (r >= 0)
                r = start_pings(c);
        if (r < 0) {
                stream_release(s);
                return connect_errno(c, r, "the output cannot be read");
        }
        process_stream_pump(s);
        return 0;
}

void process_connect(ConnectCall *c, const ProtobufCMessage *request) {
        const Process__ConnectRequest *m = (const Process__ConnectRequest *) request;
        Execution *x = process_find(c, m->process, /* ended_too= */ true);

        if (!x)
                return;
        api_about(connect_request(c), x->sandbox, x);
        (void) process_stream(c, x, /* from_now= */ true);
}
