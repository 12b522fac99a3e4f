/* journal.c: where the bytes of executions lie, and how many there may be.
 *
 *      <state>/box/<sandbox>/e1.out, e1.err
 *
 * Written by the sandbox's PID 1 through descriptors made here. One stream is bounded by the sandbox's limit, which PID 1
 * keeps; all ended ones together by the manager's, which is kept here: the oldest go first. */

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utlist.h>

#include "base/fd.h"
#include "base/log.h"
#include "core/internal.h"

typedef struct Journals {
        int box_fd;
        uint64_t total;     /* of those listed */
        Execution *ended;   /* oldest first */
} Journals;

static const char *const suffixes[_STREAM_MAX] = {
        [STREAM_STDOUT] = "out",
        [STREAM_STDERR] = "err",
};

int journals_new(Manager *m, Error *reterr) {
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
        return 0;
}

void journals_free(Manager *m) {
        if (!m->journals)
                return;
        (void) fd_close(m->journals->box_fd);
        free(m->journals);
        m->journals = NULL;
}

int journal_make_directory(Manager *m, const char *sandbox_id) {
        if (mkdirat(m->journals->box_fd, sandbox_id, 0700) < 0 && errno != EEXIST)
                return -errno;
        return 0;
}

int journal_remove_directory(Manager *m, const char *sandbox_id) {
        struct dirent *entry;
        DIR *directory;
        int fd;

        if (unlinkat(m->journals->box_fd, sandbox_id, AT_REMOVEDIR) == 0 || errno == ENOENT)
                return 0;
        fd = openat(m->journals->box_fd, sandbox_id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        directory = fdopendir(fd);
        if (!directory) {
                (void) fd_close(fd);
                return -ENOMEM;
        }
        while ((entry = readdir(directory)))
                if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                        (void) unlinkat(fd, entry->d_name, 0);
        (void) closedir(directory);
        return unlinkat(m->journals->box_fd, sandbox_id, AT_REMOVEDIR) < 0 ? -errno : 0;
}

int journals_each_directory(Manager *m, int (*each)(Manager *m, const char *sandbox_id)) {
        struct dirent *entry;
        DIR *directory;
        int fd;

        fd = openat(m->journals->box_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        directory = fdopendir(fd);
        if (!directory) {
                (void) fd_close(fd);
                return -ENOMEM;
        }
        while ((entry = readdir(directory)))
                if (entry->d_name[0] != '.')
                        (void) each(m, entry->d_name);
        (void) closedir(directory);
        return 0;
}

static void journal_name(const Execution *x, ExecutionStream stream, char *ret, size_t size) {
        (void) snprintf(ret, size, "%s/%s.%s", x->sandbox->id, x->id, suffixes[stream]);
}

/* Not for appending: splice(2) refuses such a file, and the writer is one process that shares one offset. */
int journal_create(const Execution *x, ExecutionStream stream) {
        char name[SANDBOX_ID_LENGTH + EXECUTION_ID_MAX + 8];
        int fd;

        journal_name(x, stream, name, sizeof(name));
        fd = openat(x->sandbox->manager->journals->box_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        return fd < 0 ? -errno : fd;
}

int execution_open_journal(const Execution *x, ExecutionStream stream) {
        char name[SANDBOX_ID_LENGTH + EXECUTION_ID_MAX + 8];
        int fd;

        if (x->spec.pty && stream == STREAM_STDERR)
                return -EINVAL;
        if (x->journals_gone)
                return -ENODATA;
        journal_name(x, stream, name, sizeof(name));
        fd = openat(x->sandbox->manager->journals->box_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                return errno == ENOENT ? -ENODATA : -errno;
        return fd;
}

/* What PID 1 says of an ended one is believed only as far as the file goes. */
uint64_t execution_journal_size(const Execution *x, ExecutionStream stream, int journal_fd) {
        struct stat st;

        if (fstat(journal_fd, &st) < 0)
                return 0;
        if (execution_ended(x))
                return MIN_OF(x->journals[stream].bytes, (uint64_t) st.st_size);
        return (uint64_t) st.st_size;
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
        char name[SANDBOX_ID_LENGTH + EXECUTION_ID_MAX + 8];

        journal_unlist(x);
        for (ExecutionStream s = 0; s < _STREAM_MAX; s++) {
                journal_name(x, s, name, sizeof(name));
                (void) unlinkat(j->box_fd, name, 0);
        }
        x->journals_gone = true;
}

static void make_room(Manager *m) {
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
        make_room(m);
}
