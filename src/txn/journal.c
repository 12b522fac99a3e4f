/* The state that a commit found when it began to move: the name of its staging directory, then lines of "INODE MTIME
 * PATH". */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "txn/plan.h"
#include "txn/record.h"

#define JOURNAL_MAX (1u << 30)

static int64_t txn_journal_nsec_of(const struct timespec *t) {
        return (int64_t) t->tv_sec * 1000000000 + t->tv_nsec;
}

void journal_done(Journal *j) {
        for (size_t i = 0; i < j->n; i++)
                free(j->lines[i].path);
        free(j->lines);
        free(j->staging);
        *j = (Journal) { 0 };
}

static int txn_journal_take_line(Journal *j, char *line) {
        JournalLine found = { 0 };
        int used = 0, r;

        if (!j->staging) {
                if (strncmp(line, "staging=", 8) != 0 || strchr(line, '/') || line[8] != '.')
                        return -EBADMSG;
                j->staging = strdup(line + 8);
                return j->staging ? 0 : -ENOMEM;
        }
        if (sscanf(line, "%" SCNu64 " %" SCNd64 " %n", &found.ino, &found.mtime_nsec, &used) < 2 || used == 0)
                return -EBADMSG;
        r = record_get_text(line + used);
        if (r < 0)
                return r;
        if (ARRAY_RESERVE(j->lines, j->room, j->n + 1) < 0)
                return -ENOMEM;
        found.path = strdup(line + used);
        if (!found.path)
                return -ENOMEM;
        j->lines[j->n++] = found;
        return 0;
}

int journal_load(const Txn *t, Journal *ret, Error *reterr) {
        _cleanup_free_ char *text = NULL;
        bool turned_back = false;
        size_t size;
        int r = file_read_alloc(t->fd, "journal", JOURNAL_MAX, &text, &size);

        if (r == -ENOENT) {
                turned_back = true;
                r = file_read_alloc(t->fd, "turned-back", JOURNAL_MAX, &text, &size);
        }
        if (r == -ENOENT)
                return 0;
        for (char *line = text, *next; r >= 0 && line < text + size; line = next) {
                char *end = line + strcspn(line, "\n");

                next = end + 1;
                *end = '\0';
                r = txn_journal_take_line(ret, line);
        }
        if (turned_back)
                free(TAKE_PTR(ret->staging));
        return r < 0 ? error_set(reterr, r, "'%s/journal': %m", t->path) : 0;
}

/* Moving files there and back has changed their time of change: the next commit must know that this was us. */
void journal_end(const Txn *t, bool done) {
        if (done)
                (void) unlinkat(t->fd, "journal", 0);
        else
                (void) renameat(t->fd, "journal", t->fd, "turned-back");
}

int journal_save(const Txn *t, const char *staging, const TxnPlan *p, Error *reterr) {
        FILE *f = NULL;
        int r = record_begin(t->fd, "journal", &f);

        if (r >= 0) {
                fprintf(f, "staging=%s\n", staging);
                for (size_t i = 0; i < p->n; i++) {
                        const Step *s = p->steps + i;

                        fprintf(f, "%" PRIu64 " %" PRId64 " ", (uint64_t) s->before.st_ino, txn_journal_nsec_of(&s->before.st_mtim));
                        record_put_text(f, s->path);
                        fputc('\n', f);
                }
                r = record_end(t->fd, "journal", f);
        }
        return r < 0 ? error_set(reterr, r, "cannot write '%s/journal': %m", t->path) : 0;
}

/* Lines are in the order of the walk, which is not that of strings. The search is linear: only possible clashes
 * are looked up. */
bool journal_has(const Journal *j, const char *path, const struct stat *now) {
        for (size_t i = 0; i < j->n; i++)
                if (strcmp(j->lines[i].path, path) == 0)
                        return j->lines[i].ino == (uint64_t) now->st_ino &&
                               (S_ISDIR(now->st_mode) || now->st_ino == 0 || j->lines[i].mtime_nsec == txn_journal_nsec_of(&now->st_mtim));
        return false;
}
