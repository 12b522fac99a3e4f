/* previews.c: public ports, and the key that signs links. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uthash.h>

#include "api/preview/preview.h"
#include "base/fd.h"
#include "core/observer.h"
#include "core/secret.h"
#include "api/preview/rows.h"

#define KEY_FILE "preview.key"

typedef struct PublicPort {
        StorePreview row;
        UT_hash_handle hh; /* key: the row, with its padding filled with zeros */
} PublicPort;

struct Previews {
        Manager *manager;
        uint8_t key[SECRET_SHA256_SIZE];
        PublicPort *public;
};

static StorePreview make_row(const char *id, uint16_t port) {
        StorePreview row;

        memset(&row, 0, sizeof(row));
        (void) snprintf(row.sandbox, sizeof(row.sandbox), "%s", id);
        row.port = port;
        return row;
}

static PublicPort *previews_find(const Previews *p, const char *id, uint16_t port) {
        StorePreview row = make_row(id, port);
        PublicPort *found;

        HASH_FIND(hh, p->public, &row, sizeof(row), found);
        return found;
}

static int previews_remember(const StorePreview *row, void *userdata) {
        Previews *p = userdata;
        PublicPort *port = calloc(1, sizeof(*port));

        if (!port)
                return -ENOMEM;
        port->row = make_row(row->sandbox, (uint16_t) row->port);
        HASH_ADD(hh, p->public, row, sizeof(port->row), port);
        return 0;
}

/* Reads the digits of the key. An invalid file is not replaced, because all links would break without
 * notice. */
static int previews_read_key(int dir_fd, uint8_t key[static SECRET_SHA256_SIZE], Error *reterr) {
        char text[2 * SECRET_SHA256_SIZE + 2];
        ssize_t n = file_read(dir_fd, KEY_FILE, text, sizeof(text));

        if (n == -ENOENT)
                return -ENOENT;
        if (n < 0)
                return error_set(reterr, (int) n, "cannot read " KEY_FILE ": %m");
        for (size_t i = 0; i < SECRET_SHA256_SIZE; i++) {
                unsigned byte;

                if (sscanf(text + 2 * i, "%2x", &byte) != 1)
                        return error_set(reterr, -EBADMSG, KEY_FILE " holds no key: remove it to get a new one (signed links end then)");
                key[i] = (uint8_t) byte;
        }
        return 0;
}

static int previews_make_key(int dir_fd, Error *reterr) {
        char text[2 * SECRET_SHA256_SIZE + 2];
        _cleanup_close_ int fd = openat(dir_fd, KEY_FILE ".new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
        int r;

        if (fd < 0)
                return error_set(reterr, -errno, "cannot make " KEY_FILE ": %m");
        secret_random_hex(text, 2 * SECRET_SHA256_SIZE);
        text[2 * SECRET_SHA256_SIZE] = '\n';
        r = fd_write_all(fd, text, 2 * SECRET_SHA256_SIZE + 1);
        secret_wipe(text, sizeof(text));
        if (r >= 0 && (fsync(fd) < 0 || renameat(dir_fd, KEY_FILE ".new", dir_fd, KEY_FILE) < 0))
                r = -errno;
        return r < 0 ? error_set(reterr, r, "cannot write " KEY_FILE ": %m") : 0;
}

static int previews_load_key(Previews *p, Error *reterr) {
        _cleanup_close_ int dir = open(p->manager->config.state_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
        int r;

        if (dir < 0)
                return error_set(reterr, -errno, "cannot open '%s': %m", p->manager->config.state_dir);
        r = previews_read_key(dir, p->key, reterr);
        if (r != -ENOENT)
                return r;
        r = previews_make_key(dir, reterr);
        return r < 0 ? r : previews_read_key(dir, p->key, reterr);
}

int previews_new(Manager *m, Previews **ret, Error *reterr) {
        Previews *p = calloc(1, sizeof(*p));
        int r;

        if (!p)
                return error_set(reterr, -ENOMEM, "out of memory");
        p->manager = m;
        r = previews_load_key(p, reterr);
        if (r >= 0) {
                r = store_previews(m->store, previews_remember, p);
                if (r < 0)
                        (void) error_set(reterr, r, "cannot read which previews are public: %m");
        }
        if (r < 0) {
                previews_free(p);
                return r;
        }
        *ret = p;
        return 0;
}

static void previews_forget(Previews *p, PublicPort *port) {
        HASH_DELETE(hh, p->public, port);
        free(port);
}

Previews *previews_free(Previews *p) {
        PublicPort *port, *next;

        if (!p)
                return NULL;
        HASH_ITER(hh, p->public, port, next)
                previews_forget(p, port);
        secret_wipe(p->key, sizeof(p->key));
        free(p);
        return NULL;
}

/* The store deletes rows with their sandbox. Entries left in memory have no effect, because ids are never
 * reused. They are removed here. */
static void previews_sweep(Previews *p) {
        PublicPort *port, *next;

        HASH_ITER(hh, p->public, port, next)
                if (!manager_by_id(p->manager, port->row.sandbox))
                        previews_forget(p, port);
}

bool previews_is_public(const Previews *p, const char *id, uint16_t port) {
        return previews_find(p, id, port) != NULL;
}

int previews_set_public(Previews *p, const Sandbox *sb, uint16_t port, bool public, Error *reterr) {
        StorePreview row = make_row(sb->id, port);
        PublicPort *there = previews_find(p, sb->id, port);
        int r;

        if (public == (there != NULL))
                return 0;
        previews_sweep(p);
        r = public ? store_preview_insert(p->manager->store, &row) : store_preview_delete(p->manager->store, &row);
        if (r >= 0 && public)
                r = previews_remember(&row, p);
        else if (r >= 0)
                previews_forget(p, there);
        return r < 0 ? error_set(reterr, r, "cannot save it: %m") : 0;
}

const uint8_t *previews_key(const Previews *p) {
        return p->key;
}
