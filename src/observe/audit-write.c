/* audit-write.c: makes a record and writes it. */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <utlist.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/text.h"
#include "observe/audit-internal.h"

#define SETTLE_USEC  USEC_PER_SEC
#define NOTE_MAX     512
#define GATHER_MAX   ((size_t) 256 << 10)
#define RESERVE_MIN     (UINT64_C(64) << 10)
#define RESERVE_OF_DISK 32

/* Allocates space for so many bytes more, or for as many as the disk has; on a small disk only a part. Returns
 * the allocated size; 0: none. */
static uint64_t audit_allocate(const Audit *a, int fd, uint64_t size) {
        uint64_t wanted = a->manager->settings->audit.reserve_bytes;
        struct statvfs v;

        if (fstatvfs(fd, &v) >= 0)
                wanted = MIN_OF(wanted, (uint64_t) v.f_blocks * v.f_frsize / RESERVE_OF_DISK);
        for (; wanted >= RESERVE_MIN; wanted /= 2)
                if (fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t) size, (off_t) wanted) >= 0)
                        return wanted;
        return 0;
}

void audit_reserve(Audit *a) {
        uint64_t ahead = a->reserved > a->size ? a->reserved - a->size : 0, got;

        if (ahead >= a->manager->settings->audit.reserve_bytes / 2)
                return;
        got = audit_allocate(a, a->fd, a->size);
        if (got > ahead)
                a->reserved = a->size + got;
}

int audit_open_file(Audit *a, unsigned number) {
        char name[32];
        struct stat st;
        uint64_t got;
        int fd;

        audit_file_name(number, name);
        fd = openat(a->dirfd, name, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0)
                return -errno;
        if (fstat(fd, &st) < 0) {
                (void) fd_close(fd);
                return -errno;
        }
        got = audit_allocate(a, fd, (uint64_t) st.st_size);
        if (got == 0 && a->reserved > a->size) { /* on a full disk, the old file, which has space, is kept */
                (void) unlinkat(a->dirfd, name, 0);
                (void) fd_close(fd);
                return -ENOSPC;
        }
        if (a->fd >= 0)
                (void) ftruncate(a->fd, (off_t) a->size); /* frees the space beyond its size */
        (void) fd_close(a->fd);
        a->fd = fd;
        a->number = number;
        a->size = (uint64_t) st.st_size;
        a->reserved = got > 0 ? a->size + got : 0;
        return 0;
}

void audit_begin(Audit *a) {
        a->text.size = 0;
        a->text.error = 0;
        text_format(&a->text, "{\"seq\":%" PRIu64 ",\"prev\":\"%s\",\"at\":", a->head.seq + 1, a->head.hash);
        text_quote_time(&a->text, (int64_t) clock_wall_usec() * 1000);
}

void audit_put_text(Audit *a, const char *name, const char *value, size_t max) {
        if (!value || !*value)
                return;
        text_format(&a->text, ",\"%s\":", name);
        text_quote(&a->text, value, strnlen(value, max));
}

void audit_put_number(Audit *a, const char *name, uint64_t value) {
        text_format(&a->text, ",\"%s\":%" PRIu64, name, value);
}

/* If one is incomplete, all are removed again: none of them is known to anybody. */
static int write_records(Audit *a) {
        ssize_t n = write(a->fd, a->pending.data, a->pending.size);
        int r = n < 0 ? -errno : -ENOSPC;

        if (n == (ssize_t) a->pending.size)
                return 0;
        if (n > 0 && ftruncate(a->fd, (off_t) a->size) < 0)
                log_error("audit: cannot remove incomplete records: %m");
        a->reserved = 0;
        return r;
}

static int audit_write_head(Audit *a) {
        char text[AUDIT_HEAD_SIZE + 1];

        audit_head_print(&a->head, text);
        return pwrite(a->head_fd, text, AUDIT_HEAD_SIZE, 0) == AUDIT_HEAD_SIZE ? 0 : -EIO;
}

/* If this fails, the old file is kept. The next try is made when the excess over the maximum size has doubled;
 * not for each record, because each try allocates. */
static void rotate(Audit *a) {
        uint64_t most = a->manager->settings->audit.file_bytes;
        int r;

        if (a->size < MAX_OF(most, a->rotate_at))
                return;
        r = audit_open_file(a, a->number + 1);
        a->rotate_at = r < 0 ? a->size + MIN_OF(a->size - most + 1, most) : 0;
        if (r < 0)
                log_error("audit: cannot begin another file, ignoring: %s", strerror(-r));
        else
                a->expire_at = 0;
}

static void audit_write_arm(Audit *a) {
        if (a->dirty || !a->timer)
                return;
        if (sd_event_source_set_time_relative(a->timer, SETTLE_USEC) >= 0 &&
                        sd_event_source_set_enabled(a->timer, SD_EVENT_ONESHOT) >= 0)
                a->dirty = true;
}

static void wake_followers(Audit *a) {
        AuditFollower *f, *next;

        DL_FOREACH_SAFE(a->followers, f, next)
                f->grown(f->userdata);
}

int audit_flush(Audit *a) {
        int r;

        if (a->n_pending == 0)
                return 0;
        r = write_records(a);
        if (r < 0)
                a->head = a->written;
        else {
                a->size += a->pending.size;
                a->n_written += a->n_pending;
        }
        a->pending.size = 0;
        a->n_pending = 0;
        a->error = r;
        if (r < 0)
                return r;
        if (audit_write_head(a) < 0)
                log_debug("audit: cannot write the head, ignoring: %m");
        audit_write_arm(a);
        rotate(a);
        wake_followers(a);
        return 0;
}

/* Each record has the hash of the one before, so what follows a failed one must not be there yet: after a failure
 * they are written one by one, until one works. */
static bool audit_gathers(const Audit *a) {
        return a->writer.write && a->error >= 0 && a->lost == 0 && a->pending.size < GATHER_MAX;
}

static int audit_add(Audit *a, const char *hash) {
        if (a->n_pending == 0)
                a->written = a->head;
        text_put(&a->pending, a->text.data, a->text.size);
        if (a->pending.error < 0) {
                int r = a->pending.error;

                a->pending.error = 0;
                return r;
        }
        a->n_pending++;
        a->head.seq++;
        memcpy(a->head.hash, hash, sizeof(a->head.hash));
        return 0;
}

int audit_end(Audit *a) {
        char hash[AUDIT_HASH_DIGITS + 1];
        int r = a->text.error;

        if (r >= 0) {
                audit_digest(secret_sha256, a->text.data, a->text.size, hash);
                text_format(&a->text, ",\"hash\":\"%s\"}\n", hash);
                r = a->text.error < 0 ? a->text.error : audit_add(a, hash);
        }
        if (r < 0)
                a->error = r;
        else if (audit_gathers(a))
                settle_mark(a->manager->settle);
        else
                r = audit_flush(a);
        return r;
}

int audit_note(Audit *a, const char *event, const char *number_name, uint64_t number, const char *text) {
        audit_begin(a);
        audit_put_text(a, "kind", "log", AUDIT_WORD_MAX);
        audit_put_text(a, "event", event, AUDIT_WORD_MAX);
        if (number_name)
                audit_put_number(a, number_name, number);
        audit_put_text(a, "text", text, NOTE_MAX);
        return audit_end(a);
}
