#include "core/limits.h"

#include <stdio.h>

#include "base/macro.h"

static const struct {
        const char *name; /* as the API and the config have it */
        size_t offset;
        bool narrow;      /* 32 bits */
        bool may_be_none; /* 0: no limit */
        double unit;      /* how many of ours make one of the name's */
} fields[] = {
#define LIMIT(field) offsetof(SandboxLimits, field)
        { "memoryMB",       LIMIT(memory_bytes),      false, false, 1 << 20               },
        { "cpuCores",       LIMIT(cpu_milli),         true,  true,  1000                  },
        { "cpuTimeSeconds", LIMIT(cpu_time_usec),     false, true,  (double) USEC_PER_SEC },
        { "diskMB",         LIMIT(disk_bytes),        false, false, 1 << 20               },
        { "pids",           LIMIT(pids),              true,  false, 1                     },
        { "timeoutSeconds", LIMIT(exec_timeout_usec), false, true,  (double) USEC_PER_SEC },
        { "outputBytes",    LIMIT(output_bytes),      false, false, 1                     },
        { "nofile",         LIMIT(nofile),            false, false, 1                     },
};

static uint64_t limits_get(const SandboxLimits *l, size_t i) {
        const char *at = (const char *) l + fields[i].offset;

        return fields[i].narrow ? *(const uint32_t *) (const void *) at : *(const uint64_t *) (const void *) at;
}

static void limits_set(SandboxLimits *l, size_t i, uint64_t value) {
        char *at = (char *) l + fields[i].offset;

        if (fields[i].narrow)
                *(uint32_t *) (void *) at = (uint32_t) value;
        else
                *(uint64_t *) (void *) at = value;
}

static bool is_said(const SandboxLimits *l, size_t i) {
        return limits_get(l, i) != (fields[i].narrow ? LIMIT_UNSAID_32 : LIMIT_UNSAID);
}

void limits_unsaid(SandboxLimits *l) {
        for (size_t i = 0; i < ELEMENTSOF(fields); i++)
                limits_set(l, i, LIMIT_UNSAID);
}

void limits_lay_over(SandboxLimits *base, const SandboxLimits *said) {
        for (size_t i = 0; i < ELEMENTSOF(fields); i++)
                if (is_said(said, i))
                        limits_set(base, i, limits_get(said, i));
}

static bool is_beyond(uint64_t wanted, uint64_t ceiling, bool may_be_none) {
        if (may_be_none && (wanted == 0 || ceiling == 0))
                return ceiling != 0 && wanted == 0;
        return wanted > ceiling;
}

int limits_check(const SandboxLimits *wanted, const SandboxLimits *ceiling, Error *reterr) {
        for (size_t i = 0; i < ELEMENTSOF(fields); i++) {
                uint64_t w = limits_get(wanted, i), c = limits_get(ceiling, i);
                char text[32] = "none";

                if (!is_beyond(w, c, fields[i].may_be_none))
                        continue;
                if (w > 0)
                        (void) snprintf(text, sizeof(text), "%.15g", (double) w / fields[i].unit);
                return error_set(reterr, -EPERM, "limits.%s: %s is more than %.15g", fields[i].name, text, (double) c / fields[i].unit);
        }
        return 0;
}
