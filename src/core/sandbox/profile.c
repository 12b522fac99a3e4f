#include "core/profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/macro.h"
#include "base/shape.h"
#include "base/text.h"
#include "base/word.h"
#include "core/limits.h"
#include "core/settings.h"

#define MB(n)      ((uint64_t) (n) << 20)
#define SECONDS(n) ((n) * USEC_PER_SEC)
#define MINUTES(n) ((n) * 60 * USEC_PER_SEC)

#define STUCK_DEFAULT MINUTES(30)

/* Memory, CPU time, execution time and requests are those of the seeds; storage is within their range of 50–200
 * MB, by the size of the memory. */
#define AGENT(the_name, memory, cpu_seconds, minutes, requests, storage)                              \
        {                                                                                              \
                .name = the_name,                                                                      \
                .limits = {                                                                            \
                        .memory_bytes = MB(memory),                                                    \
                        .cpu_time_usec = SECONDS(cpu_seconds),                                         \
                        .disk_bytes = MB(storage),                                                     \
                        .pids = 512,                                                                   \
                        .exec_timeout_usec = MINUTES(minutes),                                         \
                        .output_bytes = MB(64),                                                        \
                        .nofile = 4096,                                                                \
                },                                                                                     \
                .wall_usec = MINUTES(minutes),                                                         \
                .network_requests = requests,                                                          \
                .stuck_usec = STUCK_DEFAULT,                                                           \
                .attempts_max = 3,                                                                     \
                .command = STRV_INIT(PROFILE_COMMAND_MAX),                                             \
                .env = STRV_INIT(SANDBOX_ENV_MAX),                                                     \
                .builtin = true,                                                                       \
        }

static const Profile builtins[] = {
        /*                          MB   CPU s  min  requests  storage MB */
        AGENT("ELICITATION",        256, 30,    5,   10,       50),
        AGENT("TEST_WRITER",        512, 60,    10,  20,       100),
        AGENT("IMPLEMENTATION",     1024, 120,  15,  50,       200),
        AGENT("CONTEXT_GATHERING",  256, 30,    5,   30,       50),
        AGENT("VALIDATION",         512, 60,    10,  20,       100),
};

size_t profile_builtins(const Profile **ret) {
        *ret = builtins;
        return ELEMENTSOF(builtins);
}

int profile_set_policy(Profile *p, const char *text, uint8_t network, const char *group) {
        char *copy = strdup(text), *copy_of_group = group ? strdup(group) : NULL;

        if (!copy || (group && !copy_of_group)) {
                free(copy);
                free(copy_of_group);
                return -ENOMEM;
        }
        free(p->policy);
        free(p->group);
        p->policy = copy;
        p->group = copy_of_group;
        p->network = network;
        return 0;
}

const Profile *profile_find(const Config *settings, const char *name) {
        CoreSettings c = core_settings(settings);

        for (size_t i = 0; i < c.n_profiles; i++)
                if (strcasecmp(c.profiles[i].name, name) == 0)
                        return &c.profiles[i];
        return NULL;
}

static int profile_copy_text(char **at, const char *text) {
        return *at ? 0 : string_copy(at, text); /* a value in the spec takes precedence */
}

/* Adds the assignment unless its name is set. strv_get_env() needs the name alone. */
static int env_below(Strv *env, const char *assignment) {
        char *name = strndup(assignment, strcspn(assignment, "="));
        bool there;

        if (!name)
                return -ENOMEM;
        there = strv_get_env(env, name);
        free(name);
        return there ? 0 : strv_push(env, assignment);
}

int profile_take_policy(const Profile *p, SandboxSpec *spec) {
        int r = shape_text_set(&spec->policy, p->policy);

        if (r >= 0)
                r = shape_text_set(&spec->group, p->group);
        if (r >= 0)
                spec->network = p->network;
        return r;
}

int profile_apply(const Profile *p, SandboxSpec *spec) {
        char *name = strdup(p->name);
        int r = name ? 0 : -ENOMEM;

        if (r >= 0)
                r = profile_copy_text(&spec->template_name, p->template_name);
        if (r >= 0)
                r = profile_copy_text(&spec->workdir, p->workdir);
        if (r >= 0 && p->policy && !spec->policy)
                r = profile_take_policy(p, spec);
        for (size_t i = 0; i < p->env.n && r >= 0; i++)
                r = env_below(&spec->env, p->env.items[i]);
        if (r < 0) {
                free(name);
                return r;
        }
        free(spec->profile);
        spec->profile = name;
        spec->limits = p->limits;
        spec->critical |= p->critical;
        spec->persistent |= p->persistent;
        return 0;
}

void profile_lend_limits(const Config *c, SandboxSpec *spec) {
        const Profile *p = spec->agent_type && !spec->profile ? profile_find(c, spec->agent_type) : NULL;

        if (p)
                spec->limits = p->limits;
}

int profile_unknown(const Config *settings, const char *name, Error *reterr) {
        CoreSettings c = core_settings(settings);
        unsigned best = word_tolerance(name);
        const char *nearest = NULL;
        char names[ERROR_TEXT_MAX / 2];
        size_t used = 0;

        for (size_t i = 0; i < c.n_profiles; i++) {
                if (word_is_nearer(name, c.profiles[i].name, &best))
                        nearest = c.profiles[i].name;
                if (used < sizeof(names))
                        used += (size_t) snprintf(names + used, sizeof(names) - used, "%s%s", i > 0 ? ", " : "", c.profiles[i].name);
        }
        return error_set(reterr, -EINVAL, "there is no profile '%.64s'%s%s%s (there are: %s)", name, nearest ? "; did you mean '" : "",
                        nearest ? nearest : "", nearest ? "'?" : "", c.n_profiles > 0 ? names : "none");
}
