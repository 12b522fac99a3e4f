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

/* In memory. */

#define CUT            "cut" /* a file that marks a log that has ended early */
#define BLOCK          UINT64_C(4096)
#define FIRST_LINE_MAX (1 << 20)

Recording *recording_find(const Recorder *r, const char *id) {
        Recording *found;

        HASH_FIND_STR(r->recordings, id, found);
        return found;
}

void recording_free(Recorder *r, Recording *recording) {
        HASH_DEL(r->recordings, recording);
        ledger_release(&recording->charge);
        free(recording);
}

static uint64_t recording_blocks(uint64_t bytes) {
        return (bytes + BLOCK - 1) / BLOCK * BLOCK;
}

static int recording_reserve(Recorder *r, Recording *recording, uint64_t more, Error *reterr) {
        uint64_t budget = r->manager->settings->recording.total_bytes;
        const char *tenant = ledger_tenant(&recording->charge);

        if (!ledger_fits(r->manager, tenant, LEDGER_RECORDING, budget, more))
                record_make_room(r, recording, more);
        if (!ledger_fits(r->manager, tenant, LEDGER_RECORDING, budget, more))
                return error_set(reterr, -ENOSPC, "all recordings together may have %llu MB: raise recording.totalSize", (unsigned long long) budget >> 20);
        return ledger_reserve(r->manager, &recording->charge, tenant, LEDGER_RECORDING, recording->charge.amount + more, reterr);
}

int recording_resize(Recorder *r, Recording *recording, uint64_t from, uint64_t to, Error *reterr) {
        uint64_t before = recording_blocks(from), after = recording_blocks(to);

        if (after > before)
                return recording_reserve(r, recording, after - before, reterr);
        if (after < before)
                (void) ledger_charge(r->manager, &recording->charge, ledger_tenant(&recording->charge), LEDGER_RECORDING,
                                recording->charge.amount - MIN_OF(before - after, recording->charge.amount));
        return 0;
}

static int recording_add(Recorder *r, const char *id, const char *tenant, Recording **ret) {
        Recording *made = calloc(1, sizeof(*made));
        int k;

        if (!made)
                return -ENOMEM;
        (void) snprintf(made->id, sizeof(made->id), "%s", id);
        k = ledger_charge(r->manager, &made->charge, tenant, LEDGER_RECORDING, 0);
        if (k < 0) {
                free(made);
                return k;
        }
        HASH_ADD_STR(r->recordings, id, made);
        *ret = made;
        return 0;
}

/* On disk. */

static void recording_count_file(Recording *recording, int dirfd, const char *name, uint64_t *total) {
        struct stat st;

        if (strncmp(name, "in-", 3) == 0) {
                (void) unlinkat(dirfd, name, 0); /* an unfinished file of an earlier daemon */
                return;
        }
        if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return;
        *total += recording_blocks((uint64_t) st.st_size);
        if (strlen(name) == RECORD_BLOB_LENGTH)
                recording->bytes += (uint64_t) st.st_size;
        else if (strcmp(name, "log") == 0)
                recording->log_bytes = (uint64_t) st.st_size;
        else if (strcmp(name, CUT) == 0)
                recording->cut = true;
}

json_t *recording_first_line(int log_fd) {
        _cleanup_free_ char *text = malloc(FIRST_LINE_MAX + 1);
        ssize_t n = text ? pread(log_fd, text, FIRST_LINE_MAX, 0) : -1;

        return n > 0 ? json_loadb(text, (size_t) n, JSON_DISABLE_EOF_CHECK, NULL) : NULL;
}

int recording_load(Recorder *r, const char *id) {
        _cleanup_close_ int dirfd = recording_open_dir(r, id), log = -EBADF;
        _cleanup_directory_ DIR *directory = dirfd < 0 ? NULL : directory_open(dirfd, ".");
        _cleanup_json_ json_t *line = NULL;
        const struct dirent *entry;
        uint64_t total = 0;
        Recording *found;
        const char *tenant;
        int k;

        if (!directory)
                return 0; /* a file, or a link: not a recording */
        log = openat(dirfd, "log", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        line = log < 0 ? NULL : recording_first_line(log);
        tenant = json_string_value(json_object_get(line, "tenant"));
        k = recording_add(r, id, tenant, &found);
        if (k < 0)
                return k;
        while ((entry = directory_next(directory)))
                recording_count_file(found, dirfd, entry->d_name, &total);
        return ledger_charge(r->manager, &found->charge, tenant, LEDGER_RECORDING, total);
}

Recording *recording_get(Recorder *r, const Sandbox *sb) {
        Recording *found = recording_find(r, sb->id);
        int k;

        if (found)
                return found;
        k = mkdirat(r->dirfd, sb->id, 0700) < 0 && errno != EEXIST ? -errno : recording_add(r, sb->id, sb->spec.tenant, &found);
        if (k < 0) {
                recording_trouble(r, sb->id, k);
                return NULL;
        }
        recording_line(r, sb, recording_describe(sb));
        return found;
}

static int recording_append(const Recorder *r, const char *id, const char *text, size_t size) {
        _cleanup_close_ int dirfd = recording_open_dir(r, id), fd = -EBADF;

        if (dirfd < 0)
                return dirfd;
        fd = openat(dirfd, "log", O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
        return fd < 0 ? -errno : fd_write_all(fd, text, size);
}

/* Charges a line that is written even if there is no room. */
static void recording_charge_line(Recorder *r, Recording *recording, size_t size) {
        (void) ledger_charge(r->manager, &recording->charge, ledger_tenant(&recording->charge), LEDGER_RECORDING,
                        recording->charge.amount + recording_blocks(recording->log_bytes + size) - recording_blocks(recording->log_bytes));
}

/* Writes the last line: a replay must not take records after a gap for the next ones. */
static void recording_end_early(Recorder *r, Recording *recording, const char *why) {
        _cleanup_close_ int dirfd = recording_open_dir(r, recording->id), mark = -EBADF;
        _cleanup_json_ json_t *line = json_pack("{s:s, s:s}", "type", "cut", "reason", why);
        _cleanup_free_ char *text = NULL;
        size_t size = 0;

        recording->cut = true;
        mark = dirfd < 0 ? -EBADF : openat(dirfd, CUT, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        text = line ? json_print(line, &size) : NULL;
        if (!text || recording_append(r, recording->id, text, size) < 0)
                return;
        recording_charge_line(r, recording, size);
        recording->log_bytes += size;
}

void recording_line(Recorder *r, const Sandbox *sb, json_t *line) {
        Recording *recording = recording_find(r, sb->id);
        usec_t now = clock_wall_usec();
        _cleanup_free_ char *text = NULL;
        Error error = { 0 };
        size_t size = 0;
        int k;

        if (line) {
                (void) json_object_set_new(line, "atMs", json_integer(now > sb->created_at ? (json_int_t) ((now - sb->created_at) / USEC_PER_MSEC) : 0));
                text = json_print(line, &size);
                json_decref(line);
        }
        if (!recording || recording->cut)
                return;
        if (recording->log_bytes == 0)
                recording_charge_line(r, recording, size); /* it has the tenant that all is charged to */
        else if (recording_resize(r, recording, recording->log_bytes, recording->log_bytes + size, &error) < 0) {
                recording_end_early(r, recording, error.text);
                return;
        }
        k = text ? recording_append(r, sb->id, text, size) : -ENOMEM;
        if (k < 0) {
                (void) recording_resize(r, recording, recording->log_bytes + size, recording->log_bytes, /* reterr= */ NULL);
                recording_trouble(r, sb->id, k);
        } else
                recording->log_bytes += size;
}
