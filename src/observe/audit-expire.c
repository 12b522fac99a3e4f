/* audit-expire.c: removes files whose records are all too old, and the oldest files when the total is too large. A
 * record of the removal is written first. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "observe/audit-internal.h"

#define EXPIRE_INTERVAL (3600 * USEC_PER_SEC)

static int audit_expire_look(const Audit *a, unsigned number, struct stat *ret) {
        char name[32];

        audit_file_name(number, name);
        return fstatat(a->dirfd, name, ret, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

static bool audit_expire_is_old(const struct stat *st, usec_t before) {
        return (usec_t) (st->st_mtim.tv_sec + 1) * USEC_PER_SEC < before;
}

static uint64_t audit_expire_measure(const Audit *a, const AuditFiles *files) {
        uint64_t sum = 0;
        struct stat st;

        for (size_t i = 0; i < files->n; i++)
                if (audit_expire_look(a, files->numbers[i], &st) == 0)
                        sum += (uint64_t) st.st_size;
        return sum;
}

/* The record before the first of this file, which will be the base of the chain. */
static int record_before(const Audit *a, unsigned number, uint64_t *ret_seq, char ret_hash[AUDIT_HASH_DIGITS + 1]) {
        _cleanup_free_ char *data = malloc(AUDIT_RECORD_MAX);
        _cleanup_close_ int fd = -EBADF;
        AuditRecord record;
        const char *newline;
        char name[32];
        ssize_t n;

        audit_file_name(number, name);
        fd = openat(a->dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        n = fd < 0 || !data ? -1 : pread(fd, data, AUDIT_RECORD_MAX, 0);
        newline = n > 0 ? memchr(data, '\n', (size_t) n) : NULL;
        if (!newline || audit_record_read(data, (size_t) (newline - data), &record) < 0 || record.seq == 0)
                return -EBADMSG;
        *ret_seq = record.seq - 1;
        memcpy(ret_hash, record.prev, AUDIT_HASH_DIGITS + 1);
        return 0;
}

/* The first n files. */
static void audit_expire_remove_files(Audit *a, const AuditFiles *files, size_t n) {
        char name[32], hash[AUDIT_HASH_DIGITS + 1];
        uint64_t base;

        if (record_before(a, files->numbers[n], &base, hash) < 0) {
                log_warning("audit: file %u is damaged; the files before it are kept", files->numbers[n]);
                return;
        }
        if (base > a->head.base) {
                a->head.base = base;
                memcpy(a->head.base_hash, hash, sizeof(hash));
                if (audit_note(a, AUDIT_BASE, "base", base, "older records are removed, because of audit.keep or audit.totalSize") < 0)
                        return;
        }
        for (size_t i = 0; i < n; i++) {
                audit_file_name(files->numbers[i], name);
                (void) unlinkat(a->dirfd, name, 0);
        }
}

/* The number of oldest files to remove: those that are too old, if the calendar can be trusted, and those
 * beyond the total size. Never the file that is being written. */
static size_t audit_expire_count(const Audit *a, const AuditFiles *files) {
        usec_t keep = a->manager->settings->audit.keep_usec, wall = clock_wall_usec();
        uint64_t max = a->manager->settings->audit.total_bytes, sum = max > 0 ? audit_expire_measure(a, files) : 0;
        bool by_age = keep > 0 && wall > keep && manager_trusts_calendar(a->manager);
        struct stat st;
        size_t n = 0;

        while (n + 1 < files->n && files->numbers[n] != a->number && audit_expire_look(a, files->numbers[n], &st) == 0 &&
                        ((by_age && audit_expire_is_old(&st, wall - keep)) || (max > 0 && sum > max))) {
                sum -= MIN_OF(sum, (uint64_t) st.st_size);
                n++;
        }
        return n;
}

void audit_expire(Audit *a) {
        usec_t keep = a->manager->settings->audit.keep_usec, now = clock_usec();
        AuditFiles files = { 0 };
        size_t n;

        if ((keep == 0 && a->manager->settings->audit.total_bytes == 0) || now < a->expire_at)
                return;
        a->expire_at = now + (keep > 0 && keep < EXPIRE_INTERVAL ? keep + USEC_PER_SEC : EXPIRE_INTERVAL);
        if (audit_files_list(a->dirfd, &files) < 0)
                return;
        n = audit_expire_count(a, &files);
        if (n > 0)
                audit_expire_remove_files(a, &files, n);
        audit_files_done(&files);
}
