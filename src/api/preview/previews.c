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
        uint8_t key[SECRET_KEY_SIZE];
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

static int previews_load_key(Previews *p, Error *reterr) {
        _cleanup_close_ int dir = open(p->manager->config.state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (dir < 0)
                return error_set(reterr, -errno, "cannot open '%s': %m", p->manager->config.state_dir);
        return secret_load_key(dir, KEY_FILE, "signed links end then", p->key, reterr);
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
