/* process-stream.c: an execution as the events of a stream: start, data, end.
 *
 *      execution's watch     there is more to read; it has started; it has ended
 *      sandbox's watch       it is killed, or stands still: the connection goes, and who asks again is told why
 *      drained               the client has read: on with what has been written meanwhile
 *
 * An execution may be gone as soon as it has told its end. So what is still to be said is taken in that moment: the journals are open, their ends are known. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/e2b/envd/process.h"
#include "base/fd.h"
#include "core/mask.h"

#define PIECE_MAX     ((size_t) 32 << 10)
#define PIECE_PTY_MAX ((size_t) 16 << 10)

typedef struct ProcessStreamOutput {
        int fd;
        uint64_t offset;
        uint64_t limit; /* UINT64_MAX while it may grow */
        uint64_t end;   /* of what was written, once it has ended */
} ProcessStreamOutput;

typedef struct ProcessStream {
        ConnectCall *call;
        Execution *execution; /* NULL: it has ended, and may be gone */
        ExecutionWatch watch;
        SandboxWatch sandbox_watch;
        ProcessStreamOutput outputs[_STREAM_MAX];
        Mask *mask; /* when it has ended */
        bool pty, told_start, over;
        int pid;

        /* How it ended. */
        ExecutionReason reason;
        int exit_code, signal, cwd_error;
        char status[PROCESS_TEXT_MAX];
        char *message, *command, *cwd;
} ProcessStream;

static void stream_release(ProcessStream *s) {
        execution_unwatch(&s->watch);
        sandbox_unwatch(&s->sandbox_watch);
        s->execution = NULL;
        for (ExecutionStream i = 0; i < _STREAM_MAX; i++)
                s->outputs[i].fd = fd_close(s->outputs[i].fd);
        s->mask = mask_unref(s->mask);
}

static void process_stream_destroy(ConnectCall *c, void *state) {
        ProcessStream *s = state;

        stream_release(s);
        free(s->message);
        free(s->command);
        free(s->cwd);
        free(s);
}

/* Events. Both methods' answers look the same. */

static int process_stream_send_event(ProcessStream *s, Process__ProcessEvent *event) {
        Process__StartResponse m = PROCESS__START_RESPONSE__INIT;

        m.event = event;
        return connect_send(s->call, &m.base);
}

static int process_stream_send_start(ProcessStream *s) {
        Process__ProcessEvent__StartEvent start = PROCESS__PROCESS_EVENT__START_EVENT__INIT;
        Process__ProcessEvent event = PROCESS__PROCESS_EVENT__INIT;

        start.has_pid = true;
        start.pid = (uint32_t) s->pid;
        event.event_case = PROCESS__PROCESS_EVENT__EVENT_START;
        event.start = &start;
        s->told_start = true;
        return process_stream_send_event(s, &event);
}

static int send_data(ProcessStream *s, ExecutionStream stream, uint8_t *data, size_t size) {
        Process__ProcessEvent event = PROCESS__PROCESS_EVENT__INIT;
        Process__ProcessEvent__DataEvent output;

        process__process_event__data_event__init(&output);
        output.output_case = s->pty              ? PROCESS__PROCESS_EVENT__DATA_EVENT__OUTPUT_PTY :
                             stream == STREAM_STDOUT ? PROCESS__PROCESS_EVENT__DATA_EVENT__OUTPUT_STDOUT :
                                                       PROCESS__PROCESS_EVENT__DATA_EVENT__OUTPUT_STDERR;
        output.stdout = (ProtobufCBinaryData) { size, data }; /* the three share their place */
        event.event_case = PROCESS__PROCESS_EVENT__EVENT_DATA;
        event.data = &output;
        return process_stream_send_event(s, &event);
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

/* It has never run. */
static void tell_failure(ProcessStream *s) {
        if (s->cwd_error == ENOENT)
                (void) connect_error(s->call, CONNECT_INVALID_ARGUMENT, "cwd '%s' does not exist", s->cwd ? s->cwd : "");
        else
                (void) connect_error(s->call, s->reason == EXECUTION_REASON_INTERNAL ? CONNECT_INTERNAL : CONNECT_INVALID_ARGUMENT,
                                "error starting process '%s': %s", s->command ? s->command : "", s->message ? s->message : "it could not be started");
}

/* All of its output has been said. */
static void process_stream_tell_end(ProcessStream *s) {
        s->over = true;
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
                if (!s->told_start)
                        tell_failure(s);
                else if (s->signal == 0 && s->exit_code < 0)
                        (void) connect_error(s->call, CONNECT_INTERNAL, "%s", s->message ? s->message : "how it ended is not known");
                else
                        (void) send_end(s);
        }
        stream_release(s);
}

/* Output. */

static ssize_t process_stream_read_output(ProcessStream *s, ExecutionStream stream, uint8_t *buffer, size_t size) {
        ProcessStreamOutput *o = s->outputs + stream;
        ssize_t n;

        if (o->fd < 0 || o->offset >= o->limit)
                return 0;
        size = (size_t) MIN_OF((uint64_t) size, o->limit - o->offset);
        if (s->execution)
                return execution_read_output(s->execution, stream, o->fd, buffer, size, o->offset);
        n = mask_pread(s->mask, o->fd, o->end, /* final= */ true, buffer, size, o->offset);
        if (n == 0)
                o->limit = o->offset; /* shorter than it was said to be: then this is its end */
        return n;
}

/* 1: there was something; 0: nothing for now. */
static int process_stream_pass_on(ProcessStream *s, ExecutionStream stream) {
        uint8_t data[PIECE_MAX];
        ssize_t n = process_stream_read_output(s, stream, data, s->pty ? PIECE_PTY_MAX : PIECE_MAX);
        int r;

        if (n <= 0)
                return (int) n;
        s->outputs[stream].offset += (uint64_t) n;
        r = send_data(s, stream, data, (size_t) n);
        return r < 0 ? r : 1;
}

static bool process_stream_is_drained(const ProcessStream *s) {
        for (ExecutionStream i = 0; i < _STREAM_MAX; i++)
                if (s->outputs[i].fd >= 0 && s->outputs[i].offset < s->outputs[i].limit)
                        return false;
        return !s->execution;
}

static int pump_output(ProcessStream *s) {
        int r = 1;

        while (r > 0 && connect_backlog(s->call) <= CONNECT_HIGH) {
                r = 0;
                for (ExecutionStream i = 0; i < _STREAM_MAX; i++) {
                        int k = process_stream_pass_on(s, i);

                        if (k < 0)
                                return k;
                        r |= k;
                }
        }
        return 0;
}

static void process_stream_pump(ProcessStream *s) {
        int r = 0;

        if (s->over)
                return;
        if (!s->told_start && s->pid > 0)
                r = process_stream_send_start(s);
        if (r >= 0 && !s->told_start && s->execution)
                return; /* its first words may be here before the word that it has started */
        if (r >= 0)
                r = pump_output(s);
        if (r < 0 && r != -ESHUTDOWN) {
                s->over = true;
                (void) connect_errno(s->call, r, "the output cannot be read");
                stream_release(s);
        } else if (r == -ESHUTDOWN) { /* its deadline has passed, or its connection is broken off */
                s->over = true;
                stream_release(s);
        } else if (process_stream_is_drained(s))
                process_stream_tell_end(s);
}

static void process_stream_on_drained(ConnectCall *c, void *state) {
        process_stream_pump(state);
}

/* What happens. */

static void process_stream_take_end(ProcessStream *s, Execution *x) {
        for (ExecutionStream i = 0; i < _STREAM_MAX; i++)
                s->outputs[i].end = s->outputs[i].limit = s->outputs[i].fd >= 0 ? execution_output_size(x, i, s->outputs[i].fd) : 0;
        s->mask = mask_ref(x->sandbox->mask);
        s->pid = x->pid;
        s->reason = x->reason;
        s->exit_code = x->exit_code;
        s->signal = x->signal;
        s->cwd_error = x->cwd_error;
        process_status_text(x, s->status);
        s->message = x->message ? strdup(x->message) : NULL;
        s->command = x->spec.args.n > 0 ? strdup(x->spec.args.items[0]) : NULL;
        s->cwd = x->spec.cwd ? strdup(x->spec.cwd) : NULL;
        execution_unwatch(&s->watch);
        s->execution = NULL;
}

static void process_stream_on_changed(Execution *x, void *userdata) {
        ProcessStream *s = userdata;

        s->pid = x->pid;
        if (execution_ended(x))
                process_stream_take_end(s, x);
        process_stream_pump(s);
}

static void process_stream_on_sandbox(Sandbox *sb, Execution *x, void *userdata) {
        ProcessStream *s = userdata;

        if (x || s->over || sandbox_is_up(sb) || sb->status == SANDBOX_INITIALIZING)
                return;
        s->over = true;
        connect_break(s->call);
        stream_release(s);
}

static int open_outputs(ProcessStream *s, Execution *x, bool from_now) {
        for (ExecutionStream i = 0; i < (x->spec.pty ? STREAM_STDERR : _STREAM_MAX); i++) {
                ProcessStreamOutput *o = s->outputs + i;

                if (execution_ended(x) && (from_now || x->journals[i].bytes == 0))
                        continue;
                o->fd = execution_open_output(x, i);
                if (o->fd < 0) {
                        int r = o->fd;

                        o->fd = -EBADF;
                        return r;
                }
                o->limit = UINT64_MAX;
                o->offset = from_now ? execution_output_size(x, i, o->fd) : 0;
        }
        return 0;
}

static int start_watching(ProcessStream *s, Execution *x) {
        s->sandbox_watch = (SandboxWatch) { .changed = process_stream_on_sandbox, .userdata = s };
        sandbox_watch(x->sandbox, &s->sandbox_watch);
        if (execution_ended(x)) {
                process_stream_take_end(s, x);
                return 0;
        }
        s->watch = (ExecutionWatch) { .changed = process_stream_on_changed, .userdata = s, .follow = true };
        return execution_watch(x, &s->watch); /* before the first read, so that nothing is missed after it */
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
        *s = (ProcessStream) {
                .call = c,
                .execution = x,
                .outputs = { { .fd = -EBADF }, { .fd = -EBADF } },
                .pty = x->spec.pty,
                .pid = x->pid,
        };
        connect_set_state(c, s, process_stream_destroy);
        connect_on_drained(c, process_stream_on_drained);
        r = open_outputs(s, x, from_now);
        if (r >= 0)
                r = start_watching(s, x);
        if (r >= 0)
                r = start_pings(c);
        if (r < 0) {
                s->over = true;
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
