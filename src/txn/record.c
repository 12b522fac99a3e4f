/* The record of a transaction: lines of name=value. Ambiguous bytes are written as %XX. */

#include "base/text.h"
#include "txn/record.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/parse.h"

#define RECORD_MAX (4 << 20)

void record_put_text(FILE *f, const char *text) {
        for (const unsigned char *p = (const unsigned char *) text; *p; p++)
                if (*p < ' ' || *p == '%' || *p == 0x7f)
                        fprintf(f, "%%%02x", *p);
                else
                        fputc(*p, f);
}

int record_get_text(char *text) {
        char *out = text;

        for (const char *p = text; *p; p++) {
                int high, low;

                if (*p != '%') {
                        *out++ = *p;
                        continue;
                }
                high = hex_digit(p[1]);
                low = high < 0 ? -1 : hex_digit(p[2]);
                if (low < 0 || high * 16 + low == 0)
                        return -EBADMSG;
                *out++ = (char) (high * 16 + low);
                p += 2;
        }
        *out = '\0';
        return 0;
}

/* Written beside the old one, and then put in its place. */
int record_begin(int dirfd, const char *name, FILE **ret) {
        char temporary[64];
        FILE *f;
        int fd;

        (void) snprintf(temporary, sizeof(temporary), "%s.new", name);
        fd = openat(dirfd, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0)
                return -errno;
        f = fdopen(fd, "w");
        if (!f) {
                (void) fd_close(fd);
                return -ENOMEM;
        }
        *ret = f;
        return 0;
}

int record_end(int dirfd, const char *name, FILE *f) {
        char temporary[64];
        bool failed = fflush(f) != 0 || ferror(f) || fdatasync(fileno(f)) < 0;
        int r = failed ? -errno : 0;

        (void) snprintf(temporary, sizeof(temporary), "%s.new", name);
        if (fclose(f) != 0 && r >= 0)
                r = -errno;
        if (r >= 0 && renameat(dirfd, temporary, dirfd, name) < 0)
                r = -errno;
        if (r < 0)
                (void) unlinkat(dirfd, temporary, 0);
        return r;
}

static void txn_record_put_line(FILE *f, const char *name, const char *value) {
        fprintf(f, "%s=", name);
        record_put_text(f, value);
        fputc('\n', f);
}

int txn_save(const Txn *t, Error *reterr) {
        FILE *f = NULL;
        int r = record_begin(t->fd, "record", &f);

        if (r >= 0) {
                txn_record_put_line(f, "dir", t->dir);
                txn_record_put_line(f, "target", t->target ? t->target : "");
                fprintf(f, "dev=%" PRIu64 "\nino=%" PRIu64 "\nsince=%" PRIu64 "\nended=%" PRIu64 "\n", t->dev, t->ino, t->since_nsec,
                                t->ended_usec);
                fprintf(f, "uid=%u\ngid=%u\nruns=%u\n", t->uid, t->gid, t->runs);
                if (t->status != TXN_STATUS_NONE)
                        fprintf(f, "status=%d\n", t->status);
                for (size_t i = 0; i < t->command.n; i++)
                        txn_record_put_line(f, "word", t->command.items[i]);
                r = record_end(t->fd, "record", f);
        }
        return r < 0 ? error_set(reterr, r, "cannot write '%s/record': %m", t->path) : 0;
}

static int txn_record_take_text(char **place, const char *value) {
        free(*place);
        *place = strdup(value);
        return *place ? 0 : -ENOMEM;
}

static int txn_record_take_line(Txn *t, const char *name, char *value) {
        const struct {
                const char *name;
                uint64_t *wide;
                uint32_t *narrow;
        } numbers[] = {
                { "dev",   &t->dev,        NULL     },
                { "ino",   &t->ino,        NULL     },
                { "since", &t->since_nsec, NULL     },
                { "ended", &t->ended_usec, NULL     },
                { "uid",   NULL,           &t->uid  },
                { "gid",   NULL,           &t->gid  },
                { "runs",  NULL,           &t->runs },
        };
        uint64_t n;
        int r = record_get_text(value);

        if (r < 0)
                return r;
        if (strcmp(name, "dir") == 0)
                return txn_record_take_text(&t->dir, value);
        if (strcmp(name, "target") == 0)
                return txn_record_take_text(&t->target, value);
        if (strcmp(name, "word") == 0)
                return strv_push(&t->command, value);
        if (strcmp(name, "status") == 0) {
                r = parse_uint64(value, 0, 255, &n);
                t->status = r < 0 ? TXN_STATUS_NONE : (int) n;
                return r;
        }
        for (size_t i = 0; i < ELEMENTSOF(numbers); i++) {
                if (strcmp(name, numbers[i].name) != 0)
                        continue;
                r = parse_uint64(value, 0, numbers[i].wide ? UINT64_MAX : UINT32_MAX, &n);
                if (r >= 0 && numbers[i].wide)
                        *numbers[i].wide = n;
                else if (r >= 0)
                        *numbers[i].narrow = (uint32_t) n;
                return r;
        }
        return 0; /* of a later version */
}

int record_load(Txn *t, Error *reterr) {
        _cleanup_free_ char *text = NULL;
        size_t size;
        int r = file_read_alloc(t->fd, "record", RECORD_MAX, &text, &size);

        for (char *line = text, *next; r >= 0 && line < text + size; line = next) {
                char *end = line + strcspn(line, "\n"), *equals;

                next = end + 1;
                *end = '\0';
                equals = strchr(line, '=');
                if (!equals) {
                        r = -EBADMSG;
                        break;
                }
                *equals = '\0';
                r = txn_record_take_line(t, line, equals + 1);
        }
        if (r >= 0 && (!t->dir || t->dir[0] != '/' || t->ino == 0))
                r = -EBADMSG;
        if (r < 0)
                return error_set(reterr, r, "'%s/record' cannot be read: %m; `cove discard %s` removes the transaction", t->path, t->id);
        return 0;
}
