/* process-input.c: SendInput and StreamInput. The answer means that the kernel has taken all of the input. A
 * client that sends faster than the program reads has to wait. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/e2b/envd/process.h"

typedef struct Input {
        ConnectCall *call;
        Execution *writing; /* the process being written to; NULL: none */
        char execution[EXECUTION_ID_MAX]; /* of a stream; "": not named yet */
        size_t size;
        bool stream;
} Input;

static void process_input_destroy(ConnectCall *c, void *state) {
        Input *in = state;

        if (in->writing)
                execution_forget_writer(in->writing, in);
        free(in);
}

static Input *process_input_of(ConnectCall *c, bool stream) {
        Input *in = connect_state(c);

        if (in)
                return in;
        in = calloc(1, sizeof(*in));
        if (!in) {
                (void) connect_errno(c, -ENOMEM, NULL);
                return NULL;
        }
        in->call = c;
        in->stream = stream;
        connect_set_state(c, in, process_input_destroy);
        return in;
}

/* A message of a stream is not answered: more may come. */
static void taken(Input *in) {
        Process__SendInputResponse m = PROCESS__SEND_INPUT_RESPONSE__INIT;

        if (in->stream)
                connect_hold(in->call, false);
        else
                (void) connect_answer(in->call, &m.base);
}

static const char *where(const Execution *x) {
        return x->spec.pty ? "tty" : "stdin";
}

static void process_input_refuse(ConnectCall *c, const Execution *x, int r) {
        const char *words = r == -EBADF  ? "stdin not enabled or closed" :
                            r == -ENOBUFS ? "too much of it is waiting to be read" :
                            r == -EPIPE   ? "broken pipe" :
                                            strerror(-r);

        (void) connect_error(c, r == -ENOBUFS ? CONNECT_RESOURCE_EXHAUSTED : CONNECT_INTERNAL, "error writing to %s: %s", where(x), words);
}

static void process_input_on_written(Execution *x, int r, size_t written, void *userdata) {
        Input *in = userdata;

        in->writing = NULL;
        if (r < 0 || written < in->size)
                process_input_refuse(in->call, x, r < 0 ? r : -EPIPE); /* ended before it has read everything */
        else
                taken(in);
}

/* The call may be over when this returns. */
static void write_input(Input *in, Execution *x, const ProtobufCBinaryData *data) {
        int r;

        in->writing = x;
        in->size = data->len;
        if (in->stream)
                connect_hold(in->call, true);
        r = execution_write(x, data->data ? (const void *) data->data : "", data->len, process_input_on_written, in);
        if (r < 0) {
                in->writing = NULL;
                process_input_refuse(in->call, x, r);
        }
}

static void handle_input(Input *in, Execution *x, const Process__ProcessInput *m) {
        bool pty = m && m->input_case == PROCESS__PROCESS_INPUT__INPUT_PTY;

        if (!m || m->input_case == PROCESS__PROCESS_INPUT__INPUT__NOT_SET)
                (void) connect_error(in->call, CONNECT_UNIMPLEMENTED, "input: stdin or pty was expected");
        else if (pty && !x->spec.pty)
                (void) connect_error(in->call, CONNECT_INTERNAL,
                                "error writing to tty: tty not assigned to process — input should be written to the stdin, not the tty");
        else if (!pty && x->spec.pty)
                (void) connect_error(in->call, CONNECT_INTERNAL,
                                "error writing to stdin: tty assigned to process — input should be written to the pty, not the stdin");
        else
                write_input(in, x, pty ? &m->pty : &m->stdin);
}

void process_send_input(ConnectCall *c, const ProtobufCMessage *request) {
        const Process__SendInputRequest *m = (const Process__SendInputRequest *) request;
        Execution *x = process_find(c, m->process, /* ended_too= */ false);
        Input *in = x ? process_input_of(c, /* stream= */ false) : NULL;

        if (in)
                handle_input(in, x, m->input);
}

static void process_input_stream_start(Input *in, const Process__StreamInputRequest__StartEvent *start) {
        Execution *x = process_find(in->call, start->process, /* ended_too= */ false);

        if (x)
                memcpy(in->execution, x->id, sizeof(in->execution));
}

static void process_input_stream_data(Input *in, const Process__StreamInputRequest__DataEvent *data) {
        Execution *x = in->execution[0] ? manager_find_execution(connect_request(in->call)->sandbox, in->execution) : NULL;

        if (!in->execution[0])
                (void) connect_error(in->call, CONNECT_INVALID_ARGUMENT, "the first message of the stream must be start, which names the process");
        else if (!x || execution_ended(x))
                (void) connect_error(in->call, CONNECT_NOT_FOUND, "the process has ended");
        else
                handle_input(in, x, data->input);
}

void process_stream_input(ConnectCall *c, const ProtobufCMessage *request) {
        const Process__StreamInputRequest *m = (const Process__StreamInputRequest *) request;
        Process__StreamInputResponse answer = PROCESS__STREAM_INPUT_RESPONSE__INIT;
        Input *in = process_input_of(c, /* stream= */ true);

        if (!in)
                return;
        if (!m)
                (void) connect_answer(c, &answer.base);
        else if (m->event_case == PROCESS__STREAM_INPUT_REQUEST__EVENT_START)
                process_input_stream_start(in, m->start);
        else if (m->event_case == PROCESS__STREAM_INPUT_REQUEST__EVENT_DATA)
                process_input_stream_data(in, m->data);
        else if (m->event_case != PROCESS__STREAM_INPUT_REQUEST__EVENT_KEEPALIVE)
                (void) connect_error(c, CONNECT_UNIMPLEMENTED, "invalid event type: start, data or keepalive was expected");
}
