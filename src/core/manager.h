/* manager.h: the root object of the daemon.
 *
 * One struct holds the loop, the store, the provider and all objects. Nothing else in the daemon is global.
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
        uint64_t journal_total_bytes; /* of all journals together: the oldest of the tenant with most are removed first */
        usec_t keep_ended_usec;       /* how long an ended sandbox can be inspected */
        unsigned sandboxes_max;
        bool recycle;          /* reuse journals of sandboxes that are gone: only if no process can still write to them */
        const Strv *templates; /* NAME=DIR, beside "host" */
        usec_t helper_timeout_usec; /* the hang_usec of helper.h; 0: no limit */
} ManagerConfig;

typedef struct ManagerStats {
        uint64_t active, provisioning, terminating; /* active: ready, running */
        uint64_t paused, stopped, ended;
        uint64_t total_created, total_destroyed;
        uint64_t executions_running, executions_total;
        uint64_t waiting, cap; /* requests in the queue; the daemon's cap */
        uint64_t pooled;       /* made ahead and not claimed: in none of the above */
} ManagerStats;

/* ailment.h */
typedef struct Ailment {
        const char *name; /* NULL: an unused slot */
        bool ill;
        usec_t since; /* wall clock */
        char text[256];
} Ailment;
#define AILMENTS_MAX 8

/* The process that makes sandboxes, while it does not answer. */
typedef struct ManagerSilence {
        const char *who;
        usec_t usec; /* 0: it answers */
} ManagerSilence;

/* The order of listings of sandboxes. */
typedef struct SandboxBirth {
        usec_t at;
        char id[SANDBOX_ID_LENGTH + 1];
} SandboxBirth;

struct Manager {
        ManagerConfig config;
        const Config *settings; /* cove.yaml; replaced as a whole by a reload: keep no pointer into it across turns of the loop */
        sd_event *event;
        struct Settle *settle; /* settle.h; NULL: everything is written at once */
        Store *store;
        Provider *provider;
        Access *access;
        Sandbox *sandboxes; /* by id */
        PrefixIndex prefixes; /* of their ids */
        struct SandboxName *names; /* by tenant and name */
        bool recovering;           /* the API answers 503 until it is over */
        struct Recovery *recovery;
        unsigned n_unreached; /* live sandboxes whose PID 1 has not answered since the start */
        bool stopping;
        unsigned requests_max; /* concurrent requests; of one tenant: half of them. 0: no limit */
        unsigned held_max; /* sandboxes with processes, by what the machine gives the daemon; 0: no limit */
        const char *held_cure; /* what raises that */
        struct Journals *journals;
        struct Segments *segments;
        uint64_t total_created, total_destroyed, executions_total;
        SandboxBirth newest;   /* of the sandbox that was added last */
        bool out_of_order;     /* the table is not in order of creation: the clock was set back */
        struct Tallies *tallies;
        struct Ledger *ledger; /* ledger.h: what tenants hold */
        struct Acquisitions *acquisitions; /* in progress */
        usec_t started_at;
        CoreObserver *observers;
        int64_t calendar_offset;       /* CLOCK_REALTIME minus CLOCK_BOOTTIME, at the last check */
        usec_t calendar_doubted_until; /* CLOCK_BOOTTIME */
        struct {
                usec_t looked_at; /* 0: never; monotonic */
                uint64_t free_bytes, total_bytes;
        } space; /* of the state directory's file system */
        struct {
                usec_t looked_at; /* 0: never; monotonic */
                bool there;
        } authorities; /* the host's list of certificate authorities, see execution/command.c */
        sd_event_source *row_retry; /* set while a row could not be written: see sandbox/row.c */
        struct Admission *admission;
        struct Pools *pools;
        const struct NetworkKeeper *network; /* network.h; NULL: sandboxes have none */
        int (*read_policy)(const char *text, struct Enforce *ret, Error *reterr); /* enforce.h; NULL: there is no reader */
        const struct TemplateKeeper *templates; /* template.h; NULL: only the spawner's own */
        struct TreeCalls *tree_calls; /* trees.h */
        struct ZygoteCall *zygote_calls; /* zygote.h */
        uint64_t last_zygote;
        const ChannelKeeper *channels;   /* sandbox.h; NULL: there is none */
        const struct PoolWarmer *warmer; /* warmer.h; NULL: there are no interpreters */
        const struct SecretKeeper *secrets; /* secrets.h; NULL: there are none */
        const struct CoreRecorder *recorder; /* recorder.h; NULL: nothing is recorded */
        ManagerSilence silent;
        struct Quarantine *quarantine; /* quarantine.h */
        uint64_t generation; /* generation.h; 0: not known */
        struct Home *home;   /* home.h */
        bool doubts_store;   /* the store is an older copy, or new: generation.h */
        uint64_t grouped_since; /* trees.h; 0: not known yet */
        Ailment ailments[AILMENTS_MAX];
        struct KernelListing *listing; /* reap.h: in progress; NULL: none */
};

/* Loads the store. Requests can be served after manager_set_provider(), when the provider is up and the recovery
 * is over. Store and access stay the caller's. */
int manager_new(const ManagerConfig *config, const Config *settings, sd_event *event, Store *store, Access *access, Manager **ret, Error *reterr);
void manager_set_provider(Manager *m, Provider *provider);
Manager *manager_free(Manager *m);

/* By id or name, among the sandboxes that the principal sees. NULL: there is none. */
Sandbox *manager_find(Manager *m, const Principal *who, const char *id_or_name);
/* By id or name, else by the beginning of the id (prefix.h). -ENOENT, -ENOTUNIQ. */
int manager_resolve(Manager *m, const Principal *who, const char *text, Sandbox **ret, Error *reterr);
Sandbox *manager_by_id(const Manager *m, const char *id); /* of any tenant */

Execution *manager_find_execution(Sandbox *sb, const char *id);

/* Does not check caps: acquire.h does. done is called when the sandbox is ready or has failed; a failed one is gone
 * already. ret_existing: the name is taken, and *ret is the existing sandbox; done is not called. Takes the spec's
 * contents on success. -EDQUOT: the table is full. -EAGAIN: the provider does not answer. */
int manager_create(Manager *m, const Principal *who, SandboxSpec *spec, Sandbox **ret, bool *ret_existing, SandboxDone done,
                void *userdata, Error *reterr);

/* For a caller that got an existing sandbox that is still being made: done as of manager_create(). */
int manager_await_ready(Sandbox *sb, SandboxDone done, void *userdata);

/* -ENOSPC: no new work is accepted, because the free space of the state directory's file system is below the
 * reserve. Reads it at most once a second, unless it would refuse. */
int manager_check_space(Manager *m, Error *reterr);
int manager_check_space_for(Manager *m, uint64_t more, Error *reterr); /* the same with `more` bytes less; reads it each time */
/* -ENOSPC: the disk is full, also for running work, and nothing is begun; existing objects can be changed and
 * removed. */
int manager_check_room(Manager *m, Error *reterr);
uint64_t manager_space(Manager *m, uint64_t *ret_reserve); /* free bytes now, and the reserve; UINT64_MAX: not known */

/* Ends all sandboxes; watch the stats for the end. */
void manager_end_all(Manager *m, const char *reason);

/* Number of sandboxes that are neither ended nor parked. */
unsigned manager_count_held(const Manager *m);

void manager_stats(const Manager *m, const Principal *who, ManagerStats *ret);

/* False for an hour after the wall clock was set by more than five minutes: objects that are old only by the wall
 * clock must not be removed for good. To be checked before each such removal. */
bool manager_trusts_calendar(Manager *m);
