#include "wire/guest.h"

#include <errno.h>

#include "wire/codec.h"
#include "wire/file.h"
#include "wire/network.h"

#define ERROR_MAX      4095 /* the kernel's */
#define SIGNAL_MAX     64
#define EXEC_FLAGS_ALL (GUEST_EXEC_PTY | GUEST_EXEC_STDIN | GUEST_EXEC_BLOB | GUEST_EXEC_STAY | GUEST_EXEC_CHANNEL)

static void guest_put_nothing(WireWriter *w, const GuestMessage *m) {
}

static bool guest_get_nothing(WireReader *r, GuestMessage *m) {
        return true;
}

/* One number: of an execution, microseconds, a set of guards. All of them are the first eight bytes of the union. */
static void put_number(WireWriter *w, const GuestMessage *m) {
        wire_put_uint(w, m->exec_id, 8);
}

static bool get_number(WireReader *r, GuestMessage *m) {
        m->exec_id = wire_get_uint(r, 8);
        return true;
}

static bool exec_is_sane(const GuestExec *e) {
        if (e->flags & ~(uint32_t) EXEC_FLAGS_ALL)
                return false;
        if (e->flags & GUEST_EXEC_CHANNEL && e->flags & GUEST_EXEC_PTY)
                return false;
        return e->flags & GUEST_EXEC_BLOB ? e->strings_size == 0 : e->strings_size <= GUEST_INLINE_MAX;
}

static void put_exec(WireWriter *w, const GuestMessage *m) {
        const GuestExec *e = &m->exec;

        if (!exec_is_sane(e))
                w->failed = true;
        wire_put_uint(w, e->exec, 8);
        wire_put_uint(w, e->flags, 4);
        wire_put_uint(w, e->uid, 4);
        wire_put_uint(w, e->gid, 4);
        wire_put_uint(w, e->columns, 2);
        wire_put_uint(w, e->rows, 2);
        wire_put_uint(w, e->timeout_usec, 8);
        wire_put_uint(w, e->output_max, 8);
        wire_put_uint(w, e->nofile, 8);
        wire_put_uint(w, e->n_args, 4);
        wire_put_uint(w, e->n_env, 4);
        wire_put_bytes(w, e->strings, e->strings_size);
}

static bool get_exec(WireReader *r, GuestMessage *m) {
        GuestExec *e = &m->exec;

        *e = (GuestExec) { 0 };
        e->exec = wire_get_uint(r, 8);
        e->flags = (uint32_t) wire_get_uint(r, 4);
        e->uid = (uint32_t) wire_get_uint(r, 4);
        e->gid = (uint32_t) wire_get_uint(r, 4);
        e->columns = (uint16_t) wire_get_uint(r, 2);
        e->rows = (uint16_t) wire_get_uint(r, 2);
        e->timeout_usec = wire_get_uint(r, 8);
        e->output_max = wire_get_uint(r, 8);
        e->nofile = wire_get_uint(r, 8);
        e->n_args = (uint32_t) wire_get_uint(r, 4);
        e->n_env = (uint32_t) wire_get_uint(r, 4);
        wire_get_bytes(r, &e->strings, &e->strings_size);
        if (e->flags & GUEST_EXEC_BLOB)
                e->strings = NULL;
        return exec_is_sane(e);
}

static void guest_put_signal(WireWriter *w, const GuestMessage *m) {
        wire_put_uint(w, m->signal.exec, 8);
        wire_put_uint(w, (uint32_t) m->signal.signal, 4);
}

static bool guest_get_signal(WireReader *r, GuestMessage *m) {
        m->signal.exec = wire_get_uint(r, 8);
        m->signal.signal = (int32_t) wire_get_uint(r, 4);
        return m->signal.signal > 0 && m->signal.signal <= SIGNAL_MAX;
}

static void put_kill(WireWriter *w, const GuestMessage *m) {
        wire_put_uint(w, (uint32_t) m->kill.pid, 4);
        wire_put_uint(w, (uint32_t) m->kill.signal, 4);
}

static bool get_kill(WireReader *r, GuestMessage *m) {
        m->kill.pid = (int32_t) wire_get_uint(r, 4);
        m->kill.signal = (int32_t) wire_get_uint(r, 4);
        return m->kill.pid > 1 && m->kill.signal > 0 && m->kill.signal <= SIGNAL_MAX;
}

static void put_kept(WireWriter *w, const GuestMessage *m) {
        wire_put_uint(w, m->kept.number, 4);
        wire_put_uint(w, (uint32_t) m->kept.pid, 4);
        wire_put_string(w, m->kept.text, GUEST_KEPT_TEXT_MAX);
}

static bool get_kept(WireReader *r, GuestMessage *m) {
        m->kept.text[0] = '\0';
        m->kept.number = (uint32_t) wire_get_uint(r, 4);
        m->kept.pid = (int32_t) wire_get_uint(r, 4);
        wire_get_string(r, m->kept.text, GUEST_KEPT_TEXT_MAX);
        return m->kept.pid > 1 || (m->type == GUEST_KEPT && m->kept.pid == 0);
}

static void put_resize(WireWriter *w, const GuestMessage *m) {
        wire_put_uint(w, m->resize.exec, 8);
        wire_put_uint(w, m->resize.columns, 2);
        wire_put_uint(w, m->resize.rows, 2);
}

static bool get_resize(WireReader *r, GuestMessage *m) {
        m->resize.exec = wire_get_uint(r, 8);
        m->resize.columns = (uint16_t) wire_get_uint(r, 2);
        m->resize.rows = (uint16_t) wire_get_uint(r, 2);
        return true;
}

static void guest_put_file(WireWriter *w, const GuestMessage *m) {
        const FileRequest *f = &m->file;

        wire_put_uint(w, f->operation, 2);
        wire_put_uint(w, f->flags, 4);
        wire_put_uint(w, f->uid, 4);
        wire_put_uint(w, f->gid, 4);
        wire_put_uint(w, f->mode, 4);
        wire_put_uint(w, f->owner, 4);
        wire_put_uint(w, f->group, 4);
        wire_put_uint(w, f->depth, 4);
        wire_put_uint(w, f->limit, 8);
        wire_put_string(w, f->path, FILE_PATH_BYTES);
        wire_put_string(w, f->target, FILE_PATH_BYTES);
        if (f->flags & FILE_SET_LABELS)
                wire_put_bytes(w, f->labels, f->labels_size);
}

static bool guest_get_file(WireReader *r, GuestMessage *m) {
        FileRequest *f = &m->file;

        f->path[0] = f->target[0] = '\0';
        f->labels = NULL;
        f->labels_size = 0;
        f->operation = (uint16_t) wire_get_uint(r, 2);
        f->flags = (uint32_t) wire_get_uint(r, 4);
        f->uid = (uint32_t) wire_get_uint(r, 4);
        f->gid = (uint32_t) wire_get_uint(r, 4);
        f->mode = (uint32_t) wire_get_uint(r, 4);
        f->owner = (uint32_t) wire_get_uint(r, 4);
        f->group = (uint32_t) wire_get_uint(r, 4);
        f->depth = (uint32_t) wire_get_uint(r, 4);
        f->limit = wire_get_uint(r, 8);
        wire_get_string(r, f->path, FILE_PATH_BYTES);
        wire_get_string(r, f->target, FILE_PATH_BYTES);
        if (f->flags & FILE_SET_LABELS)
                wire_get_bytes(r, &f->labels, &f->labels_size);
        return f->operation >= FILE_STAT && f->operation < _FILE_OPERATION_MAX && file_labels_check(f->labels, f->labels_size);
}

static void guest_put_started(WireWriter *w, const GuestMessage *m) {
        wire_put_uint(w, m->started.exec, 8);
        wire_put_uint(w, (uint32_t) m->started.pid, 4);
        wire_put_uint(w, m->started.flags, 4);
}

static bool guest_get_started(WireReader *r, GuestMessage *m) {
        m->started.exec = wire_get_uint(r, 8);
        m->started.pid = (int32_t) wire_get_uint(r, 4);
        m->started.flags = (uint32_t) wire_get_uint(r, 4);
        return m->started.pid > 0 && !(m->started.flags & ~(uint32_t) EXEC_FLAGS_ALL);
}

static void put_exec_failed(WireWriter *w, const GuestMessage *m) {
        wire_put_uint(w, m->exec_failed.exec, 8);
        wire_put_uint(w, (uint32_t) m->exec_failed.error, 4);
        wire_put_string(w, m->exec_failed.step, GUEST_STEP_MAX);
        wire_put_string(w, m->exec_failed.detail, GUEST_DETAIL_MAX);
}

static bool get_exec_failed(WireReader *r, GuestMessage *m) {
        m->exec_failed.exec = wire_get_uint(r, 8);
        m->exec_failed.error = (int32_t) wire_get_uint(r, 4);
        wire_get_string(r, m->exec_failed.step, GUEST_STEP_MAX);
        wire_get_string(r, m->exec_failed.detail, GUEST_DETAIL_MAX);
        return m->exec_failed.error > 0 && m->exec_failed.error <= ERROR_MAX;
}

static void guest_put_exited(WireWriter *w, const GuestMessage *m) {
        const GuestExited *e = &m->exited;

        wire_put_uint(w, e->exec, 8);
        wire_put_uint(w, (uint32_t) e->wait_status, 4);
        wire_put_uint(w, e->timed_out, 1);
        wire_put_uint(w, e->disk_full, 1);
        wire_put_uint(w, e->out_truncated, 1);
        wire_put_uint(w, e->err_truncated, 1);
        wire_put_uint(w, e->out_bytes, 8);
        wire_put_uint(w, e->err_bytes, 8);
        wire_put_uint(w, e->wall_usec, 8);
        wire_put_uint(w, e->user_usec, 8);
        wire_put_uint(w, e->system_usec, 8);
        wire_put_uint(w, e->max_rss_bytes, 8);
}

static bool guest_get_exited(WireReader *r, GuestMessage *m) {
        GuestExited *e = &m->exited;

        e->exec = wire_get_uint(r, 8);
        e->wait_status = (int32_t) wire_get_uint(r, 4);
        e->timed_out = (uint8_t) wire_get_uint(r, 1);
        e->disk_full = (uint8_t) wire_get_uint(r, 1);
        e->out_truncated = (uint8_t) wire_get_uint(r, 1);
        e->err_truncated = (uint8_t) wire_get_uint(r, 1);
        e->out_bytes = wire_get_uint(r, 8);
        e->err_bytes = wire_get_uint(r, 8);
        e->wall_usec = wire_get_uint(r, 8);
        e->user_usec = wire_get_uint(r, 8);
        e->system_usec = wire_get_uint(r, 8);
        e->max_rss_bytes = wire_get_uint(r, 8);
        return e->timed_out <= 1 && e->disk_full <= 1 && e->out_truncated <= 1 && e->err_truncated <= 1 &&
               e->out_bytes <= INT64_MAX && e->err_bytes <= INT64_MAX && e->wall_usec <= INT64_MAX &&
               e->user_usec <= INT64_MAX && e->system_usec <= INT64_MAX && e->max_rss_bytes <= INT64_MAX;
}

static void put_stdin(WireWriter *w, const GuestMessage *m) {
        wire_put_uint(w, m->stdin_.exec, 8);
        wire_put_uint(w, (uint32_t) m->stdin_.error, 4);
}

static bool get_stdin(WireReader *r, GuestMessage *m) {
        m->stdin_.exec = wire_get_uint(r, 8);
        m->stdin_.error = (int32_t) wire_get_uint(r, 4);
        return m->stdin_.error >= 0 && m->stdin_.error <= ERROR_MAX;
}

static void put_sockets(WireWriter *w, const GuestMessage *m) {
        wire_put_uint(w, m->shape, 1);
}

static bool get_sockets(WireReader *r, GuestMessage *m) {
        m->shape = (uint8_t) wire_get_uint(r, 1);
        return m->shape < _SPAWN_NETWORK_MAX;
}

static void guest_put_address(WireWriter *w, const uint8_t address[static 16]) {
        for (size_t i = 0; i < 16; i++)
                wire_put_uint(w, address[i], 1);
}

static void get_address(WireReader *r, uint8_t ret[static 16]) {
        for (size_t i = 0; i < 16; i++)
                ret[i] = (uint8_t) wire_get_uint(r, 1);
}

static void put_socket(WireWriter *w, const GuestMessage *m) {
        const GuestSocket *s = &m->socket;

        wire_put_uint(w, s->token, 8);
        wire_put_uint(w, s->kind, 1);
        guest_put_address(w, s->local);
        guest_put_address(w, s->remote);
        wire_put_uint(w, s->local_port, 2);
        wire_put_uint(w, s->remote_port, 2);
}

static bool get_socket(WireReader *r, GuestMessage *m) {
        GuestSocket *s = &m->socket;

        s->token = wire_get_uint(r, 8);
        s->kind = (uint8_t) wire_get_uint(r, 1);
        get_address(r, s->local);
        get_address(r, s->remote);
        s->local_port = (uint16_t) wire_get_uint(r, 2);
        s->remote_port = (uint16_t) wire_get_uint(r, 2);
        return (s->kind == GUEST_SOCKET_TCP || s->kind == GUEST_SOCKET_UDP) && s->remote_port != 0;
}

static void put_socket_made(WireWriter *w, const GuestMessage *m) {
        wire_put_uint(w, m->socket_made.token, 8);
        wire_put_uint(w, (uint32_t) m->socket_made.error, 4);
}

static bool get_socket_made(WireReader *r, GuestMessage *m) {
        m->socket_made.token = wire_get_uint(r, 8);
        m->socket_made.error = (int32_t) wire_get_uint(r, 4);
        return m->socket_made.error >= 0 && m->socket_made.error <= ERROR_MAX;
}

/* A type that is not here does not exist. */
static const struct {
        void (*put)(WireWriter *w, const GuestMessage *m);
        bool (*get)(WireReader *r, GuestMessage *m); /* false: a value that nobody would send */
} types[_GUEST_TYPE_MAX] = {
        [GUEST_EXEC]        = { put_exec,        get_exec        },
        [GUEST_SIGNAL]      = { guest_put_signal,      guest_get_signal      },
        [GUEST_RESIZE]      = { put_resize,      get_resize      },
        [GUEST_STDIN_OPEN]  = { put_number,      get_number      },
        [GUEST_STDIN_CLOSE] = { put_number,      get_number      },
        [GUEST_FORGET]      = { put_number,      get_number      },
        [GUEST_LIST]        = { guest_put_nothing,     guest_get_nothing     },
        [GUEST_STOP]        = { put_number,      get_number      },
        [GUEST_FILE]        = { guest_put_file,        guest_get_file        },
        [GUEST_NETWORK]     = { guest_put_nothing,     guest_get_nothing     },
        [GUEST_SOCKET]      = { put_socket,      get_socket      },
        [GUEST_CHANNEL_OPEN] = { put_number,     get_number      },
        [GUEST_KEEP]        = { put_kept,        get_kept        },
        [GUEST_KEPT_ASK]    = { put_number,      get_number      },
        [GUEST_KILL]        = { put_kill,        get_kill        },
        [GUEST_READY]       = { put_number,      get_number      },
        [GUEST_STARTED]     = { guest_put_started,     guest_get_started     },
        [GUEST_EXEC_FAILED] = { put_exec_failed, get_exec_failed },
        [GUEST_EXITED]      = { guest_put_exited,      guest_get_exited      },
        [GUEST_STDIN]       = { put_stdin,       get_stdin       },
        [GUEST_END]         = { guest_put_nothing,     guest_get_nothing     },
        [GUEST_STOPPED]     = { guest_put_nothing,     guest_get_nothing     },
        [GUEST_SOCKETS]     = { put_sockets,     get_sockets     },
        [GUEST_SOCKET_MADE] = { put_socket_made, get_socket_made },
        [GUEST_CHANNEL]     = { put_stdin,       get_stdin       },
        [GUEST_KEPT]        = { put_kept,        get_kept        },
};

ssize_t guest_encode(const GuestMessage *message, uint8_t *buffer, size_t size) {
        WireWriter w = { .p = buffer, .end = buffer + size };

        if (message->type >= _GUEST_TYPE_MAX || !types[message->type].put)
                return -EINVAL;
        wire_put_uint(&w, message->type, 2);
        wire_put_uint(&w, 0, 2);
        types[message->type].put(&w, message);
        return w.failed ? -ENOSPC : w.p - buffer;
}

int guest_decode(const uint8_t *data, size_t size, GuestMessage *ret) {
        WireReader r = { .p = data, .end = data + size };
        uint64_t type = wire_get_uint(&r, 2), reserved = wire_get_uint(&r, 2);
        GuestMessage m;

        if (r.failed || reserved != 0 || type >= _GUEST_TYPE_MAX || !types[type].get)
                return -EBADMSG;
        m.type = (GuestType) type;
        if (!types[type].get(&r, &m) || !wire_reader_at_end(&r))
                return -EBADMSG;

        *ret = m;
        return 0;
}
