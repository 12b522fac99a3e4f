/* settings.h: the part of cove.yaml that the core uses.
 *
 * The configuration is one opaque object (config/config.h): Manager.settings points to it, and is replaced as a
 * whole by a reload of the file. core_settings(), which config implements, returns a view of the core's part. A
 * view is valid until the caller returns to the loop.
 * Must not know: the file, its other sections. */
#pragma once

#include "core/profile.h"

typedef struct LimitsConfig { /* limits: */
        char profile[PROFILE_NAME_MAX + 1]; /* of requests that name none, by callers that are bound to none and are not admins; "": none */
        unsigned sandboxes_max;     /* live at once in the daemon; 0: from the machine's memory and the profiles */
        unsigned tenant_max;        /* per tenant without a quota of its own; 0: no limit */
        usec_t queue_timeout_usec;  /* default timeout in the queue: 30 s */
        unsigned queue_max;         /* requests in the queue: 10000 */
        uint64_t answer_bytes;       /* memory for answers that clients have not read yet; one tenant: half of it: 128 MB */
        unsigned id_ranges;          /* of user ids, for sandboxes of root's daemon: 12288 */
        uint64_t disk_reserve_bytes; /* below this much free space, new work is refused: 256 MB */
} LimitsConfig;

typedef struct ZygoteConfig {
        char template_name[64];
        char language[64];
        Strv imports;
} ZygoteConfig;

typedef struct CoreSettings {
        const LimitsConfig *limits;
        const SandboxLimits *ceilings; /* ceilings: the most that a key other than an admin's may request without a profile; 0: see allowance.h */
        const Profile *profiles;
        size_t n_profiles;
        const PoolConfig *pools;
        size_t n_pools;
        const ZygoteConfig *zygotes;
        size_t n_zygotes;
        bool record_by_default;     /* all sandboxes are recorded */
        usec_t probe_timeout_usec;  /* of a health check */
} CoreSettings;

CoreSettings core_settings(const Config *c);
