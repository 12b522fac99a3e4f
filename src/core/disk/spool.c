#include "core/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"

struct Spool {
        unsigned n_ref;
        Manager *manager;
        int fd;
        uint64_t size;
        LedgerEntry charge;
        char tenant[]; /* "": none */
};

int spool_new(Manager *m, const char *tenant, Spool **ret, Error *reterr) {
        size_t size = strlen(tenant ? tenant : "") + 1;
        _cleanup_spool_ Spool *s = calloc(1, sizeof(*s) + size);
        int r;

        if (!s)
                return error_set(reterr, -ENOMEM, "out of memory");
        *s = (Spool) { .n_ref = 1, .manager = m, .fd = -EBADF };
        memcpy(s->tenant, tenant ? tenant : "", size);
        r = ledger_reserve(m, &s->charge, s->tenant, LEDGER_SPOOL, 0, reterr);
        if (r < 0)
                return r;
        s->fd = open(m->config.state_dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (s->fd < 0)
                return error_set(reterr, -errno, "cannot store the upload: %m");
        *ret = TAKE_PTR(s);
        return 0;
}

Spool *spool_ref(Spool *s) {
        if (s)
                s->n_ref++;
        return s;
}

Spool *spool_unref(Spool *s) {
        if (!s || --s->n_ref > 0)
                return NULL;
        (void) fd_close(s->fd);
        ledger_release(&s->charge);
        free(s);
        return NULL;
}

int spool_write(Spool *s, const void *data, size_t size, Error *reterr) {
        int r = ledger_reserve(s->manager, &s->charge, s->tenant, LEDGER_SPOOL, s->size + size, reterr);

        if (r < 0)
                return r;
        r = fd_write_all(s->fd, data, size);
        if (r < 0)
                return error_set(reterr, r, "cannot store the upload: %s", strerror(-r));
        s->size += size;
        return 0;
}

int spool_rewind(Spool *s) {
        return lseek(s->fd, 0, SEEK_SET) < 0 ? -errno : 0;
}

int spool_fd(const Spool *s) {
        return s ? s->fd : -EBADF;
}

uint64_t spool_size(const Spool *s) {
        return s ? s->size : 0;
}
