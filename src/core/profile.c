#include "core/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/macro.h"
#include "config/config.h"

#define MB(n)      ((uint64_t) (n) << 20)
#define SECONDS(n) ((n) * USEC_PER_SEC)
#define MINUTES(n) ((n) * 60 * USEC_PER_SEC)

#define STUCK_DEFAULT MINUTES(30)

/* memory, CPU time, execution time and requests are the seeds'; storage is their range of 50–200 MB, by the size of the memory. */
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

void profile_done(Profile *p) {
        free(p->description);
        free(p->template_name);
        free(p->workdir);
        strv_done(&p->command);
        strv_done(&p->env);
        memset(p, 0, sizeof(*p));
}

const Profile *profile_find(const Config *c, const char *name) {
        for (size_t i = 0; i < c->n_profiles; i++)
                if (strcasecmp(c->profiles[i].name, name) == 0)
                        return &c->profiles[i];
        return NULL;
}
