/* journal.c: where the bytes of executions lie, and how many there may be.
 *
 *      <state>/box/<sandbox>-e1.out, -e1.err
 *
 * Written by the sandbox's PID 1 through descriptors made here. One stream is bounded by the sandbox's limit, which PID 1
 * keeps; all ended ones together by the manager's, which is kept here: the oldest go first.
 *
 * The files of a sandbox that is gone are kept as spares, empty, for the next executions; and when there are few, some are made
 * while nothing else is to be done. Most commands write little, and a file system that has just deleted many files looks long
 * for a free one: that took half of the daemon's time for an execution. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utlist.h>

#include "base/directory.h"
#include "base/fd.h"
#include "base/log.h"
#include "core/internal.h"
#include "core/mask.h"

#define SPARES_MAX      4096 /* empty files */
#define SPARES_STOCK    16   /* made ahead */
#define SPARE_BYTES_MAX (UINT64_C(1) << 20) /* to empty a larger one takes as long as to delete it */
#define NAME_BYTES      (SANDBOX_ID_LENGTH + EXECUTION_ID_MAX + 8)

typedef struct Journals {
        int box_fd;
        uint64_t total;   /* of those listed */
        Execution *ended; /* oldest first */
        size_t n_spares;  /* they are called "spare-0" and so on */
        sd_event_source *stock; /* runs when the loop is idle */
        sd_event_source *anchor;
} Journals;

static const char *const suffixes[_STREAM_MAX] = {
        [STREAM_STDOUT] = "out",
        [STREAM_STDERR] = "err",
};

static void journal_name(const Execution *x, ExecutionStream stream, char ret[static NAME_BYTES]) {
        (void) snprintf(ret, NAME_BYTES, "%s-%s.%s", x->sandbox->id, x->id, suffixes[stream]);
}

static void spare_name(size_t i, char ret[static NAME_BYTES]) {
        (void) snprintf(ret, NAME_BYTES, "spare-%zu", i);
}

static int each_name(Manager *m, int (*each)(Manager *m, const char *name)) {
        _cleanup_directory_ DIR *directory = directory_open(m->journals->box_fd, ".");
        const struct dirent *entry;

        if (!directory)
                return -errno;
        while ((entry = directory_next(directory)))
                if (entry->d_name[0] != '.')
                        (void) each(m, entry->d_name);
        return 0;
}

static int core_journal_on_idle(sd_event_source *source, void *userdata) {
        Manager *m = userdata;
        Journals *j = m->journals;
        char name[NAME_BYTES];
        int fd;

        spare_name(j->n_spares, name);
        fd = openat(j->box_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0)
                j->n_spares++;
        (void) fd_close(fd);
        if (fd < 0 || j->n_spares >= SPARES_STOCK)
                return sd_event_source_set_enabled(source, SD_EVENT_OFF);
        return 0;
}

static int add_stock(Manager *m) {
        int r = sd_event_add_defer(m->event, &m->journals->stock, core_journal_on_idle, m);

        if (r >= 0)
                r = sd_event_source_set_priority(m->journals->stock, SD_EVENT_PRIORITY_IDLE);
        return r >= 0 ? sd_event_source_set_enabled(m->journals->stock, SD_EVENT_OFF) : r;
}

static int on_nothing(sd_event_source *source, const struct inotify_event *event, void *userdata) {
        return 0;
}

/* All followers of journals share one inotify instance, which the loop would close with the last of them; and the kernel lets that wait until nobody can
 * look at a removed watch any more, for up to 20 ms. So there is always one more. */
static int add_anchor(Manager *m) {
        return sd_event_add_inotify_fd(m->event, &m->journals->anchor, m->journals->box_fd, IN_DELETE_SELF, on_nothing, NULL);
}

int journals_new(Manager *m, Error *reterr) {
        int r;

        _cleanup_close_ int state = open(m->config.state_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
        Journals *j;

        if (state < 0)
                return error_set(reterr, -errno, "cannot open '%s': %m", m->config.state_dir);
        j = calloc(1, sizeof(*j));
        if (!j)
                return error_set(reterr, -ENOMEM, "out of memory");
        j->box_fd = openat(state, "box", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (j->box_fd < 0) {
                free(j);
                return error_set(reterr, -errno, "cannot open '%s/box': %m", m->config.state_dir);
        }
        m->journals = j;
        r = add_stock(m);
        if (r >= 0)
                r = add_anchor(m);
        return r < 0 ? error_set(reterr, r, "cannot listen to the loop: %m") : 0;
}

void journals_free(Manager *m) {
        Journals *j = m->journals;
        char name[NAME_BYTES];

        if (!j)
                return;
        while (j->n_spares > 0) {
                spare_name(--j->n_spares, name);
                (void) unlinkat(j->box_fd, name, 0);
        }
        sd_event_source_disable_unref(j->stock);
        sd_event_source_disable_unref(j->anchor);
        (void) fd_close(j->box_fd);
        free(j);
        m->journals = NULL;
}

/* A name begins with its sandbox's id and its execution's. Spares of a daemon that was killed are nobody's, and so are
 * journals of an execution that it had not written down yet. */
static Execution *find_owner(Manager *m, const char *name) {
        char id[SANDBOX_ID_LENGTH + 1] = "", execution[EXECUTION_ID_MAX] = "";
        size_t n = strlen(name);
        Sandbox *sb;

        if (n <= SANDBOX_ID_LENGTH + 1)
                return NULL;
        (void) snprintf(id, sizeof(id), "%.*s", SANDBOX_ID_LENGTH, name);
        sb = manager_by_id(m, id);
        name += SANDBOX_ID_LENGTH + 1;
        n = strcspn(name, ".");
        if (!sb || n >= sizeof(execution))
                return NULL;
        memcpy(execution, name, n);
        return manager_find_execution(sb, execution);
}

static int sweep_name(Manager *m, const char *name) {
        if (!find_owner(m, name))
                (void) unlinkat(m->journals->box_fd, name, 0);
        return 0;
}

bool journal_is_stray(Manager *m, const char *name) {
        unsigned long long number;
        char rest;

        if (sscanf(name, "spare-%llu%c", &number, &rest) == 1)
                return number >= m->journals->n_spares;
        return !find_owner(m, name);
}

int journals_sweep(Manager *m) {
        (void) sd_event_source_set_enabled(m->journals->stock, SD_EVENT_ON); /* after this, when there is time */
        return each_name(m, sweep_name);
}

/* Not for appending: the writer is one process, with one offset. */
int journal_create(const Execution *x, ExecutionStream stream) {
        Journals *j = x->sandbox->manager->journals;
        char name[NAME_BYTES], spare[NAME_BYTES];
        bool has_spare = false;
        int fd;

        if (j->n_spares < SPARES_STOCK / 2)
                (void) sd_event_source_set_enabled(j->stock, SD_EVENT_ON);
        journal_name(x, stream, name);
        if (j->n_spares > 0) {
                spare_name(--j->n_spares, spare);
                has_spare = renameat(j->box_fd, spare, j->box_fd, name) == 0;
        }
        fd = openat(j->box_fd, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | (has_spare ? 0 : O_CREAT | O_EXCL), 0600);
        if (fd >= 0)
                return fd;
        fd = -errno;
        if (has_spare)
                (void) unlinkat(j->box_fd, name, 0);
        return fd;
}

/* Only when nobody can be left who writes to it. */
static bool make_spare(Journals *j, const char *name) {
        char spare[NAME_BYTES];
        struct stat st;

        if (j->n_spares >= SPARES_MAX || fstatat(j->box_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
                        (uint64_t) st.st_size > SPARE_BYTES_MAX)
                return false;
        if (st.st_size > 0) {
                _cleanup_close_ int fd = openat(j->box_fd, name, O_WRONLY | O_NOFOLLOW | O_TRUNC | O_CLOEXEC);

                if (fd < 0)
                        return false;
        }
        spare_name(j->n_spares, spare);
        if (renameat(j->box_fd, name, j->box_fd, spare) < 0)
                return false;
        j->n_spares++;
        return true;
}

void journals_recycle(Sandbox *sb) {
        Journals *j = sb->manager->journals;
        char name[NAME_BYTES];
        Execution *x, *next;

        HASH_ITER(hh, sb->executions, x, next) {
                journal_unlist(x);
                for (ExecutionStream s = 0; s < (x->spec.pty ? STREAM_STDERR : _STREAM_MAX) && !x->journals_gone; s++) {
                        journal_name(x, s, name);
                        if (!sb->manager->config.recycle || !make_spare(j, name))
                                (void) unlinkat(j->box_fd, name, 0);
                }
                x->journals_gone = true;
        }
}

int journal_open(const Execution *x, ExecutionStream stream) {
        char name[NAME_BYTES];
        int fd;

        if (x->spec.pty && stream == STREAM_STDERR)
                return -EINVAL;
        if (x->journals_gone)
                return -ENODATA;
        journal_name(x, stream, name);
        fd = openat(x->sandbox->manager->journals->box_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                return errno == ENOENT ? -ENODATA : -errno;
        return fd;
}

/* What PID 1 says of an ended one is believed only as far as the file goes. */
uint64_t journal_size(const Execution *x, ExecutionStream stream, int journal_fd) {
        struct stat st;

        if (fstat(journal_fd, &st) < 0)
                return 0;
        if (execution_ended(x))
                return MIN_OF(x->journals[stream].bytes, (uint64_t) st.st_size);
        return (uint64_t) st.st_size;
}

int execution_open_output(const Execution *x, ExecutionStream stream) {
        return x->sandbox->mask_lost ? -EKEYREVOKED : journal_open(x, stream);
}

uint64_t execution_output_size(const Execution *x, ExecutionStream stream, int output_fd) {
        uint64_t size = journal_size(x, stream, output_fd);

        if (x->sandbox->mask_lost || mask_shown_end(x->sandbox->mask, output_fd, size, execution_ended(x), &size) < 0)
                return 0;
        return size;
}

ssize_t execution_read_output(const Execution *x, ExecutionStream stream, int output_fd, void *buffer, size_t size, uint64_t offset) {
        if (x->sandbox->mask_lost)
                return -EKEYREVOKED;
        return mask_pread(x->sandbox->mask, output_fd, journal_size(x, stream, output_fd), execution_ended(x), buffer, size, offset);
}

static uint64_t journal_bytes(const Execution *x) {
        return x->journals[STREAM_STDOUT].bytes + x->journals[STREAM_STDERR].bytes;
}

void journal_unlist(Execution *x) {
        Journals *j = x->sandbox->manager->journals;

        if (!x->journal_listed)
                return;
        DL_DELETE2(j->ended, x, journal_prev, journal_next);
        j->total -= MIN_OF(journal_bytes(x), j->total);
        x->journal_listed = false;
}

void journal_remove(Execution *x) {
        Journals *j = x->sandbox->manager->journals;
        char name[NAME_BYTES];

        journal_unlist(x);
        for (ExecutionStream s = 0; s < _STREAM_MAX; s++) {
                journal_name(x, s, name);
                (void) unlinkat(j->box_fd, name, 0);
        }
        x->journals_gone = true;
}

static void core_journal_make_room(Manager *m) {
        Journals *j = m->journals;

        while (j->total > m->config.journal_total_bytes && j->ended) {
                Execution *x = j->ended;

                log_debug("sandbox %s: journals of %s go to make room", x->sandbox->id, x->id);
                journal_remove(x);
                (void) store_execution_update(m->store, x);
        }
}

void journal_ended(Execution *x) {
        Manager *m = x->sandbox->manager;
        Journals *j = m->journals;

        if (x->journal_listed || x->journals_gone)
                return;
        DL_APPEND2(j->ended, x, journal_prev, journal_next);
        x->journal_listed = true;
        j->total += journal_bytes(x);
        core_journal_make_room(m);
}
