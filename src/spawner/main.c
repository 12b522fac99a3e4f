/* main.c: cove-spawner, started by coved with one end of a SOCK_SEQPACKET pair.
 *
 *      cove-spawner --channel FD --instance NAME [--template NAME=DIR]… [--state-dir DIR] [--storage-size BYTES] [--storage-reserve BYTES] [--shrink-after USEC] [--verbose] [--log-json]
 *
 * Only coved starts it. Exit status: 0 when coved has hung up, 1 when it cannot begin, 2 for wrong options. */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/kernel.h"
#include "base/log.h"
#include "base/parse.h"
#include "base/path.h"
#include "jail/userns.h"
#include "spawner/keeper.h"
#include "spawner/zygote.h"
#include "base/title.h"

#define CHANNEL_FD   3 /* its final number */
#define MS_SLAVE_ALL ((1u << 19) | (1u << 14)) /* MS_SLAVE | MS_REC: <sys/mount.h> and <linux/mount.h> do not go together */

static int apply_channel(SpawnerOptions *o, const char *value, Error *reterr) {
        uint64_t fd;
        int type;

        if (parse_uint64(value, 3, INT32_MAX, &fd) < 0 ||
                        getsockopt((int) fd, SOL_SOCKET, SO_TYPE, &type, &(socklen_t) { sizeof(type) }) < 0 ||
                        type != SOCK_SEQPACKET)
                return error_set(reterr, -EINVAL, "--channel: '%s' is no open SOCK_SEQPACKET socket", value);
        o->channel_fd = (int) fd;
        return 0;
}

static int apply_instance(SpawnerOptions *o, const char *value, Error *reterr) {
        if (!cgroup_instance_is_valid(value))
                return error_set(reterr, -EINVAL, "--instance: '%s' is not 1 to 32 of [a-z0-9_-]", value);
        free(o->instance);
        o->instance = strdup(value);
        return o->instance ? 0 : error_set(reterr, -ENOMEM, "out of memory");
}

static int spawner_apply_template(SpawnerOptions *o, const char *value, Error *reterr) {
        return template_add(&o->templates, value, reterr);
}

static int apply_state_dir(SpawnerOptions *o, const char *value, Error *reterr) {
        _cleanup_free_ char *normal = NULL;
        int r = path_normalize(value, &normal);

        if (r < 0)
                return error_set(reterr, r, "--state-dir: '%s' is no absolute path", value);
        free(o->state_dir);
        o->state_dir = TAKE_PTR(normal);
        return 0;
}

static int apply_storage_size(SpawnerOptions *o, const char *value, Error *reterr) {
        return parse_uint64(value, 0, UINT64_C(1) << 50, &o->storage.most_bytes) < 0 ?
                        error_set(reterr, -EINVAL, "--storage-size: '%s' is no number of bytes", value) : 0;
}

static int apply_storage_reserve(SpawnerOptions *o, const char *value, Error *reterr) {
        return parse_uint64(value, 0, UINT64_C(1) << 50, &o->storage.begin_bytes) < 0 ?
                        error_set(reterr, -EINVAL, "--storage-reserve: '%s' is no number of bytes", value) : 0;
}

static int apply_shrink_after(SpawnerOptions *o, const char *value, Error *reterr) {
        return parse_uint64(value, 0, UINT64_C(1) << 60, &o->shrink_usec) < 0 ? error_set(reterr, -EINVAL, "--shrink-after: '%s' is no number of microseconds", value) : 0;
}

static int apply_hang_after(SpawnerOptions *o, const char *value, Error *reterr) {
        return parse_uint64(value, 0, UINT64_C(1) << 40, &o->hang_usec) < 0 ? error_set(reterr, -EINVAL, "--hang-after: '%s' is no number of microseconds", value) : 0;
}

static int apply_id_ranges(SpawnerOptions *o, const char *value, Error *reterr) {
        uint64_t n;

        if (parse_uint64(value, 1, ID_RANGE_MOST, &n) < 0)
                return error_set(reterr, -EINVAL, "--id-ranges: '%s' is no number from 1 to %u", value, ID_RANGE_MOST);
        o->id_ranges = (uint32_t) n;
        return 0;
}

static int apply_zygote(SpawnerOptions *o, const char *value, Error *reterr) {
        return zygote_add(&o->zygotes, value, reterr);
}

static const struct {
        const char *name;
        int (*apply)(SpawnerOptions *o, const char *value, Error *reterr);
} options[] = {
        { "--channel",  apply_channel  },
        { "--instance", apply_instance },
        { "--template", spawner_apply_template },
        { "--state-dir", apply_state_dir },
        { "--storage-size", apply_storage_size },
        { "--storage-reserve", apply_storage_reserve },
        { "--shrink-after", apply_shrink_after },
        { "--hang-after", apply_hang_after },
        { "--id-ranges", apply_id_ranges },
        { "--zygote", apply_zygote },
};

static int apply_option(SpawnerOptions *o, const char *name, const char *value, Error *reterr) {
        for (size_t i = 0; i < ELEMENTSOF(options); i++)
                if (strcmp(options[i].name, name) == 0)
                        return value ? options[i].apply(o, value, reterr) : error_set(reterr, -EINVAL, "%s needs a value", name);
        return error_set(reterr, -EINVAL, "there is no option '%s'", name);
}

/* Everything is copied: the arguments are about to be replaced by a name. */
static int spawner_parse(SpawnerOptions *o, char **argv, Error *reterr) {
        for (char **p = argv + 1; *p; p++) {
                int r;

                if (strcmp(*p, "--log-json") == 0) {
                        log_json = true;
                        continue;
                }
                if (strcmp(*p, "--verbose") == 0) {
                        log_verbosity = 1;
                        continue;
                }
                r = apply_option(o, p[0], p[1], reterr);
                if (r < 0)
                        return r;
                p++;
        }
        if (o->channel_fd < 0 || !o->instance)
                return error_set(reterr, -EINVAL, "--channel and --instance are needed; this program is started by coved");
        return 0;
}

/* Keeps nothing of the caller's but stderr, for log lines, and the channel. */
static int spawner_settle(SpawnerOptions *o, Error *reterr) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC); /* closed with the rest, below */

        if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0)
                return error_set(reterr, -errno, "/dev/null: %m");
        if (fcntl(STDERR_FILENO, F_GETFD) < 0 && dup2(null, STDERR_FILENO) < 0)
                return error_set(reterr, -errno, "/dev/null: %m");
        if (o->channel_fd != CHANNEL_FD && dup2(o->channel_fd, CHANNEL_FD) < 0)
                return error_set(reterr, -errno, "--channel: %m");
        o->channel_fd = CHANNEL_FD;
        if (fcntl(CHANNEL_FD, F_SETFD, FD_CLOEXEC) < 0 || kernel_close_range(CHANNEL_FD + 1, ~0u, 0) < 0)
                return error_set(reterr, -errno, "cannot close inherited descriptors: %m");
        if (chdir("/") < 0)
                return error_set(reterr, -errno, "/: %m");
        (void) umask(022);
        return 0;
}

/* The depot is mounted in this namespace and is hidden from the rest of the host; mounts of the host still
 * appear in it. Without a namespace there is no depot. The namespace is the keeper's, so that the depot
 * outlives a worker. */
static void hide_mounts(SpawnerOptions *o) {
        if (!o->state_dir || userns_is_host_root() <= 0)
                return;
        if (unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_SLAVE_ALL, NULL) == 0)
                return;
        log_warning("cove-spawner: no mount namespace, and so no templates, snapshots and volumes: %m");
        free(o->state_dir);
        o->state_dir = NULL;
}

/* We end when coved does. A signal to all processes of a service or a terminal reaches coved too, which may
 * still have work for us. */
static void ignore_signals(void) {
        static const int ignored[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGUSR1, SIGUSR2 };

        (void) setsid();
        for (size_t i = 0; i < ELEMENTSOF(ignored); i++)
                (void) signal(ignored[i], SIG_IGN);
        (void) signal(SIGCHLD, SIG_DFL); /* if it were ignored, no child could be waited for */
}

int main(int argc, char **argv) {
        SpawnerOptions o = { .channel_fd = -EBADF };
        Error error = { 0 };
        int r;

        r = spawner_parse(&o, argv, &error);
        if (r < 0) {
                log_error("cove-spawner: %s", error.text);
                return 2;
        }
        r = spawner_settle(&o, &error);
        if (r < 0) {
                log_error("cove-spawner: %s", error.text);
                return EXIT_FAILURE;
        }
        hide_mounts(&o);
        ignore_signals();
        title_init(argc, argv);
        log_bounded = true;
        return keeper_run(&o);
}
