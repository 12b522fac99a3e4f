#include "jail/ids.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "jail/ids-name.h"
#include "jail/ids-users.h"

#define FOREIGN_FIRST 0x7ffe0000 /* systemd's range for files that belong to other machines */
#define REST_SHARE 20 /* a look at all ranges may take one part in so many of the time */

bool id_range_has(uid_t id) {
        return id >= ID_RANGE_FIRST && (id - ID_RANGE_FIRST) / ID_RANGE_SIZE < ID_RANGE_MOST;
}

static uid_t ids_base(uint32_t i) {
        return ID_RANGE_FIRST + i * ID_RANGE_SIZE;
}

static bool ids_has(const IdSet set, uint32_t i) {
        return set[i / 64] >> i % 64 & 1;
}

static void ids_add(IdSet set, uint32_t i) {
        set[i / 64] |= UINT64_C(1) << i % 64;
}

static void ids_drop(IdSet set, uint32_t i) {
        set[i / 64] &= ~(UINT64_C(1) << i % 64);
}

void id_ranges_init(IdRanges *t, const char *directory, uint32_t n) {
        *t = (IdRanges) { .directory = directory ? directory : ID_RANGE_DIRECTORY, .directory_fd = -EBADF, .n = n == 0 ? ID_RANGE_COUNT : MIN_OF(n, ID_RANGE_MOST) };
}

void id_ranges_done(IdRanges *t) {
        t->directory_fd = fd_close(t->directory_fd);
}

/* Somebody else's directory could be emptied, and a range be given to two sandboxes. */
static int ids_check_directory(const IdRanges *t, int fd, Error *reterr) {
        struct stat st;

        if (fstat(fd, &st) < 0)
                return error_set(reterr, -errno, "%s: %m", t->directory);
        if (st.st_uid != geteuid() || (st.st_mode & 077) != 0)
                return error_set(reterr, -EPERM, "'%s' must belong to root and have mode 0700, but it belongs to user %u and has mode %04o: remove it",
                                t->directory, st.st_uid, st.st_mode & 07777);
        return 0;
}

static int ids_open_directory(IdRanges *t, Error *reterr) {
        _cleanup_close_ int fd = -EBADF;
        int r;

        if (mkdir(t->directory, 0700) < 0 && errno != EEXIST)
                return error_set(reterr, -errno, "cannot make '%s', where ranges of user ids are locked: %m", t->directory);
        fd = open(t->directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                return error_set(reterr, -errno, "%s: %m", t->directory);
        r = ids_check_directory(t, fd, reterr);
        if (r >= 0)
                t->directory_fd = TAKE_FD(fd);
        return r;
}

static void ids_leave_out(uid_t first, uint64_t count, void *userdata) {
        IdRanges *t = userdata;
        uint64_t end = (uint64_t) first + count;

        for (uint64_t id = MAX_OF((uint64_t) first, (uint64_t) ID_RANGE_FIRST); id < end; id = (id / ID_RANGE_SIZE + 1) * ID_RANGE_SIZE) {
                uint64_t i = (id - ID_RANGE_FIRST) / ID_RANGE_SIZE;

                if (i >= t->n)
                        break;
                ids_add(t->unfit, (uint32_t) i);
        }
}

int id_ranges_open(IdRanges *t, Error *reterr) {
        int r;

        if (t->directory_fd >= 0)
                return 0;
        memset(t->unfit, 0, sizeof(t->unfit));
        for (uint32_t i = t->n; i < sizeof(t->unfit) * 8; i++)
                ids_add(t->unfit, i);
        ids_leave_out(FOREIGN_FIRST, ID_RANGE_SIZE, t);
        r = ids_users_walk(ids_leave_out, t, reterr);
        if (r < 0)
                return r;
        memcpy(t->taken, t->unfit, sizeof(t->taken));
        t->n_fit = 0;
        for (uint32_t i = 0; i < t->n; i++)
                t->n_fit += !ids_has(t->unfit, i);
        t->n_free = t->n_fit;
        return ids_open_directory(t, reterr);
}

/* -EWOULDBLOCK: it is taken. Opened for reading only: a sandbox that breaks out into PID 1 can write nothing here. A file
 * that is removed (the package's purge removes those that it could lock) counts no more. */
static int ids_lock(const IdRanges *t, uint32_t i) {
        char name[16];

        (void) snprintf(name, sizeof(name), "%u", ids_base(i) / ID_RANGE_SIZE);
        for (;;) {
                _cleanup_close_ int fd = openat(t->directory_fd, name, O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
                struct stat st;

                if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || fstat(fd, &st) < 0)
                        return -errno;
                if (st.st_nlink > 0)
                        return TAKE_FD(fd);
        }
}

static void ids_mark(IdRanges *t, uint32_t i) {
        t->n_free -= !ids_has(t->taken, i);
        ids_add(t->taken, i);
}

static void ids_see_name(uint32_t i, bool roots, void *userdata) {
        IdRanges *t = userdata;

        if (!roots)
                ids_add(t->ignored, i);
        else if (i < t->n)
                ids_mark(t, i);
}

/* -EWOULDBLOCK: a sandbox of an earlier version has the range, as far as is known. -EBADF: there can be no name. */
static int ids_name(IdRanges *t, uint32_t i) {
        int r = i >= ID_NAME_COUNT || ids_has(t->ignored, i) ? -EBADF : id_name_bind(i);

        if (r != -EADDRINUSE)
                return r;
        r = id_names_walk(ids_see_name, t);
        if (r < 0)
                log_debug("nobody can say who has bound the names of id ranges: %s", strerror(-r));
        return ids_has(t->ignored, i) ? -EBADF : -EWOULDBLOCK;
}

static int ids_take(IdRanges *t, uint32_t i, IdRange *ret, Error *reterr) {
        _cleanup_close_ int fd = ids_lock(t, i);
        int name = -EBADF;

        if (fd == -ENOENT)
                return error_set(reterr, fd, "'%s', where ranges of user ids are locked, was removed: restart the daemon", t->directory);
        if (fd >= 0)
                name = ids_name(t, i);
        if (fd < 0 || (name < 0 && name != -EBADF)) {
                int r = fd < 0 ? fd : name;

                return r == -EWOULDBLOCK ? r : error_set(reterr, r, "cannot claim range %u of user ids: %m", ids_base(i) / ID_RANGE_SIZE);
        }
        *ret = (IdRange) { .base = ids_base(i), .lock_fd = TAKE_FD(fd), .name_fd = name };
        return 0;
}

/* The k-th of the ranges that are not taken. */
static uint32_t ids_pick(const IdRanges *t, uint32_t k) {
        uint64_t left;
        uint32_t word = 0;

        for (; k >= (uint32_t) (64 - __builtin_popcountll(t->taken[word])); word++)
                k -= (uint32_t) (64 - __builtin_popcountll(t->taken[word]));
        for (left = ~t->taken[word]; k > 0; k--)
                left &= left - 1;
        return word * 64 + (uint32_t) __builtin_ctzll(left);
}

static void ids_free(IdRanges *t, uint32_t i) {
        if (!ids_has(t->taken, i) || ids_has(t->unfit, i))
                return;
        ids_drop(t->taken, i);
        t->n_free++;
}

/* Nobody tells of the ends of other processes' sandboxes. */
static void ids_look_at_all(IdRanges *t) {
        usec_t began = clock_usec();

        if (began < t->rest)
                return;
        for (uint32_t i = 0; i < t->n; i++) {
                _cleanup_close_ int fd = ids_has(t->unfit, i) ? -EBADF : ids_lock(t, i);

                if (fd >= 0)
                        ids_free(t, i);
        }
        t->rest = clock_usec() + REST_SHARE * (clock_usec() - began);
}

int id_range_claim(IdRanges *t, IdRange *ret, Error *reterr) {
        int r = id_ranges_open(t, reterr);

        if (r < 0)
                return r;
        if (t->n_free == 0)
                ids_look_at_all(t);

        /* A random one: neighbouring ranges reveal nothing of each other. */
        while (t->n_free > 0) {
                uint32_t random, i;

                if (getrandom(&random, sizeof(random), 0) != (ssize_t) sizeof(random))
                        return error_set(reterr, -EIO, "cannot get random bytes");
                i = ids_pick(t, random % t->n_free);
                r = ids_take(t, i, ret, reterr);
                if (r < 0 && r != -EWOULDBLOCK)
                        return r;
                ids_mark(t, i);
                if (r >= 0)
                        return 0;
        }
        return error_set(reterr, -EUSERS, "no free range of user ids: all %u are taken, and each sandbox needs one; end sandboxes, or raise limits.idRanges (%u of at most %u)",
                        t->n_fit, t->n, ID_RANGE_MOST);
}

int id_range_claim_apart(const IdRanges *t, IdRange *ret, Error *reterr) {
        IdRanges own;
        int r;

        if (t)
                own = *t;
        else
                id_ranges_init(&own, /* directory= */ NULL, 0);
        r = id_range_claim(&own, ret, reterr);
        if (!t || t->directory_fd < 0)
                id_ranges_done(&own);
        return r;
}

void id_range_release(IdRange *range) {
        range->lock_fd = fd_close(range->lock_fd);
        range->name_fd = fd_close(range->name_fd);
}

void id_ranges_ended(IdRanges *t, uid_t base) {
        if (t->directory_fd >= 0 && id_range_has(base))
                ids_free(t, (base - ID_RANGE_FIRST) / ID_RANGE_SIZE);
}
