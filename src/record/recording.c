#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/fd.h"
#include "base/log.h"
#include "config/config.h"
#include "record/internal.h"

void recording_trouble(Recorder *r, const char *id, int error) {
        errno = -error;
        if (!r->complained)
                log_warning("sandbox %s: cannot write all of its recording, ignoring: %m", id);
        r->complained = true;
}

json_t *recording_env(const Strv *env) {
        json_t *o = json_object();

        for (size_t i = 0; i < env->n; i++) {
                const char *equals = strchr(env->items[i], '=');
                _cleanup_free_ char *name = equals ? strndup(env->items[i], (size_t) (equals - env->items[i])) : NULL;

                if (name)
                        (void) json_object_set_new(o, name, json_text_or_null(equals + 1));
        }
        return o;
}

json_t *recording_user(uint32_t uid, uint32_t gid) {
        return json_sprintf("%u:%u", uid, gid);
}

int recording_open_dir(const Recorder *r, const char *id) {
        int fd = openat(r->dirfd, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        return fd < 0 ? -errno : fd;
}

static json_t *recording_limits_json(const SandboxLimits *l) {
        return json_pack("{s:f, s:f, s:f, s:i, s:f, s:f, s:I, s:I}",
                        "memoryMB", (double) l->memory_bytes / (1 << 20),
                        "diskMB", (double) l->disk_bytes / (1 << 20),
                        "cpuCores", (double) l->cpu_milli / 1000,
                        "pids", (int) l->pids,
                        "cpuTimeSeconds", (double) l->cpu_time_usec / USEC_PER_SEC,
                        "timeoutSeconds", (double) l->exec_timeout_usec / USEC_PER_SEC,
                        "outputBytes", (json_int_t) l->output_bytes,
                        "nofile", (json_int_t) l->nofile);
}

/* The first line. */
static json_t *recording_describe(const Sandbox *sb) {
        const SandboxSpec *s = &sb->spec;

        return json_pack("{s:s, s:s, s:o, s:s, s:s, s:o, s:b, s:o, s:o, s:o, s:s, s:o, s:o}",
                        "type", "sandbox",
                        "sandbox", sb->id,
                        "name", json_text_or_null(s->name),
                        "tenant", s->tenant ? s->tenant : "",
                        "template", s->template_name ? s->template_name : "host",
                        "templateDigest", json_text_or_null(s->digest),
                        "persistent", s->persistent,
                        "snapshot", json_text_or_null(s->snapshot),
                        "limits", recording_limits_json(&s->limits),
                        "env", recording_env(&s->env),
                        "workdir", s->workdir && *s->workdir ? s->workdir : "/workspace",
                        "user", recording_user(s->uid, s->gid),
                        "policy", s->policy ? json_loads(s->policy, 0, NULL) : json_null());
}

/* What earlier lives of the daemon have put there. */
static uint64_t recording_count_bytes(int dirfd) {
        _cleanup_directory_ DIR *directory = directory_open(dirfd, ".");
        const struct dirent *entry;
        uint64_t total = 0;
        struct stat st;

        while ((entry = directory_next(directory)))
                if (strlen(entry->d_name) == RECORD_BLOB_LENGTH && fstatat(dirfd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
                        total += (uint64_t) st.st_size;
        return total;
}

static int recording_make_directory(Recorder *r, const Sandbox *sb, uint64_t *ret_bytes, bool *ret_made) {
        _cleanup_close_ int fd = -EBADF;

        *ret_made = mkdirat(r->dirfd, sb->id, 0700) == 0;
        if (!*ret_made && errno != EEXIST)
                return -errno;
        fd = recording_open_dir(r, sb->id);
        if (fd < 0)
                return fd;
        *ret_bytes = *ret_made ? 0 : recording_count_bytes(fd);
        return 0;
}

Recording *recording_get(Recorder *r, const Sandbox *sb) {
        Recording *found = NULL;
        bool made;
        int k;

        HASH_FIND_STR(r->recordings, sb->id, found);
        if (found)
                return found;
        found = calloc(1, sizeof(*found));
        if (!found)
                return NULL;
        memcpy(found->id, sb->id, sizeof(found->id));
        k = recording_make_directory(r, sb, &found->bytes, &made);
        if (k < 0) {
                recording_trouble(r, sb->id, k);
                free(found);
                return NULL;
        }
        HASH_ADD_STR(r->recordings, id, found);
        if (made)
                recording_line(r, sb, recording_describe(sb));
        return found;
}

static int recording_append(Recorder *r, const char *id, const char *text, size_t size) {
        _cleanup_close_ int dirfd = recording_open_dir(r, id), fd = -EBADF;

        if (dirfd < 0)
                return dirfd;
        fd = openat(dirfd, "log", O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
        return fd < 0 ? -errno : fd_write_all(fd, text, size);
}

void recording_line(Recorder *r, const Sandbox *sb, json_t *line) {
        usec_t now = clock_wall_usec();
        _cleanup_free_ char *text = NULL;
        size_t size = 0;
        int k;

        if (line) {
                (void) json_object_set_new(line, "atMs", json_integer(now > sb->created_at ? (json_int_t) ((now - sb->created_at) / USEC_PER_MSEC) : 0));
                text = json_print(line, &size);
                json_decref(line);
        }
        k = text ? recording_append(r, sb->id, text, size) : -ENOMEM;
        if (k < 0)
                recording_trouble(r, sb->id, k);
}
