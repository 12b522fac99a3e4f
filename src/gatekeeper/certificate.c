/* certificate.c: makes a sandbox's programs trust its authority.
 *
 *      read the sandbox's list of authorities → write ours beside it → write the list with ours at its end
 *
 * The files go to the place where programs look. If that cannot be written (a plain user's sandbox, a
 * directory of the host), they go to another place, which the environment of executions names. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "core/fileop.h"
#include "gatekeeper/internal.h"

#define LIST_MAX (8 << 20)
#define SYSTEM_LIST "/etc/ssl/certs/ca-certificates.crt"

/* Where our certificate and the list may lie, best first. */
static const char *const places[][2] = {
        { "/etc/ssl/certs/cove-ca.pem", SYSTEM_LIST                     },
        { "/etc/ssl/cove-ca.pem",       "/etc/ssl/cove-ca-bundle.pem"   },
        { "/home/user/.cove/ca.pem",    "/home/user/.cove/ca-bundle.pem" },
        { "/tmp/.cove/ca.pem",          "/tmp/.cove/ca-bundle.pem"      },
};

typedef struct Certification {
        Seat *seat;
        FileOp *op;
        sd_event_source *soon; /* reports the end from the loop, not from within a call */
        char *list;            /* the system's list, later with ours appended */
        size_t list_size;
        const char *data;      /* of the present write */
        size_t data_size;
        size_t place;
        unsigned step; /* 0: the list is read, 1: ours, 2: the list is written */
        Error error;
} Certification;

struct Certification *certification_free(struct Certification *c) {
        if (!c)
                return NULL;
        fileop_free(c->op);
        c->soon = sd_event_source_disable_unref(c->soon);
        free(c->list);
        free(c);
        return NULL;
}

static void certificate_next_step(Certification *c);

static void certificate_finish(Certification *c, int error, const char *why) {
        Seat *s = c->seat;
        Error failure = { 0 };

        if (error >= 0) {
                free(s->bundle_path);
                s->bundle_path = strdup(places[c->place][1]);
                seat_certified(s, NULL);
                return;
        }
        (void) error_set(&failure, error, "its authority cannot be put into it (%s): %s", c->step == 1 ? places[c->place][0] : places[c->place][1], why);
        seat_certified(s, &failure);
}

/* Files. */

static uint32_t owner(const Sandbox *sb) {
        return sb->manager->provider->one_user ? sb->spec.uid : 0;
}

static void certificate_on_entry(FileOp *op, const FileEntry *entry, int fd, void *userdata) {
        Certification *c = userdata;
        _cleanup_close_ int file = fd;
        ssize_t n;

        if (file < 0 || entry->size > LIST_MAX)
                return;
        c->list = malloc(entry->size + 1);
        if (!c->list)
                return;
        n = fd_read_full(file, c->list, entry->size);
        c->list_size = n > 0 ? (size_t) n : 0;
}

static bool may_be_elsewhere(int error) {
        return error == -EROFS || error == -EACCES || error == -EPERM || error == -ENOENT || error == -ENOTDIR;
}

static void certificate_on_end(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        Certification *c = userdata;

        c->op = fileop_free(c->op);
        if (c->step > 0 && error < 0 && may_be_elsewhere(error) && c->place + 1 < ELEMENTSOF(places)) {
                c->place++;
                c->step = 0;
        } else if (c->step > 0 && error < 0) {
                certificate_finish(c, error, strerror(-error));
                return;
        }
        c->step++;
        certificate_next_step(c);
}

static const FileOpHandlers handlers = { .entry = certificate_on_entry, .end = certificate_on_end };

static int certificate_start(Certification *c, uint16_t operation, const char *path) {
        Sandbox *sb = c->seat->sandbox;
        FileRequest request = {
                .operation = operation,
                .flags = operation == FILE_WRITE ? FILE_PARENTS : 0,
                .uid = owner(sb),
                .gid = sb->manager->provider->one_user ? sb->spec.gid : 0,
                .mode = operation == FILE_WRITE ? 0644 : FILE_MODE_NONE,
                .owner = FILE_ID_NONE,
                .group = FILE_ID_NONE,
        };
        int r;

        (void) snprintf(request.path, sizeof(request.path), "%s", path);
        r = fileop_start(sb, &request, &handlers, c, &c->op, &c->error);
        if (r < 0 || operation != FILE_WRITE)
                return r;
        r = fileop_write_all(c->op, c->data, c->data_size);
        return r == -EPIPE ? 0 : r; /* the end of the operation reports the reason */
}

/* Appends our certificate to the list, unless it is there already. */
static int complete_list(Certification *c) {
        const char *ours = c->seat->certificate;
        size_t n = strlen(ours);
        char *list;

        if (c->list && memmem(c->list, c->list_size, ours, n))
                return 0;
        list = realloc(c->list, c->list_size + n + 2);
        if (!list)
                return -ENOMEM;
        c->list = list;
        if (c->list_size > 0 && list[c->list_size - 1] != '\n')
                list[c->list_size++] = '\n';
        memcpy(list + c->list_size, ours, n);
        c->list_size += n;
        return 0;
}

static int on_soon(sd_event_source *source, void *userdata) {
        Certification *c = userdata;

        certificate_finish(c, c->error.code, c->error.text);
        return 0;
}

static void certificate_next_step(Certification *c) {
        int r = 0;

        if (c->step == 0)
                r = certificate_start(c, FILE_READ, SYSTEM_LIST);
        else if (c->step == 1) {
                c->data = c->seat->certificate;
                c->data_size = strlen(c->data);
                r = certificate_start(c, FILE_WRITE, places[c->place][0]);
        } else if (c->step == 2) {
                r = complete_list(c);
                c->data = c->list;
                c->data_size = c->list_size;
                if (r >= 0)
                        r = certificate_start(c, FILE_WRITE, places[c->place][1]);
        }
        if (r >= 0 && c->step < 3)
                return;
        if (r < 0 && c->error.code >= 0)
                (void) error_set(&c->error, r, "%m");
        if (sd_event_add_defer(c->seat->keeper->manager->event, &c->soon, on_soon, c) < 0) /* not from within */
                certificate_finish(c, -ENOMEM, "out of memory");
}

int certification_start(Seat *s) {
        Certification *c = calloc(1, sizeof(*c));

        if (!c)
                return -ENOMEM;
        c->seat = s;
        s->certification = c;
        certificate_next_step(c);
        return 0;
}

int certificate_environment(const Seat *s, Strv *env) {
        /* The last one is in addition to Node.js's own list, which has not the host's authorities. */
        static const char *const variables[] = { "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",     "GIT_SSL_CAINFO",
                                                 "PIP_CERT",      "npm_config_cafile",  "NODE_EXTRA_CA_CERTS" };

        if (!s->certificate || !s->bundle_path)
                return 0;
        for (size_t i = 0; i < ELEMENTSOF(variables); i++) {
                char assignment[256];
                int r;

                (void) snprintf(assignment, sizeof(assignment), "%s=%s", variables[i], s->bundle_path);
                r = strv_set_env(env, assignment);
                if (r < 0)
                        return r;
        }
        return 0;
}
