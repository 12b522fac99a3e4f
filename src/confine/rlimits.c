#include "confine/rlimits.h"

#include <errno.h>
#include <sys/resource.h>

#include "base/macro.h"

static int rlimits_lower(int resource, uint64_t value) {
        struct rlimit old, new;

        if (value == RLIMIT_VALUE_UNSET)
                return 0;
        if (getrlimit(resource, &old) < 0)
                return -errno;
        new.rlim_cur = new.rlim_max = old.rlim_max == RLIM_INFINITY ? value : MIN_OF(value, (uint64_t) old.rlim_max);
        if (resource == RLIMIT_CPU && new.rlim_max < old.rlim_max)
                new.rlim_max++; /* SIGXCPU at the limit, which tells why; SIGKILL a second later */
        if (setrlimit(resource, &new) < 0)
                return -errno;
        return 0;
}

typedef struct Limit {
        int resource;
        uint64_t value;
} Limit;

static int lower_all(const Limit *table, size_t n) {
        for (size_t i = 0; i < n; i++) {
                int r = rlimits_lower(table[i].resource, table[i].value);
                if (r < 0)
                        return r;
        }
        return 0;
}

int rlimits_apply_common(void) {
        static const Limit table[] = {
                { RLIMIT_CORE,       0               }, /* a core goes to the host's core_pattern */
                { RLIMIT_MEMLOCK,    8 * 1024 * 1024 },
                { RLIMIT_MSGQUEUE,   819200          }, /* kernel memory outside of the memory cgroup's reach on v1 */
                { RLIMIT_SIGPENDING, 4096            },
                { RLIMIT_RTPRIO,     0               },
                { RLIMIT_NICE,       0               },
        };

        return lower_all(table, ELEMENTSOF(table));
}

int rlimits_apply_own(const GuestRlimits *limits) {
        const Limit table[] = {
                { RLIMIT_NOFILE, limits->nofile      },
                { RLIMIT_DATA,   limits->data_bytes  },
                { RLIMIT_CPU,    limits->cpu_seconds },
                { RLIMIT_NPROC,  limits->nproc       },
                { RLIMIT_FSIZE,  limits->file_bytes ? limits->file_bytes : RLIMIT_VALUE_UNSET },
        };

        return lower_all(table, ELEMENTSOF(table));
}

int rlimits_apply(const GuestRlimits *limits) {
        int r = rlimits_apply_common();

        return r < 0 ? r : rlimits_apply_own(limits);
}
