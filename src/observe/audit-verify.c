/* audit-verify.c: checks the chain.
 *
 * Reads all records from the oldest, and stops at the first problem. */

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "observe/audit-chain.h"

static int audit_verify_broken(AuditVerifier *v, const char *format, ...) _printf_(2, 3);
static int audit_verify_broken(AuditVerifier *v, const char *format, ...) {
        AuditVerdict *d = &v->verdict;
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(d->problem, sizeof(d->problem), format, ap);
        va_end(ap);
        if (v->reader.number > 0)
                audit_file_name(v->reader.number, d->file);
        d->line = v->reader.line;
        d->intact = false;
        v->ended = true;
        return 0;
}

int audit_verify_begin(AuditVerifier *v, int dirfd, AuditHash hash, const AuditHead *head) {
        int r;

        *v = (AuditVerifier) { .hash = hash, .reader = AUDIT_READER_INIT, .head = audit_head_empty, .live = head };
        v->verdict.intact = true;
        memcpy(v->verdict.hash, AUDIT_ZEROS, sizeof(AUDIT_ZEROS));
        r = audit_reader_init(&v->reader, dirfd);
        if (r < 0)
                return r;
        v->verdict.n_files = v->reader.files.n;
        if (head) {
                v->head = *head;
                return 0;
        }
        r = audit_head_read(dirfd, &v->head);
        if (r == -ENOENT)
                return v->reader.files.n == 0 ? 0 : audit_verify_broken(v, "the file '" AUDIT_HEAD_FILE "' is missing");
        if (r == -EBADMSG)
                return audit_verify_broken(v, "the file '" AUDIT_HEAD_FILE "' was changed");
        return r;
}

void audit_verify_done(AuditVerifier *v) {
        audit_reader_done(&v->reader);
}

/* Checks the oldest record that exists. */
static int check_first(AuditVerifier *v, const AuditRecord *r) {
        if (v->head.base == 0 && v->reader.number != 1)
                return audit_verify_broken(v, "the files before this one are missing");
        if (r->seq > v->head.base + 1)
                return audit_verify_broken(v, "records %" PRIu64 " to %" PRIu64 " are missing", v->head.base + 1, r->seq - 1);
        if (r->seq == v->head.base + 1 && strcmp(r->prev, v->head.base_hash) != 0)
                return audit_verify_broken(v, "record %" PRIu64 " does not follow the one that was before it", r->seq);
        v->verdict.first = r->seq;
        return 1;
}

static int check_next(AuditVerifier *v, const AuditRecord *r) {
        if (v->reader.number != v->file && v->reader.number != v->file + 1)
                return audit_verify_broken(v, "the files between audit-%06u.jsonl and this one are missing", v->file);
        if (strcmp(r->prev, v->verdict.hash) != 0)
                return audit_verify_broken(v, "record %" PRIu64 " does not follow record %" PRIu64 ": one was changed, removed or added", r->seq,
                                v->verdict.last);
        return 1;
}

static bool text_equals(const char *text, size_t size, const char *word) {
        return text && size == strlen(word) && memcmp(text, word, size) == 0;
}

/* Reads the records of the log about itself. */
static int check_notes(AuditVerifier *v, const char *line, size_t size, const AuditRecord *r) {
        size_t n = 0;
        const char *event = audit_record_text(line, size, "event", &n);
        uint64_t lost = audit_record_number(line, size, "lost"), after = r->seq - v->verdict.last - 1;

        if (text_equals(event, n, AUDIT_GAP) && lost > 0)
                return audit_verify_broken(v, "%" PRIu64 " records before record %" PRIu64 " are missing, as found at a start of the daemon", lost,
                                r->seq);
        if (text_equals(event, n, AUDIT_GAP))
                return audit_verify_broken(v, "before record %" PRIu64 " the log had been changed, as found at a start of the daemon",
                                r->seq);
        if (v->verdict.records > 0 && after != 0)
                return audit_verify_broken(v, "record %" PRIu64 " follows record %" PRIu64, r->seq, v->verdict.last);
        if (text_equals(event, n, AUDIT_TORN))
                v->verdict.torn++;
        if (text_equals(event, n, AUDIT_LOST))
                v->verdict.lost += lost;
        if (text_equals(event, n, AUDIT_BASE) && audit_record_number(line, size, "base") == v->head.base)
                v->base_seen = true;
        return 1;
}

static int audit_verify_check_line(AuditVerifier *v, const char *line, size_t size) {
        char hash[AUDIT_HASH_DIGITS + 1];
        AuditVerdict *d = &v->verdict;
        AuditRecord r;
        int k;

        if (v->reader.partial)
                return audit_verify_broken(v, "the file before this one ends in the middle of a record");
        if (audit_record_read(line, size, &r) < 0)
                return audit_verify_broken(v, "not a record");
        d->seq = r.seq;
        audit_digest(v->hash, line, r.hashed, hash);
        if (strcmp(hash, r.hash) != 0)
                return audit_verify_broken(v, "record %" PRIu64 " was changed", r.seq);
        k = d->records == 0 ? check_first(v, &r) : check_next(v, &r);
        if (k > 0)
                k = check_notes(v, line, size, &r);
        if (k <= 0)
                return k;
        if ((r.seq == v->head.seq && strcmp(r.hash, v->head.hash) != 0) ||
                        (r.seq == v->head.base && strcmp(r.hash, v->head.base_hash) != 0))
                return audit_verify_broken(v, "record %" PRIu64 " is not the one that was written", r.seq);
        d->records++;
        d->last = r.seq;
        memcpy(d->hash, r.hash, sizeof(d->hash));
        v->file = v->reader.number;
        return 1;
}

/* A writer may be one record ahead of its head, and may have continued during the check. */
static int check_end(AuditVerifier *v) {
        const AuditVerdict *d = &v->verdict;
        AuditHead now = v->head;

        v->ended = true;
        if (d->last < v->head.seq && (d->records > 0 || v->head.seq > v->head.base))
                return audit_verify_broken(v, "the end is missing: the last record is %" PRIu64 ", there were %" PRIu64, d->last, v->head.seq);
        if (!v->live && d->last > v->head.seq + 1 && (audit_head_read(v->reader.dirfd, &now) < 0 || d->last > now.seq + 1))
                return audit_verify_broken(v, "there are records after %" PRIu64 ", the last that was written", now.seq);
        if (v->head.base > 0 && !v->base_seen)
                return audit_verify_broken(v, "records up to %" PRIu64 " are missing, and no record says why", v->head.base);
        if (!v->live && v->reader.end > v->reader.begin)
                v->verdict.torn++;
        return 0;
}

int audit_verify_slice(AuditVerifier *v, size_t budget) {
        const char *line;
        size_t size;
        int r;

        while (!v->ended) {
                if (v->live && v->verdict.records > 0 && v->verdict.last == v->head.seq)
                        return check_end(v);
                r = audit_reader_next(&v->reader, &budget, &line, &size);
                if (r == -EAGAIN)
                        return 1;
                if (r == 0)
                        return check_end(v);
                if (r == -E2BIG)
                        return audit_verify_broken(v, "a line is too long for a record");
                if (r == -ENOENT)
                        return audit_verify_broken(v, "a file was removed while we read");
                if (r < 0)
                        return r;
                if (audit_verify_check_line(v, line, size) < 0)
                        return -EIO;
        }
        return 0;
}
