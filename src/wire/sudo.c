#include "wire/sudo.h"

#include <errno.h>
#include <stdbool.h>

#include "wire/codec.h"

#define ERROR_MAX  4095 /* the kernel's */
#define SIGNAL_MAX 64
#define STATUS_MAX 0xffff
#define COUNT_MAX  (4u << 20) /* no string is shorter than its NUL */

size_t sudo_n_fds(uint32_t flags) {
        return 3u + (flags & SUDO_TERMINAL ? 1 : 0) + (flags & SUDO_BLOB ? 1 : 0);
}

static void put_run(WireWriter *w, const SudoMessage *m) {
        const SudoRun *q = &m->run;

        wire_put_uint(w, q->flags, 4);
        wire_put_uint(w, q->uid, 4);
        wire_put_uint(w, q->gid, 4);
        wire_put_uint(w, q->n_args, 4);
        wire_put_uint(w, q->n_env, 4);
        if (q->flags & SUDO_BLOB)
                wire_put_bytes(w, "", 0);
        else
                wire_put_bytes(w, q->strings, q->strings_size);
}

static bool get_run(WireReader *r, SudoMessage *m) {
        SudoRun *q = &m->run;

        q->flags = (uint32_t) wire_get_uint(r, 4);
        q->uid = (uint32_t) wire_get_uint(r, 4);
        q->gid = (uint32_t) wire_get_uint(r, 4);
        q->n_args = (uint32_t) wire_get_uint(r, 4);
        q->n_env = (uint32_t) wire_get_uint(r, 4);
        wire_get_bytes(r, &q->strings, &q->strings_size);
        if (r->failed || (q->flags & ~(uint32_t) SUDO_FLAGS_ALL) || q->n_args == 0 || q->n_args > COUNT_MAX || q->n_env > COUNT_MAX)
                return false;
        if (!(q->flags & SUDO_BLOB))
                return q->strings_size > 0 && q->strings_size <= SUDO_INLINE_MAX;
        if (q->strings_size > 0)
                return false;
        q->strings = NULL;
        return true;
}

static void sudo_put_signal(WireWriter *w, const SudoMessage *m) {
        wire_put_uint(w, (uint32_t) m->signal, 4);
}

static bool sudo_get_signal(WireReader *r, SudoMessage *m) {
        m->signal = (int32_t) (uint32_t) wire_get_uint(r, 4);
        return m->signal > 0 && m->signal <= SIGNAL_MAX;
}

static void sudo_put_started(WireWriter *w, const SudoMessage *m) {
        wire_put_uint(w, (uint32_t) m->pid, 4);
}

static bool sudo_get_started(WireReader *r, SudoMessage *m) {
        m->pid = (int32_t) (uint32_t) wire_get_uint(r, 4);
        return m->pid > 0;
}

static void put_failed(WireWriter *w, const SudoMessage *m) {
        wire_put_uint(w, (uint32_t) m->failed.error, 4);
        wire_put_string(w, m->failed.step, SUDO_STEP_MAX);
        wire_put_string(w, m->failed.detail, SUDO_DETAIL_MAX);
}

static bool get_failed(WireReader *r, SudoMessage *m) {
        m->failed.error = (int32_t) (uint32_t) wire_get_uint(r, 4);
        wire_get_string(r, m->failed.step, SUDO_STEP_MAX);
        wire_get_string(r, m->failed.detail, SUDO_DETAIL_MAX);
        return m->failed.error > 0 && m->failed.error <= ERROR_MAX;
}

static void sudo_put_exited(WireWriter *w, const SudoMessage *m) {
        wire_put_uint(w, (uint32_t) m->wait_status, 4);
}

static bool sudo_get_exited(WireReader *r, SudoMessage *m) {
        m->wait_status = (int32_t) (uint32_t) wire_get_uint(r, 4);
        return m->wait_status >= 0 && m->wait_status <= STATUS_MAX;
}

static const struct {
        void (*put)(WireWriter *w, const SudoMessage *m);
        bool (*get)(WireReader *r, SudoMessage *m);
} types[_SUDO_TYPE_MAX] = {
        [SUDO_RUN] = { put_run, get_run },
        [SUDO_SIGNAL] = { sudo_put_signal, sudo_get_signal },
        [SUDO_STARTED] = { sudo_put_started, sudo_get_started },
        [SUDO_FAILED] = { put_failed, get_failed },
        [SUDO_EXITED] = { sudo_put_exited, sudo_get_exited },
};

ssize_t sudo_encode(const SudoMessage *m, uint8_t *buffer, size_t size) {
        WireWriter w = { .p = buffer, .end = buffer + size };

        wire_put_uint(&w, m->type, 2);
        wire_put_uint(&w, 0, 2);
        types[m->type].put(&w, m);
        return w.failed ? -E2BIG : w.p - buffer;
}

int sudo_decode(const uint8_t *data, size_t size, SudoMessage *ret) {
        WireReader r = { .p = data, .end = data + size };
        SudoMessage m = { 0 };
        uint64_t type = wire_get_uint(&r, 2), reserved = wire_get_uint(&r, 2);

        if (r.failed || reserved != 0 || type >= _SUDO_TYPE_MAX || !types[type].get)
                return -EBADMSG;
        m.type = (SudoType) type;
        if (!types[type].get(&r, &m) || !wire_reader_at_end(&r))
                return -EBADMSG;
        *ret = m;
        return 0;
}
