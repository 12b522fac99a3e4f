/* put.c: stores artifacts: writes the bytes in slices to a file of the directory, then the row. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utlist.h>

#include "artifact/internal.h"
#include "base/fd.h"
#include "base/log.h"
#include "core/mask.h"
#include "core/output.h"
#include "core/turn.h"
#include "base/text.h"
#include "artifact/rows.h"

#define SLICE    ((size_t) 256 << 10)
#define PUTS_MAX 10000 /* the most that wait; their bytes are in journals, or few */

struct Put {
        Artifact row;
        int from, to;
        OutputReader *output; /* used instead of `from` */
        char *data;           /* likewise */
        uint64_t offset, done_bytes, left;
        Mask *mask; /* of `from` */
        uint64_t end;
        LedgerEntry reserved; /* for all bytes, from the request on */
        SecretSha256 hash;
        ArtifactDone done;
        void *userdata;
        Put *prev, *next;
};

static void put_free(Artifacts *a, Put *p) {
        (void) fd_close(p->from);
        (void) output_close(p->output);
        if (p->to >= 0) {
                (void) fd_close(p->to);
                local_remove(a, p->row.id);
        }
        free(p->data);
        mask_unref(p->mask);
        ledger_release(&p->reserved);
        artifact_done(&p->row);
        free(p);
}

void puts_free(Artifacts *a) {
        Put *p, *next;

        DL_FOREACH_SAFE(a->puts, p, next)
                put_free(a, p);
        a->puts = NULL;
        sd_event_source_disable_unref(a->put_source);
        free(a->buffer);
}

void puts_forget(Artifacts *a, void *userdata) {
        Put *p;

        DL_FOREACH(a->puts, p)
                if (p->userdata == userdata)
                        p->done = NULL;
}

unsigned puts_of_owner(const Artifacts *a, const char *kind, const char *owner) {
        const Put *p;
        unsigned n = 0;

        DL_FOREACH(a->puts, p)
                n += strcmp(p->row.owner_kind, kind) == 0 && strcmp(p->row.owner_id, owner) == 0;
        return n;
}

static void unlink_put(Artifacts *a, Put *p) {
        DL_DELETE(a->puts, p);
        a->n_puts--;
}

/* The owner is gone: artifacts that wait are finished without being stored. */
void puts_drop_owner(Artifacts *a, const char *kind, const char *owner) {
        Put *p, *next;

        DL_FOREACH_SAFE(a->puts, p, next)
                if (strcmp(p->row.owner_kind, kind) == 0 && strcmp(p->row.owner_id, owner) == 0) {
                        unlink_put(a, p);
                        if (p->done)
                                p->done(-ECANCELED, NULL, "its owner was deleted", p->userdata);
                        put_free(a, p);
                }
}

static int write_slice(Put *p, char *buffer) {
        size_t want = (size_t) MIN_OF((uint64_t) SLICE, p->left);
        const char *bytes = p->data ? p->data + p->done_bytes : buffer;
        ssize_t n = (ssize_t) want;
        int r;

        if (!p->data)
                n = mask_read(p->mask, p->output ? output_read : mask_read_fd, p->output ? (void *) p->output : &p->from, p->end, /* final= */ true, buffer,
                                want, p->offset + p->done_bytes);
        if (n < 0)
                return (int) n;
        secret_sha256_add(&p->hash, bytes, (size_t) n);
        r = fd_write_all(p->to, bytes, (size_t) n);
        if (r < 0)
                return r;
        p->done_bytes += (uint64_t) n;
        p->left = n == 0 ? 0 : p->left - (uint64_t) n; /* shorter than at the request: then this is its end */
        return 0;
}

/* Writes the row, when all bytes are in the file. */
static int put_finish(Artifacts *a, Put *p) {
        uint8_t sum[SECRET_SHA256_SIZE];
        int r;

        secret_sha256_end(&p->hash, sum);
        secret_hex(sum, sizeof(sum), p->row.sha256);
        p->row.size = p->done_bytes;
        p->row.state = artifacts_config(a)->s3 && a->outbound ? ARTIFACT_PENDING : ARTIFACT_LOCAL;
        r = store_artifact_insert(a->manager->store, &p->row);
        if (r < 0)
                return r;
        p->to = fd_close(p->to); /* from here on the file belongs to its row */
        a->stats.count++;
        a->stats.bytes += p->row.size;
        ledger_release(&p->reserved);
        artifacts_hold(a, p->row.tenant, (int64_t) p->row.size);
        if (p->row.state == ARTIFACT_PENDING) {
                a->stats.pending++;
                uploads_wake(a);
        }
        return 0;
}

static int put_step(Artifacts *a, Put *p, char *buffer) {
        int r;

        if (p->to < 0) {
                p->to = local_create(a, p->row.id);
                if (p->to < 0) {
                        r = p->to;
                        p->to = -EBADF;
                        return r;
                }
                secret_sha256_begin(&p->hash);
        }
        r = write_slice(p, buffer);
        if (r < 0)
                return r;
        return p->left > 0 ? 1 : put_finish(a, p);
}

/* Stores one slice of the first. A large one delays only those behind it. */
static int on_put(sd_event_source *source, uint64_t usec, void *userdata) {
        Artifacts *a = userdata;
        Put *p = a->puts;
        int r;

        if (!p)
                return 0;
        r = put_step(a, p, a->buffer);
        if (r > 0)
                return turn_again(source);
        unlink_put(a, p);
        if (r < 0) {
                char text[512];

                (void) snprintf(text, sizeof(text), "artifact '%.100s' of %s %s cannot be kept: %s", p->row.name, p->row.owner_kind,
                                p->row.owner_id, strerror(-r));
                artifacts_note_error(a, text);
                log_warning("%s", text);
        }
        if (p->done)
                p->done(r, r < 0 ? NULL : &p->row, r < 0 ? strerror(-r) : NULL, p->userdata);
        put_free(a, p);
        expire_for_room(a);
        return a->puts ? turn_again(source) : 0;
}

/* Checks. */

static bool is_utf8(const char *text) {
        bool cut;

        return utf8_prefix(text, strlen(text), &cut) == strlen(text);
}

static int put_check_name(const char *name, Error *reterr) {
        size_t n = name ? strlen(name) : 0;

        if (n == 0 || n > ARTIFACT_NAME_MAX)
                return error_set(reterr, -EINVAL, "the name of an artifact has 1 to %d bytes", ARTIFACT_NAME_MAX);
        if (!is_utf8(name))
                return error_set(reterr, -EINVAL, "the name of an artifact is UTF-8");
        for (const char *p = name; *p; p++)
                if ((unsigned char) *p < 0x20 || *p == 0x7f)
                        return error_set(reterr, -EINVAL, "the name of an artifact has no control characters");
        for (const char *part = name; part; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL) {
                size_t size = strcspn(part, "/");

                if (size == 0 || (size <= 2 && strncmp(part, "..", size) == 0))
                        return error_set(reterr, -EINVAL, "'%.100s': a part of an artifact's name is empty, '.' or '..'", name);
        }
        return 0;
}

static int check_text(const char *what, const char *text, size_t max, Error *reterr) {
        if (!text || !*text || strlen(text) > max || !is_utf8(text))
                return error_set(reterr, -EINVAL, "the %s of an artifact has 1 to %zu bytes of UTF-8", what, max);
        return 0;
}

static int check_spec(Artifacts *a, const ArtifactSpec *s, Error *reterr) {
        uint64_t n = 0;
        int r;

        if (!artifacts_config(a)->enabled)
                return error_set(reterr, -EOPNOTSUPP, "artifacts are not kept: artifacts.enabled is false");
        r = check_text("owner", s->owner_id, ARTIFACT_OWNER_MAX, reterr);
        if (r >= 0)
                r = check_text("owner", s->owner_kind, ARTIFACT_OWNER_MAX, reterr);
        if (r >= 0 && s->type)
                r = check_text("type", s->type, ARTIFACT_TYPE_MAX, reterr);
        if (r >= 0)
                r = put_check_name(s->name, reterr);
        if (r < 0)
                return r;
        r = store_artifact_count(a->manager->store, s->owner_kind, s->owner_id, &n);
        if (r < 0)
                return error_set(reterr, r, "cannot count artifacts: %s", strerror(-r));
        if (n + puts_of_owner(a, s->owner_kind, s->owner_id) >= artifacts_config(a)->files_max)
                return error_set(reterr, -EDQUOT, "%s %s has %u artifacts already, and may not have more (artifacts.maxFiles)", s->owner_kind,
                                s->owner_id, artifacts_config(a)->files_max);
        return a->n_puts < PUTS_MAX ? 0 : error_set(reterr, -EBUSY, "too many artifacts are being written");
}

/* Determines the size, and how much of it is stored. */
static int put_measure(Artifacts *a, const ArtifactSpec *s, Put *p, Error *reterr) {
        uint64_t size = s->size, max = artifacts_config(a)->file_bytes_max;
        struct stat st;
        int r;

        if (s->fd >= 0) {
                if (fstat(s->fd, &st) < 0)
                        return error_set(reterr, -errno, "artifact '%.100s': %m", s->name);
                if (!S_ISREG(st.st_mode))
                        return error_set(reterr, -EINVAL, "artifact '%.100s': not a file", s->name);
                size = (uint64_t) st.st_size > s->offset ? MIN_OF((uint64_t) st.st_size - s->offset, s->size) : 0;
        }
        if (size > max && !s->truncate)
                return error_set(reterr, -EFBIG, "artifact '%.100s' has %llu bytes, at most %llu are kept (artifacts.maxFileSize)", s->name,
                                (unsigned long long) size, (unsigned long long) max);
        p->row.truncated = size > max;
        p->left = MIN_OF(size, max);
        p->offset = s->offset;
        r = ledger_reserve(a->manager, &p->reserved, s->tenant, LEDGER_ARTIFACT, p->left, reterr);
        return r < 0 ? error_prefix(reterr, r, "artifact '%.100s'", s->name) : 0;
}

static int copy_spec(Artifacts *a, const ArtifactSpec *s, Put *p) {
        p->row.id[0] = 'a';
        secret_random_hex(p->row.id + 1, ARTIFACT_ID_LENGTH - 1);
        (void) snprintf(p->row.owner_kind, sizeof(p->row.owner_kind), "%s", s->owner_kind);
        (void) snprintf(p->row.owner_id, sizeof(p->row.owner_id), "%s", s->owner_id);
        (void) snprintf(p->row.tenant, sizeof(p->row.tenant), "%s", s->tenant ? s->tenant : "");
        (void) snprintf(p->row.name, sizeof(p->row.name), "%s", s->name);
        (void) snprintf(p->row.type, sizeof(p->row.type), "%s", s->type ? s->type : "application/octet-stream");
        p->row.created_at = clock_wall_usec();
        if (s->fd >= 0 || s->output)
                return 0;
        p->data = malloc((size_t) p->left + 1);
        if (!p->data)
                return -ENOMEM;
        if (p->left > 0)
                memcpy(p->data, s->data, (size_t) p->left);
        return 0;
}

static int artifact_put(Artifacts *a, const ArtifactSpec *s, ArtifactDone done, void *userdata, Error *reterr) {
        Put *p;
        int r = check_spec(a, s, reterr);

        if (r < 0)
                return r;
        p = calloc(1, sizeof(*p));
        if (!p)
                return error_set(reterr, -ENOMEM, "out of memory");
        p->from = p->to = -EBADF;
        p->done = done;
        p->userdata = userdata;
        r = put_measure(a, s, p, reterr);
        if (r >= 0) {
                r = copy_spec(a, s, p);
                if (r < 0)
                        (void) error_set(reterr, r, "out of memory");
        }
        if (r >= 0) {
                r = turn_again(a->put_source);
                if (r < 0)
                        (void) error_set(reterr, r, "the daemon is ending");
        }
        if (r < 0) {
                put_free(a, p);
                return r;
        }
        p->from = s->fd;
        p->output = s->output;
        p->mask = mask_ref(s->mask);
        p->end = s->mask ? s->offset + s->size : UINT64_MAX;
        DL_APPEND(a->puts, p);
        a->n_puts++;
        return 0;
}

int artifacts_put(Artifacts *a, const ArtifactSpec *spec, ArtifactDone done, void *userdata, Error *reterr) {
        int r = artifact_put(a, spec, done, userdata, reterr);

        if (r < 0) {
                (void) fd_close(spec->fd);
                (void) output_close(spec->output);
        }
        return r;
}

int puts_start(Artifacts *a, Error *reterr) {
        int r;

        a->buffer = malloc(SLICE);
        if (!a->buffer)
                return error_set(reterr, -ENOMEM, "out of memory");
        r = turn_new(a->manager->event, &a->put_source, on_put, a);

        return r < 0 ? error_set(reterr, r, "cannot add artifacts to the loop: %s", strerror(-r)) : 0;
}
