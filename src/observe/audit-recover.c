/* audit-recover.c: finds the end of the chain at the start of the daemon.
 *
 * Nothing in the log is changed, except that half a record at the very end is removed: a crash left it, and its caller
 * got no answer. Every other difference from the head is noted in a record, which the check of the chain reports. */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "core/store.h"
#include "observe/audit-internal.h"

#define TAIL_MAX (2 * (size_t) AUDIT_RECORD_MAX)

/* The end of the newest file. */
typedef struct AuditRecoverTail {
        bool found;      /* there is a last record, and it is valid */
        bool damaged;    /* the last line is not a valid record */
        uint64_t torn;   /* bytes after it */
        AuditRecord last;
} AuditRecoverTail;

static const char *last_newline(const char *data, size_t size) {
        return size > 0 ? memrchr(data, '\n', size) : NULL;
}

static void read_last_line(const char *data, const char *newline, bool whole, AuditRecoverTail *ret) {
        const char *before = last_newline(data, (size_t) (newline - data)), *line = before ? before + 1 : data;
        char hash[AUDIT_HASH_DIGITS + 1];

        ret->damaged = true;
        if ((!before && !whole) || audit_record_read(line, (size_t) (newline - line), &ret->last) < 0)
                return;
        audit_digest(secret_sha256, line, ret->last.hashed, hash);
        ret->found = strcmp(hash, ret->last.hash) == 0;
        ret->damaged = !ret->found;
}

static int read_tail(int dirfd, unsigned number, AuditRecoverTail *ret) {
        _cleanup_free_ char *data = malloc(TAIL_MAX);
        _cleanup_close_ int fd = -EBADF;
        const char *newline;
        char name[32];
        struct stat st;
        off_t from;
        ssize_t n;

        *ret = (AuditRecoverTail) { 0 };
        if (!data)
                return -ENOMEM;
        audit_file_name(number, name);
        fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &st) < 0)
                return -errno;
        from = st.st_size > (off_t) TAIL_MAX ? st.st_size - (off_t) TAIL_MAX : 0;
        n = pread(fd, data, TAIL_MAX, from);
        if (n < 0)
                return -errno;
        newline = last_newline(data, (size_t) n);
        ret->torn = newline ? (uint64_t) (data + n - newline - 1) : (uint64_t) n;
        if (newline)
                read_last_line(data, newline, from == 0, ret);
        else if (from > 0)
                ret->damaged = true;
        return 0;
}

/* From the newest file backwards: a file that was just begun may be empty. */
static int audit_recover_find_end(Audit *a, const AuditFiles *files, AuditRecoverTail *ret) {
        uint64_t torn = 0;
        int r;

        *ret = (AuditRecoverTail) { 0 };
        for (size_t i = files->n; i > 0 && !ret->found && !ret->damaged; i--) {
                r = read_tail(a->dirfd, files->numbers[i - 1], ret);
                if (r < 0)
                        return r;
                if (i == files->n)
                        torn = ret->torn;
        }
        ret->torn = torn;
        return 0;
}

static int take_torn_off(Audit *a, uint64_t torn) {
        if (torn == 0)
                return 0;
        if (ftruncate(a->fd, (off_t) (a->size - torn)) < 0)
                return -errno;
        a->size -= torn;
        return 0;
}

/* Both the head and the store have the last number. Returns what is wrong; NULL: nothing. */
static const char *audit_recover_compare(const AuditRecoverTail *t, const AuditHead *head, int head_error, uint64_t stored, uint64_t *ret_lost) {
        uint64_t last = t->found ? t->last.seq : head->base, known = MAX_OF(head->seq, stored);

        *ret_lost = known > last ? known - last : 0;
        if (head_error == -EBADMSG)
                return "the head was changed";
        if (head_error == -ENOENT && (t->found || t->damaged))
                return "the head was missing";
        if (t->damaged)
                return "the last line is not a record";
        if (*ret_lost > 0)
                return "the last records are missing";
        if (t->found && t->last.seq == head->seq && strcmp(t->last.hash, head->hash) != 0)
                return "the last record is another one";
        return NULL;
}

static int open_head(Audit *a, Error *reterr) {
        a->head_fd = openat(a->dirfd, AUDIT_HEAD_FILE, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        return a->head_fd < 0 ? error_set(reterr, -errno, "cannot open the audit log's head: %m") : 0;
}

static int note_recovery(Audit *a, const AuditRecoverTail *t, const char *wrong, uint64_t lost) {
        int r = 0;

        if (wrong) {
                log_error("audit: %s; run `cove audit verify` for details", wrong);
                r = audit_note(a, AUDIT_GAP, "lost", lost, wrong);
        }
        if (r >= 0 && t->torn > 0)
                r = audit_note(a, AUDIT_TORN, "bytes", t->torn, "an incomplete record was removed");
        return r;
}

static int recover(Audit *a, const AuditFiles *files, Error *reterr) {
        uint64_t stored = 0, lost = 0;
        const char *wrong;
        int r, head_error;
        AuditRecoverTail t;

        r = audit_recover_find_end(a, files, &t);
        if (r < 0)
                return error_set(reterr, r, "cannot read the audit log: %s", strerror(-r));
        a->head = audit_head_empty;
        head_error = audit_head_read(a->dirfd, &a->head);
        (void) store_counter_get(a->manager->store, "audit_seq", &stored);
        wrong = audit_recover_compare(&t, &a->head, head_error, stored, &lost);
        a->head.seq = MAX_OF(a->head.seq, stored);
        if (t.found) {
                a->head.seq = MAX_OF(a->head.seq, t.last.seq);
                memcpy(a->head.hash, t.last.hash, sizeof(a->head.hash));
        }
        r = audit_open_file(a, files->n > 0 ? files->numbers[files->n - 1] : 1);
        if (r >= 0)
                r = take_torn_off(a, t.torn);
        if (r < 0)
                return error_set(reterr, r, "cannot write the audit log: %s", strerror(-r));
        r = open_head(a, reterr);
        if (r < 0)
                return r;
        (void) note_recovery(a, &t, wrong, lost); /* a failure, as on a full disk, is noticed at the next record */
        return 0;
}

int audit_recover(Audit *a, Error *reterr) {
        AuditFiles files = { 0 };
        int r = audit_files_list(a->dirfd, &files);

        if (r < 0)
                return error_set(reterr, r, "cannot list the audit log: %s", strerror(-r));
        r = recover(a, &files, reterr);
        audit_files_done(&files);
        return r;
}
