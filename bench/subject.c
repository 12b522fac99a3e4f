#include "subject.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "bundle.h"
#include "child.h"
#include "docker.h"
#include "probe.h"

#define LAUNCH_ARGS_MAX 64
#define LIST(...)       ((const char *const[]) { __VA_ARGS__, NULL })

static const struct {
        const char *name;
        const char *const *argv;
} commands[_COMMAND_MAX] = {
        [COMMAND_TRUE]   = { "true",   LIST("/usr/bin/true")                       },
        [COMMAND_PYTHON] = { "python", LIST("/usr/bin/python3", "-c", "1")         },
        [COMMAND_HOLD]   = { "hold",   LIST("/usr/bin/sh", "-c", "echo; exec cat") },
};

/* {argv} is the command, word by word; {program} what was found in PATH; {scratch} and {tag} are those of scratch.h;
 * {command} the command's name; {n} a number that no other launch has. */
const SubjectType subject_types[_SUBJECT_MAX] = {
        [SUBJECT_FORK_EXEC] = {
                .name = "fork-exec", .what = "floor: fork and exec, no sandbox",
                .every = 1,
                .start = floor_start_exec,
        },
        [SUBJECT_HOST] = {
                .name = "host", .what = "no sandbox: the very program that the sandboxes run",
                .every = 1,
                .argv = LIST("{argv}"),
        },
        [SUBJECT_NAMESPACES] = {
                .name = "namespaces", .what = "floor: clone3, id map, tmpfs root, pivot_root, exec",
                .every = 1,
                .start = floor_start_namespaces,
        },
        [SUBJECT_COVE] = {
                .name = "cove", .what = "cove run, all guards on",
                .every = 1,
                .argv = LIST("{program}", "run", "--", "{argv}"),
        },
        [SUBJECT_BWRAP] = {
                .name = "bwrap", .what = "bubblewrap, all its namespaces, the host's root read-only",
                .every = 1, .program = "bwrap",
                .argv = LIST("{program}", "--unshare-all", "--unshare-user", "--unshare-cgroup",
                             "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--", "{argv}"),
        },
        [SUBJECT_BWRAP_USR] = {
                .name = "bwrap-usr", .what = "bubblewrap, the same with nothing but /usr bound",
                .every = 1, .program = "bwrap",
                .argv = LIST("{program}", "--unshare-all", "--unshare-user", "--unshare-cgroup",
                             "--ro-bind", "/usr", "/usr", "--symlink", "usr/lib", "/lib",
                             "--symlink", "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev",
                             "--", "{argv}"),
        },
        [SUBJECT_RUNC] = {
                .name = "runc", .what = "runc, a minimal bundle",
                .every = 2, .settle = 10 * USEC_PER_MSEC, .program = "runc",
                .argv = LIST("{program}", "--root", "{scratch}/runc", "run",
                             "--bundle", "{scratch}/{command}", "{tag}-{n}"),
        },
        [SUBJECT_RUNSC] = {
                .name = "runsc", .what = "gVisor, the same bundle, ptrace platform",
                .every = 5, .settle = 50 * USEC_PER_MSEC, .program = "runsc",
                .argv = LIST("{program}", "--root", "{scratch}/runsc", "--platform=ptrace", "--network=none",
                             "--ignore-cgroups", "run", "--bundle", "{scratch}/{command}", "{tag}-{n}"),
        },
        [SUBJECT_DOCKER] = {
                .name = "docker", .what = "docker run on a private daemon",
                .every = 10, .settle = 200 * USEC_PER_MSEC, .program = "docker",
                .argv = LIST("{program}", "-H", "unix://{scratch}/docker.sock", "run", "--rm",
                             "--network=none", "--cgroup-parent={tag}", "--volume=/usr:/usr:ro",
                             DOCKER_IMAGE, "{argv}"),
        },
};

SubjectId subject_from_name(const char *name, size_t length) {
        for (int id = 0; id < _SUBJECT_MAX; id++)
                if (strlen(subject_types[id].name) == length &&
                                strncmp(subject_types[id].name, name, length) == 0)
                        return id;
        return _SUBJECT_INVALID;
}

void subjects_init(Subjects *s, const char *own_dir, const char *cove) {
        char path[PATH_MAX];

        (void) snprintf(path, sizeof(path), "%s/cove-bench-true", own_dir);
        for (int c = 0; c < _COMMAND_MAX; c++)
                s->exec_fds[c] = open(c == COMMAND_TRUE ? path : commands[c].argv[0], O_PATH | O_CLOEXEC);
        (void) snprintf(s->items[SUBJECT_COVE].program, PATH_MAX, "%s", cove);
}

void subjects_done(Subjects *s) {
        for (int c = 0; c < _COMMAND_MAX; c++)
                s->exec_fds[c] = fd_close(s->exec_fds[c]);
}

static int bundles_make(Subjects *s, Error *reterr) {
        char root[128], dir[128];
        int r;

        if (s->bundles_made)
                return 0;
        (void) snprintf(root, sizeof(root), "%s/rootfs", s->scratch->dir);
        r = bundle_make_root(root, reterr);
        for (int c = 0; c < _COMMAND_MAX && r >= 0; c++) {
                (void) snprintf(dir, sizeof(dir), "%s/%s", s->scratch->dir, commands[c].name);
                r = bundle_make(dir, root, commands[c].argv, reterr);
        }
        s->bundles_made = r >= 0;
        return r;
}

/* Finds the program, and makes what it starts from. */
static int subject_prepare(Subjects *s, SubjectId id, Error *reterr) {
        Subject *subject = s->items + id;
        char root[128];
        int r;

        if (subject_types[id].start && s->exec_fds[COMMAND_TRUE] < 0)
                return error_set(reterr, -ENOENT, "no cove-bench-true beside this program (script/build)");
        if (id == SUBJECT_COVE && access(subject->program, X_OK) < 0)
                return error_set(reterr, -errno, "'%s': %m (script/build makes it)", subject->program);
        if (subject_types[id].program) {
                r = child_find(subject_types[id].program, subject->program, sizeof(subject->program));
                if (r < 0)
                        return error_set(reterr, r, "%s is not installed (bench/setup installs it)",
                                        subject_types[id].program);
        }
        if (id == SUBJECT_RUNC || id == SUBJECT_RUNSC || id == SUBJECT_DOCKER) {
                r = bundles_make(s, reterr);
                if (r < 0)
                        return r;
        }
        if (id == SUBJECT_DOCKER) {
                (void) snprintf(root, sizeof(root), "%s/rootfs", s->scratch->dir);
                return docker_start(subject->program, s->scratch->dir, root, reterr);
        }
        return 0;
}

static int subject_probe(Subjects *s, SubjectId id, CommandId command, Error *reterr) {
        _cleanup_close_ int fd = -EBADF;
        int stdio[] = { child_quiet[0], child_quiet[1], -EBADF };
        char path[128];
        Launch launch;
        pid_t pid;
        int r;

        (void) snprintf(path, sizeof(path), "%s/stderr", s->scratch->dir);
        fd = probe_open(path, reterr);
        if (fd < 0)
                return fd;
        stdio[2] = fd;

        r = launch_init(&launch, s, id, command);
        if (r >= 0)
                r = launch_start(&launch, stdio, &pid);
        launch_done(&launch);
        if (r < 0)
                return error_set(reterr, r, "cannot be started: %m");
        return probe_finish(pid, path, reterr);
}

static Readiness readiness_from(int r) {
        return r < 0 ? READINESS_LEFT_OUT : READINESS_GOOD;
}

bool subjects_ready(Subjects *s, SubjectId id, CommandId command) {
        Subject *subject = s->items + id;

        if (!subject->selected)
                return false;
        if (id == SUBJECT_HOST && command != COMMAND_TRUE)
                return false; /* there fork-exec runs that program already */

        if (subject->prepared == READINESS_UNKNOWN)
                subject->prepared = readiness_from(subject_prepare(s, id, &subject->reason));
        if (subject->prepared == READINESS_LEFT_OUT)
                return false;

        if (subject->ready[command] == READINESS_UNKNOWN) {
                int r = subject_probe(s, id, command, &subject->reason);

                subject->ready[command] = readiness_from(r);
                if (r < 0)
                        (void) error_prefix(&subject->reason, r, "with '%s'", commands[command].name);
        }
        return subject->ready[command] == READINESS_GOOD;
}

static const char *placeholder_value(const Subjects *s, SubjectId id, CommandId command, const char *name,
                size_t length, char number[static 16]) {
        const struct {
                const char *name, *value;
        } values[] = {
                { "program", s->items[id].program   },
                { "scratch", s->scratch->dir        },
                { "tag",     s->scratch->tag        },
                { "command", commands[command].name },
                { "n",       number                 },
        };

        (void) snprintf(number, 16, "%u", s->n_launched);
        for (size_t i = 0; i < ELEMENTSOF(values); i++)
                if (strlen(values[i].name) == length && strncmp(values[i].name, name, length) == 0)
                        return values[i].value;
        return "";
}

static int word_expand(const Subjects *s, SubjectId id, CommandId command, const char *word, Strv *argv) {
        char text[PATH_MAX + 64], number[16];
        size_t n = 0;

        while (*word && n < sizeof(text)) {
                size_t length = strcspn(word, "{");

                n += (size_t) snprintf(text + n, sizeof(text) - n, "%.*s", (int) length, word);
                word += length;
                if (*word != '{' || n >= sizeof(text))
                        break;
                length = strcspn(++word, "}");
                n += (size_t) snprintf(text + n, sizeof(text) - n, "%s",
                                placeholder_value(s, id, command, word, length, number));
                word += length + 1;
        }
        return n < sizeof(text) ? strv_push(argv, text) : -E2BIG;
}

static int argv_expand(const Subjects *s, SubjectId id, CommandId command, Strv *argv) {
        for (const char *const *word = subject_types[id].argv; *word; word++) {
                int r = 0;

                if (strcmp(*word, "{argv}") != 0)
                        r = word_expand(s, id, command, *word, argv);
                else
                        for (size_t i = 0; commands[command].argv[i] && r >= 0; i++)
                                r = strv_push(argv, commands[command].argv[i]);
                if (r < 0)
                        return r;
        }
        return 0;
}

int launch_init(Launch *l, Subjects *s, SubjectId id, CommandId command) {
        *l = (Launch) {
                .subject = id,
                .argv = STRV_INIT(LAUNCH_ARGS_MAX),
                .floor = {
                        .exec_fd = s->exec_fds[command],
                        .argv = commands[command].argv,
                        .with_usr = command != COMMAND_TRUE,
                },
        };
        s->n_launched++;
        return subject_types[id].argv ? argv_expand(s, id, command, &l->argv) : 0;
}

void launch_done(Launch *l) {
        strv_done(&l->argv);
}

int launch_start(Launch *l, const int stdio[3], pid_t *ret) {
        if (!subject_types[l->subject].start)
                return child_start((const char *const *) l->argv.items, stdio, ret);
        l->floor.stdio = stdio;
        return subject_types[l->subject].start(&l->floor, ret);
}
