#include "archive/survey.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/hash.h"
#include "archive/tar.h"
#include "archive/transfer.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/ignore.h"

#define CHUNK_SIZE  (256 * 1024)
#define BUFFER_SIZE (64 * 1024)

typedef struct ArchiveSurvey {
        TarReader *reader;
        int to;
        const Strv *taken;
        Strv ignored;
        uint64_t n;
        char out[BUFFER_SIZE];
        size_t out_size;
        char *head; /* the first bytes of the file, CHUNK_SIZE of room */
        size_t head_size;
        char *kept; /* the whole file, if requested */
        size_t kept_size;
} ArchiveSurvey;

static void survey_done(ArchiveSurvey *s) {
        strv_done(&s->ignored);
        tar_reader_free(s->reader);
        free(s->head);
        free(s->kept);
}

static int flush_out(ArchiveSurvey *s, Error *reterr) {
        int r = fd_write_all(s->to, s->out, s->out_size);

        s->out_size = 0;
        return r < 0 ? error_set(reterr, r, "cannot write the survey: %m") : 0;
}

static int survey_put(ArchiveSurvey *s, const void *data, size_t size, Error *reterr) {
        int r = 0;

        if (s->out_size + size > sizeof(s->out))
                r = flush_out(s, reterr);
        if (r < 0)
                return r;
        if (size > sizeof(s->out)) {
                r = fd_write_all(s->to, data, size);
                return r < 0 ? error_set(reterr, r, "cannot write the survey: %m") : 0;
        }
        memcpy(s->out + s->out_size, data, size);
        s->out_size += size;
        return 0;
}

static bool is_taken(const ArchiveSurvey *s, const char *path) {
        for (size_t i = 0; i < s->taken->n; i++)
                if (strcmp(s->taken->items[i], path) == 0)
                        return true;
        return false;
}

static int survey_keep(ArchiveSurvey *s, const char *path, const char *data, size_t n, Error *reterr) {
        char *larger;

        if (s->kept_size + n > SURVEY_TAKEN_MAX)
                return error_set(reterr, -E2BIG, "%.200s: has more than %d bytes", path, SURVEY_TAKEN_MAX);
        larger = realloc(s->kept, s->kept_size + n + 1);
        if (!larger)
                return error_set(reterr, -ENOMEM, "out of memory");
        s->kept = larger;
        memcpy(s->kept + s->kept_size, data, n);
        s->kept_size += n;
        return 0;
}

/* Hashes the whole file, and keeps its first bytes in s->head. */
static int survey_read_file(ArchiveSurvey *s, const FileEntry *e, char ret_hash[static HASH_HEX], uint64_t *ret_size, Error *reterr) {
        static char buffer[CHUNK_SIZE];
        const bool taken = is_taken(s, e->path);
        Hash hash;

        *ret_size = 0;
        s->head_size = s->kept_size = 0;
        hash_begin(&hash);
        for (;;) {
                ssize_t n = tar_reader_data(s->reader, buffer, sizeof(buffer), reterr);
                int r = 0;

                if (n < 0)
                        return (int) n;
                if (n == 0)
                        break;
                if (s->head_size < CHUNK_SIZE) {
                        size_t k = MIN_OF((size_t) n, CHUNK_SIZE - s->head_size);

                        memcpy(s->head + s->head_size, buffer, k);
                        s->head_size += k;
                }
                hash_add(&hash, buffer, (size_t) n);
                *ret_size += (uint64_t) n;
                if (taken)
                        r = survey_keep(s, e->path, buffer, (size_t) n, reterr);
                if (r < 0)
                        return r;
        }
        hash_end(&hash, ret_hash);
        return 0;
}

static int survey_put_record(ArchiveSurvey *s, const FileEntry *e, Error *reterr) {
        const bool ignored = s->ignored.n > 0 && ignore_has(&s->ignored, e->path), file = S_ISREG(e->mode) && !e->hard && (!ignored || is_taken(s, e->path));
        char hash[HASH_HEX] = "-", line[128], type = e->hard ? 'h' : S_ISDIR(e->mode) ? 'd' : S_ISLNK(e->mode) ? 'l' : 'f';
        uint64_t size = 0;
        int r = 0;

        if (file)
                r = survey_read_file(s, e, hash, &size, reterr);
        if (r < 0)
                return r;
        (void) snprintf(line, sizeof(line), "%c %o %llu %c %s", type, (unsigned) (e->mode & 07777), (unsigned long long) size,
                        ignored ? 'i' : file && tar_looks_like(s->head, s->head_size) ? 't' : '-', hash);
        r = survey_put(s, line, strlen(line) + 1, reterr);
        if (r >= 0)
                r = survey_put(s, e->path, strlen(e->path) + 1, reterr);
        if (r >= 0)
                r = survey_put(s, e->target, strlen(e->target) + 1, reterr);
        if (r < 0 || !file || !is_taken(s, e->path))
                return r;
        (void) snprintf(line, sizeof(line), "= %zu", s->kept_size);
        r = survey_put(s, line, strlen(line) + 1, reterr);
        if (r >= 0)
                r = survey_put(s, e->path, strlen(e->path) + 1, reterr);
        if (r >= 0)
                r = survey_put(s, s->kept_size > 0 ? s->kept : "", s->kept_size, reterr);
        return r < 0 ? r : survey_put(s, "", 1, reterr);
}

static int survey_put_all(ArchiveSurvey *s, Error *reterr) {
        static FileEntry e;
        char line[32];
        int r;

        for (;;) {
                r = tar_reader_next(s->reader, &e, reterr);
                if (r <= 0)
                        break;
                r = transfer_check_entry(&e, reterr);
                if (r < 0)
                        return r;
                if (e.path[0] == '\0' || S_ISFIFO(e.mode))
                        continue; /* the top directory; entries without content to survey, such as pipes */
                if (++s->n > SURVEY_MEMBERS_MAX)
                        return error_set(reterr, -E2BIG, "has more than %d members", SURVEY_MEMBERS_MAX);
                r = survey_put_record(s, &e, reterr);
                if (r < 0)
                        return r;
        }
        if (r < 0)
                return r;
        (void) snprintf(line, sizeof(line), ". %llu", (unsigned long long) s->n);
        r = survey_put(s, line, strlen(line) + 1, reterr);
        return r < 0 ? r : flush_out(s, reterr);
}

/* Reads the file with the ignore patterns in a first pass. It may be the last member, and the patterns apply
 * to all of them. */
static int read_patterns(ArchiveSurvey *s, int from, const char *name, Error *reterr) {
        const Strv only = { .items = (char *[]) { (char *) name, NULL }, .n = 1 };
        const Strv *taken = s->taken;
        static FileEntry e;
        char hash[HASH_HEX];
        uint64_t size;
        int r = tar_reader_new(from, &s->reader, reterr);

        s->taken = &only;
        while (r >= 0 && (r = tar_reader_next(s->reader, &e, reterr)) > 0) {
                if (path_clean_below(e.path) < 0 || strcmp(e.path, name) != 0 || !S_ISREG(e.mode) || e.hard)
                        continue;
                r = survey_read_file(s, &e, hash, &size, reterr);
                strv_done(&s->ignored);
                if (r >= 0)
                        r = ignore_parse(s->kept ? s->kept : "", s->kept_size, &s->ignored);
                if (r == -E2BIG)
                        (void) error_set(reterr, r, "%s has more than %d lines", name, IGNORE_PATTERNS_MAX);
        }
        s->taken = taken;
        s->reader = tar_reader_free(s->reader);
        if (r >= 0 && lseek(from, 0, SEEK_SET) < 0)
                r = error_set(reterr, -errno, "cannot read the archive again: %m");
        return r;
}

int survey_write(int from, int to, const Strv *taken, const char *ignore, Error *reterr) {
        static ArchiveSurvey s;
        int r;

        s = (ArchiveSurvey) { .to = to, .taken = taken, .head = malloc(CHUNK_SIZE) };
        if (!s.head)
                return error_set(reterr, -ENOMEM, "out of memory");
        r = ignore ? read_patterns(&s, from, ignore, reterr) : 0;
        if (r >= 0)
                r = tar_reader_new(from, &s.reader, reterr);
        if (r >= 0)
                r = survey_put_all(&s, reterr);
        survey_done(&s);
        return r;
}

int survey_member(int from, int to, const char *path, Error *reterr) {
        _cleanup_(tar_reader_freep) TarReader *reader = NULL;
        static FileEntry e;
        static char buffer[CHUNK_SIZE];
        int r = tar_reader_new(from, &reader, reterr);

        while (r >= 0 && (r = tar_reader_next(reader, &e, reterr)) > 0) {
                r = transfer_check_entry(&e, reterr);
                if (r < 0 || !S_ISREG(e.mode) || e.hard || strcmp(e.path, path) != 0)
                        continue;
                for (;;) {
                        ssize_t n = tar_reader_data(reader, buffer, sizeof(buffer), reterr);

                        if (n <= 0)
                                return (int) n;
                        r = fd_write_all(to, buffer, (size_t) n);
                        if (r < 0)
                                return error_set(reterr, r, "cannot pass '%.200s' on: %m", path);
                }
        }
        return r < 0 ? r : error_set(reterr, -ENOENT, "%.400s: there is no such file in it", path);
}
