/* manager.h: everything the daemon holds.
 *
 * One struct owns the loop, the store, the provider and all objects. Nothing else in the daemon is global.
 * Must not know: HTTP. */
#pragma once

#include <systemd/sd-event.h>

#include "core/access.h"
#include "core/execution.h"
#include "core/observer.h"
#include "core/sandbox.h"

typedef struct Store Store;
typedef struct Provider Provider;
typedef struct Config Config;

typedef struct ManagerConfig {
        const char *state_dir;
        uint64_t journal_total_bytes; /* of all journals together: the heaviest tenant's oldest go first */
        usec_t keep_ended_usec;       /* how long an ended sandbox can be inspected */
        unsigned sandboxes_max;
        bool recycle;          /* journals of sandboxes that are gone: only where their end is certain */
        const Strv *templates; /* NAME=DIR, beside "host" */
        usec_t helper_timeout_usec; /* helper.h; 0: nobody looks */
} ManagerConfig;

typedef struct ManagerStats {
        uint64_t active, provisioning, terminating; /* active: ready, running */
        uint64_t paused, stopped, ended;
        uint64_t total_created, total_destroyed;
        uint64_t executions_running, executions_total;
        uint64_t waiting, cap; /* for a place; the daemon's cap */
        uint64_t pooled;       /* made ahead, and nobody's: in none of the above */
} ManagerStats;

/* ailment.h */
typedef struct Ailment {
        const char *name; /* NULL: the place is free */
        bool ill;
        usec_t since; /* wall clock */
        char text[256];
} Ailment;
#define AILMENTS_MAX 8

/* Who should answer and does not. */
typedef struct ManagerSilence {
        const char *who;
        usec_t usec; /* 0: he does */
} ManagerSilence;

/* By which sandboxes are listed. */
typedef struct SandboxBirth {
        usec_t at;
        char id[SANDBOX_ID_LENGTH + 1];
} SandboxBirth;

struct Manager {
        ManagerConfig config;
        const Config *settings; /* cove.yaml; replaced as a whole when it is read again: look here each time, keep nothing of it */
        sd_event *event;
        Store *store;
        Provider *provider;
        Access *access;
        Sandbox *sandboxes; /* by id */
        PrefixIndex prefixes; /* of their ids */
        struct SandboxName *names; /* by tenant and name */
        bool recovering;           /* answers are 503 until it is over */
        struct Recovery *recovery;
        unsigned n_unreached; /* sandboxes that it ended without an answer of */
        bool stopping;
        unsigned requests_max; /* of callers, at once; of one tenant: half of them. 0: not bounded */
        unsigned held_max; /* sandboxes with processes that this daemon has descriptors for; 0: not bounded */
        struct Journals *journals;
        uint64_t total_created, total_destroyed, executions_total;
        SandboxBirth newest;   /* of the one that came last */
        bool out_of_order;     /* the table is not in order of creation: the clock was set back */
        struct Tallies *tallies;
        struct Ledger *ledger; /* ledger.h: what tenants hold */
        struct Acquisitions *acquisitions; /* under way */
        usec_t started_at;
        CoreObserver *observers;
        int64_t calendar_offset;       /* of the wall clock to the boot's, when it was looked at last */
        usec_t calendar_doubted_until; /* by the boot's clock */
        struct {
                usec_t looked_at; /* 0: never; monotonic */
                uint64_t free_bytes, total_bytes;
        } space; /* of the state directory's file system */
        sd_event_source *row_retry; /* something is not written down: see sandbox/row.c */
        struct Admission *admission;
        struct Pools *pools;
        const struct NetworkKeeper *network; /* network.h; NULL: sandboxes have none */
        int (*read_policy)(const char *text, struct Enforce *ret, Error *reterr); /* enforce.h; NULL: nobody can */
        const struct TemplateKeeper *templates; /* template.h; NULL: only the spawner's own */
        struct TreeCalls *tree_calls; /* trees.h */
        struct ZygoteCall *zygote_calls; /* zygote.h */
        uint64_t last_zygote;
        const ChannelKeeper *channels;   /* sandbox.h; NULL: nobody has any */
        const struct PoolWarmer *warmer; /* warmer.h; NULL: there are no interpreters */
        const struct SecretKeeper *secrets; /* secrets.h; NULL: there are none */
        const struct CoreRecorder *recorder; /* recorder.h; NULL: nothing is recorded */
        ManagerSilence silent; /* of the provider's */
        struct Quarantine *quarantine; /* quarantine.h */
        uint64_t generation; /* generation.h; 0: not known */
        bool doubts_store;   /* it is an older copy, or new */
        uint64_t grouped_since; /* trees.h; 0: not known yet */
        Ailment ailments[AILMENTS_MAX];
        struct KernelListing *listing; /* reap.h: somebody wants to know what is in the kernel */
};

/* Loads what the store has; requests can be taken when the provider, which comes next, has said that it is up and everything
 * has been looked at. Store and access stay the caller's. */
int manager_new(const ManagerConfig *config, const Config *settings, sd_event *event, Store *store, Access *access, Manager **ret, Error *reterr);
void manager_set_provider(Manager *m, Provider *provider);
Manager *manager_free(Manager *m);

/* By id or name, as the principal sees it: another tenant's is not there. NULL: there is none, and never comes back by itself. */
Sandbox *manager_find(Manager *m, const Principal *who, const char *id_or_name);
/* As a person writes it: by id or name, else by the beginning of its id (prefix.h). -ENOENT, -ENOTUNIQ: the error says so. */
int manager_resolve(Manager *m, const Principal *who, const char *text, Sandbox **ret, Error *reterr);
Sandbox *manager_by_id(const Manager *m, const char *id); /* whoever it belongs to */

Execution *manager_find_execution(Sandbox *sb, const char *id);

/* Without asking for caps: acquire.h does.
 * ret_existing: the name was taken, here is its owner; done is not called. Takes the spec's contents on success.
 * -EDQUOT: the table is full. done is called when it is ready or has failed (then it is gone already). */
int manager_create(Manager *m, const Principal *who, SandboxSpec *spec, Sandbox **ret, bool *ret_existing, SandboxDone done,
                void *userdata, Error *reterr);

/* For the caller who got an existing one that is still being made: as the done of manager_create(). */
int manager_await_ready(Sandbox *sb, SandboxDone done, void *userdata);

/* -ENOSPC: no new work is taken, because the state directory's file system is (nearly) full. Looks at most once a second. */
int manager_check_space(Manager *m, Error *reterr);
int manager_check_space_for(Manager *m, uint64_t more, Error *reterr); /* … after so many bytes more; looks each time */
/* -ENOSPC: there is nothing left, and nothing is begun; what is there can be changed and removed. */
int manager_check_room(Manager *m, Error *reterr);
uint64_t manager_space(Manager *m, uint64_t *ret_reserve); /* free bytes, now; and what of them is not for output */

/* All of them, live or not; watch the stats for the end. */
void manager_end_all(Manager *m, const char *reason);

/* Sandboxes that have processes, or had when the daemon ended. */
unsigned manager_count_held(const Manager *m);

void manager_stats(const Manager *m, const Principal *who, ManagerStats *ret);

/* False for an hour after somebody has set the calendar: what is old by it alone must not be removed for good. To be asked before
 * each such removal. */
bool manager_trusts_calendar(Manager *m);
