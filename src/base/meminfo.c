#include "base/meminfo.h"

#include <stdio.h>

#include "base/macro.h"

typedef enum Amount {
        AMOUNT_NONE,
        AMOUNT_TOTAL,
        AMOUNT_FREE,
        AMOUNT_USED,
} Amount;

static const struct {
        const char *name;
        Amount amount;
} lines[] = {
        { "MemTotal:",     AMOUNT_TOTAL },
        { "MemFree:",      AMOUNT_FREE  },
        { "MemAvailable:", AMOUNT_FREE  },
        { "Buffers:",      AMOUNT_NONE  },
        { "Cached:",       AMOUNT_NONE  },
        { "SwapCached:",   AMOUNT_NONE  },
        { "Active:",       AMOUNT_USED  },
        { "Inactive:",     AMOUNT_NONE  },
        { "SwapTotal:",    AMOUNT_NONE  }, /* the limit includes swap */
        { "SwapFree:",     AMOUNT_NONE  },
        { "Dirty:",        AMOUNT_NONE  },
        { "Writeback:",    AMOUNT_NONE  },
        { "Shmem:",        AMOUNT_NONE  },
        { "Slab:",         AMOUNT_NONE  },
        { "SReclaimable:", AMOUNT_NONE  },
        { "SUnreclaim:",   AMOUNT_NONE  },
};

size_t meminfo_format(uint64_t total_bytes, uint64_t used_bytes, char ret[static MEMINFO_MAX]) {
        uint64_t used = MIN_OF(used_bytes, total_bytes);
        const uint64_t amounts[] = {
                [AMOUNT_NONE] = 0,
                [AMOUNT_TOTAL] = total_bytes / 1024,
                [AMOUNT_FREE] = (total_bytes - used) / 1024,
                [AMOUNT_USED] = used / 1024,
        };
        size_t n = 0;

        for (size_t i = 0; i < ELEMENTSOF(lines); i++)
                n += (size_t) snprintf(ret + n, MEMINFO_MAX - n, "%-15s %12llu kB\n", lines[i].name,
                                (unsigned long long) amounts[lines[i].amount]);
        return n;
}
