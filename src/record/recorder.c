#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/fd.h"
#include "base/id.h"
#include "record/internal.h"


/* Writes the first line as soon as the sandbox has an owner. */
static void recorder_on_status(Sandbox *sb, SandboxStatus from, SandboxStatus to, void *userdata) {
        Recorder *r = userdata;

        if (sb->spec.record && !sb->pooled)
                (void) recording_get(r, sb);
}

static int recorder_open_directory(Recorder *r, Error *reterr) {
        char path[4096];

        if ((size_t) snprintf(path, sizeof(path), "%s/recordings", r->manager->config.state_dir) >= sizeof(path))
                return error_set(reterr, -ENAMETOOLONG, "the path of the state directory is too long");
        if (mkdir(path, 0700) < 0 && errno != EEXIST)
                return error_set(reterr, -errno, "cannot make '%s' for recordings: %m", path);
        r->dirfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return r->dirfd < 0 ? error_set(reterr, -errno, "cannot open '%s' for recordings: %m", path) : 0;
}

/* Loads the recordings of earlier daemons. */
static int recorder_load(Recorder *r, Error *reterr) {
        _cleanup_directory_ DIR *directory = directory_open(r->dirfd, ".");
        const struct dirent *entry;
        int k = 0;

        while (k >= 0 && (entry = directory_next(directory)))
                if (id_is_valid(entry->d_name))
                        k = recording_load(r, entry->d_name);
        return k < 0 ? error_set(reterr, k, "cannot look at the recordings: %s", strerror(-k)) : 0;
}

int recorder_new(Manager *m, Recorder **ret, Error *reterr) {
        Recorder *r = calloc(1, sizeof(*r));
        int k;

        if (!r)
                return error_set(reterr, -ENOMEM, "out of memory");
        r->manager = m;
        r->dirfd = -EBADF;
        k = recorder_open_directory(r, reterr);
        if (k >= 0)
                k = recorder_load(r, reterr);
        if (k >= 0)
                k = record_expire_start(r, reterr);
        if (k < 0) {
                recorder_free(r);
                return k;
        }
        r->observer = (CoreObserver) { .status = recorder_on_status, .execution_started = record_started, .execution_ended = record_ended, .userdata = r };
        r->hooks = (CoreRecorder) {
                .file_begin = record_file_begin,
                .file_data = record_file_data,
                .file_end = record_file_end,
                .input = record_input,
                .userdata = r,
        };
        manager_observe(m, &r->observer);
        manager_set_recorder(m, &r->hooks);
        *ret = r;
        return 0;
}

Recorder *recorder_free(Recorder *r) {
        Recording *recording, *next;

        if (!r)
                return NULL;
        manager_set_recorder(r->manager, NULL);
        record_jobs_free(r);
        HASH_ITER(hh, r->recordings, recording, next)
                recording_free(r, recording);
        sd_event_source_disable_unref(r->turn);
        sd_event_source_disable_unref(r->expire);
        (void) fd_close(r->dirfd);
        free(r);
        return NULL;
}

/* For a sandbox that is gone: the first line has its tenant. */
static bool recorder_may_see(const Principal *who, int log_fd) {
        _cleanup_json_ json_t *line = recording_first_line(log_fd);

        return principal_sees(who, json_string_value(json_object_get(line, "tenant")));
}

static int recorder_open_file(Recorder *r, const char *id, const char *name) {
        _cleanup_close_ int dirfd = recording_open_dir(r, id);
        int fd;

        if (dirfd < 0)
                return dirfd;
        fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
}

static Sandbox *recorder_live(Recorder *r, const Principal *who, const char *sandbox) {
        Sandbox *sb = NULL;

        return manager_resolve(r->manager, who, sandbox, &sb, /* reterr= */ NULL) < 0 ? NULL : sb;
}

int recorder_open_log(Recorder *r, const Principal *who, const char *sandbox) {
        Sandbox *sb = recorder_live(r, who, sandbox);
        _cleanup_close_ int fd = -EBADF;

        if (sb)
                return sb->spec.record ? recorder_open_file(r, sb->id, "log") : -ENOENT;
        if (!id_is_valid(sandbox))
                return -ENOENT;
        fd = recorder_open_file(r, sandbox, "log");
        if (fd < 0)
                return fd;
        return recorder_may_see(who, fd) ? TAKE_FD(fd) : -ENOENT;
}

int recorder_open_blob(Recorder *r, const Principal *who, const char *sandbox, const char *sha256) {
        Sandbox *sb = recorder_live(r, who, sandbox);
        int log = recorder_open_log(r, who, sandbox);

        (void) fd_close(log);
        if (log < 0)
                return log;
        if (strlen(sha256) != RECORD_BLOB_LENGTH || strspn(sha256, "0123456789abcdef") != RECORD_BLOB_LENGTH)
                return -ENOENT;
        return recorder_open_file(r, sb ? sb->id : sandbox, sha256);
}
