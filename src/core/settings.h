/* settings.h: the part of cove.yaml that the core goes by.
 *
 * The configuration is one value (config/config.h) that the core does not see into: Manager.settings points to it, and is replaced
 * as a whole when the file is read again. core_settings(), which config implements, gives a view of the core's part. A view is
 * valid until the caller returns to the loop.
 * Must not know: the file, its other sections. */
#pragma once

#include "core/profile.h"

typedef struct LimitsConfig { /* limits: */
        char profile[PROFILE_NAME_MAX + 1]; /* of sandboxes whose maker names none and is bound to none, admins aside; "": none */
        unsigned sandboxes_max;     /* live at once in the daemon; 0: from the machine's memory and the profiles */
        unsigned tenant_max;        /* per tenant that has no quota of its own; 0: none */
        usec_t queue_timeout_usec;  /* how long a caller waits for a place who says nothing else: 30 s */
        unsigned queue_max;         /* callers that wait at once: 10000 */
        uint64_t disk_reserve_bytes; /* below this much free space new work is refused: 256 MB */
} LimitsConfig;

typedef struct ZygoteConfig {
        char template_name[64];
        char language[64];
        Strv imports;
} ZygoteConfig;

typedef struct CoreSettings {
        const LimitsConfig *limits;
        const SandboxLimits *ceilings; /* ceilings: what a key that is no admin's may ask for without a profile; 0: allowance.h has what counts */
        const Profile *profiles;
        size_t n_profiles;
        const PoolConfig *pools;
        size_t n_pools;
        const ZygoteConfig *zygotes;
        size_t n_zygotes;
        bool record_by_default;     /* sandboxes that say nothing are recorded */
        usec_t probe_timeout_usec;  /* of a health check */
} CoreSettings;

CoreSettings core_settings(const Config *c);
