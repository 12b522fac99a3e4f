/* journal.c: the files with the output of executions.
 *
 *      <state>/box/<sandbox>.data, .index      of all executions of a sandbox: its segment (segment.h)
 *      <state>/box/<sandbox>-e1.out, -e1.err   of one execution: of a PID 1 that is older than segments
 *
 * The sandbox's PID 1 writes them through descriptors made here, for the first command of the sandbox, or for each one.
 * journal-look.c bounds and charges them.
 *
 * The files of a sandbox that is gone are emptied and kept as spares for future ones; when there are few spares, some
 * are made while the loop is idle. Most commands write little, and a file system that has just deleted many files takes
 * long to find a free inode: with files for each execution, that took a third of the machine's time for a command. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/fd.h"
#include "core/execution/journal-internal.h"
#include "core/execution/segment.h"
#include "core/internal.h"
#include "core/quarantine.h"

#define SPARE_PREFIX    "spare-"
#define ASIDE_PREFIX    "aside-" /* in quarantine, and renamed because its name is needed */
#define SPARES_MAX      4096 /* empty files */
#define SPARES_STOCK    16   /* made ahead */
#define SPARE_BYTES_MAX (UINT64_C(1) << 20) /* a larger file takes as long to empty as to delete */
#define NAME_BYTES      JOURNAL_NAME_BYTES

static const char *const suffixes[_STREAM_MAX] = {
        [STREAM_STDOUT] = "out",
        [STREAM_STDERR] = "err",
};

void journal_name(const Execution *x, ExecutionStream stream, char ret[static NAME_BYTES]) {
        (void) snprintf(ret, NAME_BYTES, "%s-%s.%s", x->sandbox->id, x->id, suffixes[stream]);
}

static void spare_name(size_t i, char ret[static NAME_BYTES]) {
        (void) snprintf(ret, NAME_BYTES, SPARE_PREFIX "%zu", i);
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

/* All followers of journals share one inotify instance, which the loop closes with the last of them. In the
 * kernel, that close waits until no reader can see a removed watch any more, for up to 20 ms. The anchor is a
 * watch that keeps the instance open. */
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
        m->segments = segments_new(j->box_fd);
        if (!m->segments)
                return error_set(reterr, -ENOMEM, "out of memory");
        r = journals_add_look(m);
        if (r >= 0)
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
        m->segments = segments_free(m->segments);
        sd_event_source_disable_unref(j->look);
        sd_event_source_disable_unref(j->stock);
        sd_event_source_disable_unref(j->anchor);
        (void) fd_close(j->box_fd);
        free(j);
        m->journals = NULL;
}

/* The sandbox whose name it is, and what follows its id. */
static Sandbox *owner_of(Manager *m, const char *name, const char **ret_rest) {
        char id[SANDBOX_ID_LENGTH + 1] = "";

        if (strlen(name) <= SANDBOX_ID_LENGTH + 1)
                return NULL;
        memcpy(id, name, SANDBOX_ID_LENGTH);
        *ret_rest = name + SANDBOX_ID_LENGTH;
        return manager_by_id(m, id);
}

static bool is_segment(const char *rest) {
        return strcmp(rest, SEGMENT_DATA) == 0 || strcmp(rest, SEGMENT_INDEX) == 0;
}

/* "-e1.out" */
static Execution *journal_of(Sandbox *sb, const char *rest) {
        char execution[EXECUTION_ID_MAX] = "";
        size_t n = strcspn(++rest, ".");

        if (n >= sizeof(execution))
                return NULL;
        memcpy(execution, rest, n);
        return manager_find_execution(sb, execution);
}

/* Spares of a killed daemon have no owner, and neither have journals of an execution whose row was not written yet. */
static bool journal_has_owner(Manager *m, const char *name) {
        const char *rest;
        Sandbox *sb = owner_of(m, name, &rest);

        return sb && (is_segment(rest) || journal_of(sb, rest));
}

/* The rows do not say where the output of an execution is. */
static int learn_name(Manager *m, const char *name) {
        const char *rest;
        Sandbox *sb = owner_of(m, name, &rest);
        Execution *x = sb && !is_segment(rest) ? journal_of(sb, rest) : NULL;

        if (x) {
                x->has_files = true;
                if (execution_ended(x))
                        journal_ended(x); /* the file may have more than the row says */
        }
        return sb && is_segment(rest) ? segment_found(sb) : 0;
}

int journals_learn(Manager *m, Error *reterr) {
        int r = each_name(m, learn_name);

        return r < 0 ? error_set(reterr, r, "cannot list '%s/box': %m", m->config.state_dir) : 0;
}

/* The two files of a segment are one thing, which has the name of its data. */
static void index_of(const char *name, char ret[static NAME_BYTES]) {
        (void) snprintf(ret, NAME_BYTES, "%.*s" SEGMENT_INDEX, SANDBOX_ID_LENGTH, name);
}

static bool names_segment(const char *name, const char *suffix) {
        return strlen(name) == SANDBOX_ID_LENGTH + strlen(suffix) && strcmp(name + SANDBOX_ID_LENGTH, suffix) == 0;
}

static void data_of(const char *name, char ret[static NAME_BYTES]) {
        (void) snprintf(ret, NAME_BYTES, "%.*s" SEGMENT_DATA, SANDBOX_ID_LENGTH, name);
}

/* A journal is created before the row of its execution is written, and written to after that. So an empty file
 * without an owner holds no output, and a spare has no owner. Any other file is output of an execution that
 * this store does not know. An index stays with its data. */
static int sweep_name(Manager *m, const char *name) {
        char data[NAME_BYTES];
        struct stat st;

        if (journal_has_owner(m, name))
                return 0;
        data_of(name, data);
        if (names_segment(name, SEGMENT_INDEX) && fstatat(m->journals->box_fd, data, &st, AT_SYMLINK_NOFOLLOW) >= 0 && st.st_size > 0)
                return 0;
        if (strncmp(name, SPARE_PREFIX, strlen(SPARE_PREFIX)) == 0 || fstatat(m->journals->box_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_size == 0)
                (void) unlinkat(m->journals->box_fd, name, 0);
        else
                (void) quarantine_add(m, QUARANTINE_JOURNAL, name, (uint64_t) st.st_size);
        return 0;
}

int journal_remove_stray(Manager *m, const char *name) {
        char index[NAME_BYTES];

        index_of(name, index);
        if (names_segment(name, SEGMENT_DATA))
                (void) unlinkat(m->journals->box_fd, index, 0);
        return unlinkat(m->journals->box_fd, name, 0) < 0 && errno != ENOENT ? -errno : 0;
}

bool journal_is_stray(Manager *m, const char *name) {
        char data[NAME_BYTES], rest;
        unsigned long long number;

        if (sscanf(name, SPARE_PREFIX "%llu%c", &number, &rest) == 1)
                return number >= m->journals->n_spares;
        data_of(name, data);
        return !journal_has_owner(m, name) && !quarantine_find(m, QUARANTINE_JOURNAL, name) &&
               !(names_segment(name, SEGMENT_INDEX) && quarantine_find(m, QUARANTINE_JOURNAL, data));
}

int journals_sweep(Manager *m) {
        (void) sd_event_source_set_enabled(m->journals->stock, SD_EVENT_ON); /* spares are made after this, when the loop is idle */
        return each_name(m, sweep_name);
}

/* The journal belongs to an execution that another copy of the store knew. The number is used again, and the
 * old output is kept under another name. */
static void put_aside(Manager *m, const char *name) {
        Quarantined *q = quarantine_find(m, QUARANTINE_JOURNAL, name);
        char aside[NAME_BYTES + sizeof(ASIDE_PREFIX)];

        if (!q)
                return;
        (void) snprintf(aside, sizeof(aside), ASIDE_PREFIX "%s", name);
        if (renameat(m->journals->box_fd, name, m->journals->box_fd, aside) < 0)
                return;
        (void) quarantine_add(m, QUARANTINE_JOURNAL, aside, q->bytes);
        quarantine_drop(m, q);
}

static int make_file(Journals *j, const char *name, int flags) {
        char spare[NAME_BYTES];
        bool has_spare = false;
        int fd;

        if (j->n_spares < SPARES_STOCK / 2)
                (void) sd_event_source_set_enabled(j->stock, SD_EVENT_ON);
        if (j->n_spares > 0) {
                spare_name(--j->n_spares, spare);
                has_spare = renameat(j->box_fd, spare, j->box_fd, name) == 0;
        }
        fd = openat(j->box_fd, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | flags | (has_spare ? 0 : O_CREAT | O_EXCL), 0600);
        if (fd >= 0)
                return fd;
        fd = -errno;
        if (has_spare)
                (void) unlinkat(j->box_fd, name, 0);
        return fd;
}

/* What a former PID 1 of the sandbox has written stays. */
static int open_segment_file(Sandbox *sb, const char *suffix, int flags) {
        Journals *j = sb->manager->journals;
        char name[NAME_BYTES];
        int fd = -EBADF;

        (void) snprintf(name, sizeof(name), "%s%s", sb->id, suffix);
        if (sb->segment)
                fd = openat(j->box_fd, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | flags);
        if (fd >= 0)
                return fd;
        return !sb->segment || errno == ENOENT ? make_file(j, name, flags) : -errno;
}

static int open_segment(Sandbox *sb, int fds[static _STREAM_MAX]) {
        fds[0] = open_segment_file(sb, SEGMENT_DATA, 0);
        if (fds[0] < 0)
                return fds[0];
        fds[1] = open_segment_file(sb, SEGMENT_INDEX, O_APPEND);
        if (fds[1] >= 0)
                return 0;
        fds[0] = fd_close(fds[0]);
        return fds[1];
}

/* Not opened for appending: one process writes, with one offset. */
static int open_journals(Execution *x, int fds[static _STREAM_MAX]) {
        char name[NAME_BYTES];

        x->has_files = true;
        for (ExecutionStream s = 0; s < (x->spec.pty ? STREAM_STDERR : _STREAM_MAX); s++) {
                journal_name(x, s, name);
                put_aside(x->sandbox->manager, name);
                fds[s] = make_file(x->sandbox->manager->journals, name, 0);
                if (fds[s] >= 0)
                        continue;
                if (s > 0)
                        fds[0] = fd_close(fds[0]);
                return fds[s];
        }
        return 0;
}

int journal_open_files(Execution *x, int fds[static _STREAM_MAX]) {
        Sandbox *sb = x->sandbox;
        ProviderSegment state = sb->manager->provider->ops->segment(sb->manager->provider, sb);
        int r;

        for (ExecutionStream s = 0; s < _STREAM_MAX; s++)
                fds[s] = -EBADF;
        if (state == PROVIDER_SEGMENT_NEVER)
                return open_journals(x, fds);
        if (x->spec.channel)
                return 0; /* its output does not go to files */
        r = state == PROVIDER_SEGMENT_WANTED ? open_segment(sb, fds) : 0;
        return r >= 0 && !segment_of(sb) ? -ENOMEM : r;
}

/* Only if no process can still write to it or read it: a response in progress would go on with the output of
 * the next execution, which may be another tenant's. The kernel grants a write lease only to the process that
 * alone has the file open. */
static bool make_spare(Journals *j, const char *name) {
        _cleanup_close_ int fd = openat(j->box_fd, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
        char spare[NAME_BYTES];
        struct stat st;

        if (fd < 0 || j->n_spares >= SPARES_MAX || fstat(fd, &st) < 0 || (uint64_t) st.st_size > SPARE_BYTES_MAX)
                return false;
        if (st.st_size == 0 && st.st_blocks > 0) /* its writer has reserved room that nobody would pay for */
                return false;
        if (fcntl(fd, F_SETLEASE, F_WRLCK) < 0 || (st.st_size > 0 && ftruncate(fd, 0) < 0))
                return false;
        spare_name(j->n_spares, spare);
        if (renameat(j->box_fd, name, j->box_fd, spare) < 0)
                return false;
        j->n_spares++;
        return true;
}

static void recycle_name(Manager *m, const char *name) {
        if (!m->config.recycle || !make_spare(m->journals, name))
                (void) unlinkat(m->journals->box_fd, name, 0);
}

void journals_recycle(Sandbox *sb) {
        bool has_segment = sb->segment;
        char name[NAME_BYTES];
        Execution *x, *next;

        HASH_ITER(hh, sb->executions, x, next) {
                journal_unlist(x);
                for (ExecutionStream s = 0; s < (x->spec.pty ? STREAM_STDERR : _STREAM_MAX) && x->has_files && !x->journals_gone; s++) {
                        journal_name(x, s, name);
                        recycle_name(sb->manager, name);
                }
                x->journals_gone = true;
        }
        segment_drop(sb);
        for (int i = 0; i < 2 && has_segment; i++) {
                (void) snprintf(name, sizeof(name), "%s%s", sb->id, i == 0 ? SEGMENT_DATA : SEGMENT_INDEX);
                recycle_name(sb->manager, name);
        }
}

void journal_remove(Execution *x) {
        char name[NAME_BYTES];

        journal_unlist(x);
        for (ExecutionStream s = 0; s < _STREAM_MAX && x->has_files; s++) {
                journal_name(x, s, name);
                (void) unlinkat(x->sandbox->manager->journals->box_fd, name, 0);
        }
        x->journals_gone = true;
        if (!x->has_files)
                segment_give_back(x);
}

int journal_open(const Execution *x, ExecutionStream stream) {
        char name[NAME_BYTES];
        int fd;

        journal_name(x, stream, name);
        fd = openat(x->sandbox->manager->journals->box_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                return errno == ENOENT ? -ENODATA : -errno;
        return fd;
}
