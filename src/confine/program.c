#include "confine/program.h"

#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/kernel.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/program.h"
#include "confine/caps.h"
#include "confine/seccomp.h"

static int program_close_others(const ProgramWalls *w) {
        return w->descriptors > 0 && kernel_close_range(w->descriptors, ~0u, 0) < 0 ? -errno : 0;
}

/* Sets the soft and the hard limit; never above the hard limit that we were started with. */
static int program_limit(int resource, uint64_t value) {
        struct rlimit limit;

        if (getrlimit(resource, &limit) < 0)
                return -errno;
        limit.rlim_cur = limit.rlim_max = MIN_OF(limit.rlim_max, (rlim_t) value);
        return setrlimit(resource, &limit) < 0 ? -errno : 0;
}

static int program_set_limits(const ProgramWalls *w) {
        int r = program_limit(RLIMIT_CORE, 0);

        if (r >= 0 && w->no_children)
                r = program_limit(RLIMIT_NPROC, 0);
        if (r >= 0 && w->descriptors_max > 0)
                r = program_limit(RLIMIT_NOFILE, w->descriptors_max);
        if (r >= 0 && w->memory_max > 0 && !PROGRAM_SANITIZED)
                r = program_limit(RLIMIT_AS, w->memory_max);
        return r;
}

static int program_permitted(uint64_t *ret) {
        struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct data[2] = { 0 };

        if (syscall(SYS_capget, &header, data) < 0)
                return -errno;
        *ret = data[0].permitted | (uint64_t) data[1].permitted << 32;
        return 0;
}

static int program_drop_privileges(const ProgramWalls *w) {
        uint64_t have = 0;
        int r;

        if (geteuid() == 0) {
                r = caps_drop_bounding(CAPS_ALL, w->capabilities);
                if (r < 0 && r != -EPERM)
                        return r;
        }
        r = program_permitted(&have);
        if (r < 0)
                return r;
        r = caps_set(have & w->capabilities);
        if (r < 0)
                return r;
        if (!PROGRAM_SANITIZED && prctl(PR_SET_DUMPABLE, 0) < 0) /* a leak checker reads its own memory */
                return -errno;
        return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : 0;
}

static int program_restrict_files(const ProgramWalls *w) {
        int abi = landlock_probe();

        if (abi == -EOPNOTSUPP || (abi > 0 && abi < w->landlock_abi)) {
                if (w->without_landlock)
                        log_warning("%s", w->without_landlock);
                return 0;
        }
        return abi < 0 ? abi : landlock_restrict(&w->forbidden, w->rules, w->n_rules);
}

static int program_filter_calls(const ProgramWalls *w) {
        int r = 0;

        for (size_t i = 0; i < ELEMENTSOF(w->filters) && r >= 0 && !PROGRAM_SANITIZED; i++)
                if (w->filters[i].n > 0)
                        r = seccomp_load_filter(w->filters[i].items, w->filters[i].n);
        return r >= 0 && w->no_processes && !PROGRAM_SANITIZED ? seccomp_load_no_processes() : r;
}

int program_confine(const ProgramWalls *walls, Error *reterr) {
        static const struct {
                const char *name;
                int (*raise)(const ProgramWalls *w);
        } steps[] = {
                { "descriptors", program_close_others    },
                { "limits",      program_set_limits      },
                { "privileges",  program_drop_privileges }, /* no_new_privs, which the next two require */
                { "files",       program_restrict_files  },
                { "calls",       program_filter_calls    }, /* last: it forbids what the others use */
        };

        for (size_t i = 0; i < ELEMENTSOF(steps); i++) {
                int r = steps[i].raise(walls);

                if (r < 0)
                        return error_set(reterr, r, "cannot confine itself (%s): %m", steps[i].name);
        }
        return 0;
}

/* The command line. */

int program_set_text(const char *value, void *place, Error *reterr) {
        *(const char **) place = value;
        return 0;
}

int program_set_true(const char *value, void *place, Error *reterr) {
        *(bool *) place = true;
        return 0;
}

int program_set_number(const char *value, void *place, Error *reterr) {
        int r = parse_uint64(value, 1, INT64_MAX, place);

        return r < 0 ? error_set(reterr, r, "no number: '%.64s'", value) : 0;
}

static int program_parse_verb(const Program *p, const char *name, ProgramArguments *ret, Error *reterr) {
        char names[256] = "";

        for (size_t i = 0; i < p->n_verbs; i++) {
                if (name && strcmp(name, p->verbs[i].name) == 0) {
                        ret->verb = i;
                        return 0;
                }
                (void) snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s", i > 0 ? "|" : "", p->verbs[i].name);
        }
        return error_set(reterr, -EINVAL, "usage: %s %s …", p->name, names);
}

static int program_parse_option(const Program *p, char **argv, int *i, void *options, Error *reterr) {
        const ProgramArguments *a = options;
        const char *name = argv[*i];

        for (const ProgramOption *o = p->options; o < p->options + p->n_options; o++) {
                if (strcmp(o->name, name) != 0 || !(o->verbs & 1u << a->verb))
                        continue;
                if (!o->flag && !argv[++*i])
                        return error_set(reterr, -EINVAL, "%s needs a value", name);
                return o->set(argv[*i], (char *) options + o->offset, reterr);
        }
        return error_set(reterr, -EINVAL, "%s %s: no such option: '%.80s'", p->name, p->verbs[a->verb].name, name);
}

int program_parse(const Program *p, int argc, char **argv, void *options, Error *reterr) {
        ProgramArguments *a = options;
        int i = 2, r = program_parse_verb(p, argc > 1 ? argv[1] : NULL, a, reterr);

        if (r >= 0 && p->verbs[a->verb].operand) {
                if (argc < 3)
                        return error_set(reterr, -EINVAL, "%s needs %s", p->verbs[a->verb].name, p->verbs[a->verb].operand);
                a->operand = argv[i++];
        }
        for (; i < argc && r >= 0; i++)
                r = program_parse_option(p, argv, &i, options, reterr);
        return r;
}

int program_main(const Program *p, int argc, char **argv, void *options) {
        ProgramWalls walls = { 0 };
        Error error = { 0 };
        int r;

        program_set_name(p->name);
        (void) signal(SIGPIPE, SIG_IGN);
        r = program_parse(p, argc, argv, options, &error);
        if (r >= 0)
                r = p->prepare(options, &error);
        if (r >= 0) {
                p->walls(options, &walls);
                r = program_confine(&walls, &error);
        }
        if (r >= 0)
                r = p->verbs[((const ProgramArguments *) options)->verb].run(options, &error);
        if (r < 0)
                program_tell_failure(&error);
        return r < 0;
}
