/* audit-read.c: reads the log's files line by line, and filters records. */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/directory.h"
#include "base/fd.h"
#include "observe/audit-chain.h"

#define BUFFER_SIZE ((size_t) 64 << 10)
#define FILES_MAX   1000000
#define NAME_FORMAT "audit-%06u.jsonl"

void audit_file_name(unsigned number, char ret[32]) {
        (void) snprintf(ret, 32, NAME_FORMAT, number);
}

static int audit_read_by_number(const void *a, const void *b) {
        unsigned x = *(const unsigned *) a, y = *(const unsigned *) b;

        return x < y ? -1 : x > y;
}

static bool is_audit_file(const char *name, unsigned *ret) {
        char again[32];

        if (sscanf(name, "audit-%u.jsonl", ret) != 1)
                return false;
        audit_file_name(*ret, again);
        return strcmp(again, name) == 0;
}

static int audit_read_add_number(AuditFiles *f, size_t *room, unsigned number) {
        if (f->n >= FILES_MAX)
                return -E2BIG;
        if (ARRAY_RESERVE(f->numbers, *room, f->n + 1) < 0)
                return -ENOMEM;
        f->numbers[f->n++] = number;
        return 0;
}

int audit_files_list(int dirfd, AuditFiles *ret) {
        _cleanup_directory_ DIR *directory = directory_open(dirfd, ".");
        AuditFiles f = { 0 };
        const struct dirent *entry;
        size_t room = 0;
        unsigned number;
        int r = directory ? 0 : -errno;

        while (r >= 0 && (entry = directory_next(directory)))
                if (is_audit_file(entry->d_name, &number))
                        r = audit_read_add_number(&f, &room, number);
        if (r < 0) {
                audit_files_done(&f);
                return r;
        }
        if (f.n > 0)
                qsort(f.numbers, f.n, sizeof(*f.numbers), audit_read_by_number);
        *ret = f;
        return 0;
}

void audit_files_done(AuditFiles *f) {
        free(f->numbers);
        *f = (AuditFiles) { 0 };
}

int audit_reader_init(AuditReader *r, int dirfd) {
        *r = (AuditReader) AUDIT_READER_INIT;
        r->dirfd = dirfd;
        r->buffer = malloc(BUFFER_SIZE);
        if (!r->buffer)
                return -ENOMEM;
        r->room = BUFFER_SIZE;
        return audit_files_list(dirfd, &r->files);
}

void audit_reader_done(AuditReader *r) {
        audit_files_done(&r->files);
        free(r->buffer);
        (void) fd_close(r->fd);
        *r = (AuditReader) AUDIT_READER_INIT;
}

/* 0: there is no next file. */
static int open_next(AuditReader *r) {
        char name[32];
        int fd;

        if (r->next >= r->files.n)
                return 0;
        audit_file_name(r->files.numbers[r->next], name);
        fd = openat(r->dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        (void) fd_close(r->fd);
        r->fd = fd;
        r->number = r->files.numbers[r->next++];
        r->partial = r->end > r->begin;
        r->begin = r->end = 0;
        r->line = r->position = 0;
        return 1;
}

/* 0: the file has no more. */
static int audit_read_fill(AuditReader *r, size_t *budget) {
        ssize_t n;

        if (r->fd < 0)
                return 0;
        if (*budget == 0)
                return -EAGAIN;
        if (r->begin > 0) {
                memmove(r->buffer, r->buffer + r->begin, r->end - r->begin);
                r->end -= r->begin;
                r->begin = 0;
        }
        if (r->end > AUDIT_RECORD_MAX)
                return -E2BIG;
        n = pread(r->fd, r->buffer + r->end, MIN_OF(r->room - r->end, *budget), (off_t) r->position);
        if (n < 0)
                return -errno;
        r->end += (size_t) n;
        r->position += (uint64_t) n;
        *budget -= (size_t) n;
        return n > 0;
}

int audit_reader_next(AuditReader *r, size_t *budget, const char **ret, size_t *ret_size) {
        for (;;) {
                const char *begin = r->buffer + r->begin, *newline = memchr(begin, '\n', r->end - r->begin);
                int k;

                if (newline) {
                        *ret = begin;
                        *ret_size = (size_t) (newline - begin);
                        r->offset = r->position - (r->end - r->begin);
                        r->begin += *ret_size + 1;
                        r->line++;
                        return 1;
                }
                k = audit_read_fill(r, budget);
                if (k == 0)
                        k = open_next(r);
                if (k <= 0)
                        return k;
        }
}

int audit_reader_again(AuditReader *r) {
        AuditFiles files;
        int k = audit_files_list(r->dirfd, &files);

        if (k < 0)
                return k;
        audit_files_done(&r->files);
        r->files = files;
        for (r->next = 0; r->next < files.n && r->fd >= 0 && files.numbers[r->next] <= r->number;)
                r->next++;
        return 0;
}

/* The number of the first record in a file; 0: it has none. */
static uint64_t first_seq(const AuditReader *r, unsigned number) {
        char name[32], line[AUDIT_HASH_DIGITS];
        AuditRecord record = { 0 };
        _cleanup_close_ int fd = -EBADF;
        ssize_t n;

        audit_file_name(number, name);
        fd = openat(r->dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        n = fd < 0 ? -1 : pread(fd, line, sizeof(line) - 1, 0);
        if (n <= 0)
                return 0;
        line[n] = '\0';
        return sscanf(line, "{\"seq\":%" SCNu64, &record.seq) == 1 ? record.seq : 0;
}

int audit_reader_seek(AuditReader *r, uint64_t seq) {
        size_t low = r->next, high = r->files.n;

        while (low + 1 < high) {
                size_t middle = low + (high - low) / 2;

                if (first_seq(r, r->files.numbers[middle]) <= seq)
                        low = middle;
                else
                        high = middle;
        }
        r->next = low;
        return 0;
}

/* Skips files at the beginning whose last record is too old, up to the first that is not. If the clock was set
 * back, later files that look too old are still read. */
int audit_reader_skip_before(AuditReader *r, usec_t since) {
        while (r->next < r->files.n) {
                char name[32];
                struct stat st;

                audit_file_name(r->files.numbers[r->next], name);
                if (fstatat(r->dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                        return -errno;
                if ((usec_t) (st.st_mtim.tv_sec + 1) * USEC_PER_SEC >= since)
                        return 0;
                r->next++;
        }
        return 0;
}

void audit_time_print(usec_t at, char ret[static 32]) {
        time_t seconds = (time_t) (at / USEC_PER_SEC);
        struct tm tm;
        size_t n;

        (void) gmtime_r(&seconds, &tm);
        n = strftime(ret, 32, "%Y-%m-%dT%H:%M:%S", &tm);
        (void) snprintf(ret + n, 32 - n, ".%03uZ", (unsigned) (at % USEC_PER_SEC / USEC_PER_MSEC));
}

static bool audit_read_text_is(const char *line, size_t size, const char *name, const char *wanted) {
        size_t n;
        const char *text = wanted ? audit_record_text(line, size, name, &n) : NULL;

        return !wanted || (text && n == strlen(wanted) && memcmp(text, wanted, n) == 0);
}

/* Times in the same format compare as text. */
static bool time_fits(const AuditFilter *f, const char *line, size_t size) {
        size_t n;
        const char *at;

        if (!f->since[0] && !f->until[0])
                return true;
        at = audit_record_text(line, size, "at", &n);
        if (!at)
                return false;
        return (!f->since[0] || strncmp(at, f->since, n) >= 0) && (!f->until[0] || strncmp(at, f->until, n) < 0);
}

bool audit_filter_fits(const AuditFilter *f, const char *line, size_t size) {
        AuditRecord r;

        if ((f->after > 0 || f->last > 0) && audit_record_read(line, size, &r) < 0)
                return false;
        if ((f->after > 0 && r.seq <= f->after) || (f->last > 0 && r.seq > f->last))
                return false;
        return time_fits(f, line, size) && audit_read_text_is(line, size, "sandbox", f->sandbox) && audit_read_text_is(line, size, "actor", f->actor);
}
