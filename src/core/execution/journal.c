/* journal.c: the files with the output of executions, and their limits.
 *
 *      <state>/box/<sandbox>-e1.out, -e1.err
 *
 * The sandbox's PID 1 writes them through descriptors made here. PID 1 bounds each stream by journal_grant() of
 * its start: the sandbox's limit, and at most a part of what the tenant's quota and the disk have left. The tenant
 * is charged for the files; while they grow, their size is read from the disk from time to time. The manager's
 * budget bounds all of them together: the tenant that holds most loses its oldest first, those of ended sandboxes
 * before others; a tenant within its share loses none. When less than half of the reserve is free, the execution
 * that writes most is ended.
 *
 * The files of a sandbox that is gone are emptied and kept as spares for future executions; when there are few
 * spares, some are made while the loop is idle. Most commands write little, and a file system that has just deleted
 * many files takes long to find a free inode: that took half of the daemon's time for an execution. */

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
#include "core/ledger.h"
#include "core/mask.h"
#include "core/quarantine.h"

#define SPARE_PREFIX    "spare-"
#define ASIDE_PREFIX    "aside-" /* in quarantine, and renamed because its name is needed */
#define SPARES_MAX      4096 /* empty files */
#define SPARES_STOCK    16   /* made ahead */
#define SPARE_BYTES_MAX (UINT64_C(1) << 20) /* a larger file takes as long to empty as to delete */
#define LOOK_USEC       USEC_PER_SEC
#define LOOK_SOON_USEC  (50 * USEC_PER_MSEC) /* when little space is free */
#define LOOK_MAX        512 /* files in one turn of the loop */
#define GRANT_MIN       (UINT64_C(64) << 10)
#define GRANT_OF_DISK   8 /* one stream gets one part in so many of the free space */
#define GRANT_OF_QUOTA  4
#define GROWTH_MIN      (UINT64_C(1) << 20) /* of an execution that is ended for it, between two looks */
#define NAME_BYTES      (SANDBOX_ID_LENGTH + EXECUTION_ID_MAX + 8)

typedef struct Journals {
        int box_fd;
        Execution *growing; /* of live sandboxes, in the order of the last look; what a command leaves behind may write after its end */
        sd_event_source *look; /* timer of the looks, while there are such executions */
        size_t n_spares;  /* their names are "spare-0" and so on */
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

static int journals_on_look(sd_event_source *source, uint64_t usec, void *userdata);

static int journals_add_look(Manager *m) {
        int r = sd_event_add_time(m->event, &m->journals->look, CLOCK_MONOTONIC, 0, 0, journals_on_look, m);

        return r >= 0 ? sd_event_source_set_enabled(m->journals->look, SD_EVENT_OFF) : r;
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
        sd_event_source_disable_unref(j->look);
        sd_event_source_disable_unref(j->stock);
        sd_event_source_disable_unref(j->anchor);
        (void) fd_close(j->box_fd);
        free(j);
        m->journals = NULL;
}

/* The name of a journal begins with the ids of its sandbox and its execution. Spares of a killed daemon have no
 * owner, and neither have journals of an execution whose row was not written yet. */
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

/* A journal is created before the row of its execution is written, and written to after that. So an empty file
 * without an owner holds no output, and a spare has no owner. Any other file is output of an execution that
 * this store does not know. */
static int sweep_name(Manager *m, const char *name) {
        struct stat st;

        if (find_owner(m, name))
                return 0;
        if (strncmp(name, SPARE_PREFIX, strlen(SPARE_PREFIX)) == 0 || fstatat(m->journals->box_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_size == 0)
                (void) unlinkat(m->journals->box_fd, name, 0);
        else
                (void) quarantine_add(m, QUARANTINE_JOURNAL, name, (uint64_t) st.st_size);
        return 0;
}

int journal_remove_stray(Manager *m, const char *name) {
        return unlinkat(m->journals->box_fd, name, 0) < 0 && errno != ENOENT ? -errno : 0;
}

bool journal_is_stray(Manager *m, const char *name) {
        unsigned long long number;
        char rest;

        if (sscanf(name, SPARE_PREFIX "%llu%c", &number, &rest) == 1)
                return number >= m->journals->n_spares;
        return !find_owner(m, name) && !quarantine_find(m, QUARANTINE_JOURNAL, name);
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

/* Not opened for appending: one process writes, with one offset. */
int journal_create(const Execution *x, ExecutionStream stream) {
        Journals *j = x->sandbox->manager->journals;
        char name[NAME_BYTES], spare[NAME_BYTES];
        bool has_spare = false;
        int fd;

        if (j->n_spares < SPARES_STOCK / 2)
                (void) sd_event_source_set_enabled(j->stock, SD_EVENT_ON);
        journal_name(x, stream, name);
        put_aside(x->sandbox->manager, name);
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

/* Only if no process can still write to it or read it: a response in progress would go on with the output of
 * the next execution, which may be another tenant's. The kernel grants a write lease only to the process that
 * alone has the file open. */
static bool make_spare(Journals *j, const char *name) {
        _cleanup_close_ int fd = openat(j->box_fd, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
        char spare[NAME_BYTES];
        struct stat st;

        if (fd < 0 || j->n_spares >= SPARES_MAX || fstat(fd, &st) < 0 || (uint64_t) st.st_size > SPARE_BYTES_MAX)
                return false;
        if (fcntl(fd, F_SETLEASE, F_WRLCK) < 0 || (st.st_size > 0 && ftruncate(fd, 0) < 0))
                return false;
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

/* The size that PID 1 reports at the end is trusted only as far as the file reaches. */
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

/* Charging. */

static void journal_charge(Execution *x, uint64_t bytes) {
        (void) ledger_charge(x->sandbox->manager, &x->journal, x->sandbox->spec.tenant, LEDGER_JOURNAL, bytes); /* without memory it is not counted for now */
}

void journals_charge(Sandbox *sb) {
        Execution *x, *next;

        HASH_ITER(hh, sb->executions, x, next)
                if (x->journal.row)
                        journal_charge(x, x->journal.amount);
}

static void journal_stop_looking(Execution *x) {
        if (!x->journal_grows)
                return;
        DL_DELETE2(x->sandbox->manager->journals->growing, x, journal_prev, journal_next);
        x->journal_grows = false;
}

static void journal_look_at(Execution *x) {
        DL_APPEND2(x->sandbox->manager->journals->growing, x, journal_prev, journal_next);
        x->journal_grows = true;
}

void journal_unlist(Execution *x) {
        journal_stop_looking(x);
        ledger_release(&x->journal);
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

static Execution *journal_owner(const LedgerEntry *e) {
        return (Execution *) (void *) ((char *) e - offsetof(Execution, journal));
}

static unsigned journal_rank(const LedgerEntry *e) {
        const Execution *x = journal_owner(e);

        return !execution_ended(x) || e->amount == 0 ? 0 : sandbox_status_is_live(x->sandbox->status) ? 1 : 2;
}

static void core_journal_make_room(Manager *m) {
        LedgerEntry *e;

        if (m->recovering)
                return; /* not all journals are counted yet */
        while ((e = ledger_victim(m, LEDGER_JOURNAL, m->config.journal_total_bytes, journal_rank))) {
                Execution *x = journal_owner(e);

                log_debug("sandbox %s: journals of %s are removed to make room", x->sandbox->id, x->id);
                journal_remove(x);
                store_may_lose(store_execution_update(m->store, x), "that journals are gone"); /* a client that opens them notices */
        }
}

static uint64_t journal_measure(const Execution *x) {
        const Journals *j = x->sandbox->manager->journals;
        char name[NAME_BYTES];
        uint64_t bytes = 0;
        struct stat st;

        for (ExecutionStream s = 0; s < _STREAM_MAX; s++) {
                journal_name(x, s, name);
                if (fstatat(j->box_fd, name, &st, AT_SYMLINK_NOFOLLOW) >= 0)
                        bytes += (uint64_t) st.st_size;
        }
        return execution_ended(x) ? MAX_OF(bytes, journal_bytes(x)) : bytes;
}

void journal_ended(Execution *x) {
        if (x->journals_gone)
                return;
        journal_charge(x, journal_measure(x));
        core_journal_make_room(x->sandbox->manager);
}

/* While they grow. */

/* At most one part of what is left of `all`, but always enough for an error message. */
static uint64_t journal_part(uint64_t grant, uint64_t all, uint64_t used, unsigned parts) {
        uint64_t part = all > used ? (all - used) / parts : 0;

        return MIN_OF(grant, part > GRANT_MIN ? part : GRANT_MIN);
}

uint64_t journal_grant(const Execution *x) {
        Manager *m = x->sandbox->manager;
        const char *tenant = x->sandbox->spec.tenant;
        uint64_t reserve, free_bytes = manager_space(m, &reserve), quota = ledger_limit(m, tenant, LEDGER_JOURNAL);
        uint64_t grant = x->sandbox->spec.limits.output_bytes;

        if (free_bytes != UINT64_MAX)
                grant = journal_part(grant, free_bytes, reserve, GRANT_OF_DISK);
        if (quota > 0) {
                LedgerSums sums = ledger_of_tenant(m, tenant);

                grant = journal_part(grant, quota, ledger_disk(&sums), GRANT_OF_QUOTA);
        }
        return grant;
}

static void journals_look_later(Manager *m, usec_t usec) {
        if (sd_event_source_set_time_relative(m->journals->look, usec) >= 0)
                (void) sd_event_source_set_enabled(m->journals->look, SD_EVENT_ONESHOT);
}

void journal_began(Execution *x) {
        Manager *m = x->sandbox->manager;

        if (x->spec.channel)
                return; /* its output does not go to journals */
        if (!m->journals->growing)
                journals_look_later(m, LOOK_SOON_USEC);
        journal_charge(x, 0);
        journal_look_at(x);
}

static void journal_end_writer(Execution *x, uint64_t growth, uint64_t free_bytes) {
        observe_security(x->sandbox->manager, "disk-kill", x->sandbox, "%s was ended: %llu MB are free, and it has just written %llu MB of output", x->id,
                        (unsigned long long) free_bytes >> 20, (unsigned long long) growth >> 20);
        execution_kill(x, EXECUTION_REASON_DISK);
}

static int journals_on_look(sd_event_source *source, uint64_t usec, void *userdata) {
        Manager *m = userdata;
        uint64_t reserve, free_bytes = manager_space(m, &reserve), most = 0;
        Execution *x, *last = m->journals->growing ? m->journals->growing->journal_prev : NULL, *writer = NULL;

        for (unsigned i = 0; last && i < LOOK_MAX; i++) {
                uint64_t bytes, growth;

                x = m->journals->growing;
                bytes = journal_measure(x);
                growth = bytes - MIN_OF(bytes, x->journal.amount);
                journal_charge(x, bytes);
                if (growth > most && !execution_ended(x) && x->kill_reason == EXECUTION_REASON_NONE) {
                        writer = x;
                        most = growth;
                }
                last = x == last ? NULL : last;
                journal_stop_looking(x);
                if (sandbox_status_is_live(x->sandbox->status))
                        journal_look_at(x);
        }
        if (writer && most >= GROWTH_MIN && free_bytes < reserve / 2)
                journal_end_writer(writer, most, free_bytes);
        core_journal_make_room(m);
        if (m->journals->growing)
                journals_look_later(m, free_bytes / 2 < reserve ? LOOK_SOON_USEC : LOOK_USEC);
        return 0;
}
