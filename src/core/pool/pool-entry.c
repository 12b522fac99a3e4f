/* pool-entry.c: one pooled sandbox, from its creation to its end. */

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/shape.h"
#include "core/admission.h"
#include "core/pool/pool-internal.h"
#include "core/probe.h"
#include "core/settings.h"
#include "core/warmer.h"

#define CHECKS_AT_ONCE 4

void pool_entry_move(PoolEntry *e, PoolEntryState state) {
        Pool *pool = e->pool;

        DL_DELETE(pool->entries[e->state], e);
        pool->n[e->state]--;
        e->state = state;
        DL_APPEND(pool->entries[state], e);
        pool->n[state]++;
}

const char *const context_words[] = { "python", "javascript", "typescript", "bash", "r", "java", NULL };

void pool_entry_forget(PoolEntry *e) {
        const PoolWarmer *w = e->pool->pools->manager->warmer;
        Pool *pool = e->pool;

        if (e->warming && w)
                w->forget(e, w->userdata);
        sandbox_unwatch(&e->watch);
        sandbox_probe_forget(e->sandbox, e);
        DL_DELETE(pool->entries[e->state], e);
        pool->n[e->state]--;
        free(e);
}

/* The watch of the sandbox removes the entry. */
void pool_entry_end(PoolEntry *e, const char *reason) {
        e->ending = true;
        sandbox_end(e->sandbox, SANDBOX_TERMINATED, /* delete= */ true, reason);
}

void pool_end_unclaimed(Pool *pool, const char *reason) {
        for (PoolEntryState s = 0; s < ENTRY_USED; s++)
                while (pool->entries[s])
                        pool_entry_end(pool->entries[s], reason);
}

static void pool_entry_on_gone(PoolEntry *e) {
        Pool *pool = e->pool;
        bool used = e->state == ENTRY_USED;

        if (!used && !e->ending && !pool->pools->manager->stopping)
                pool_failed(pool, e->sandbox->reason);
        if (used)
                pool->released++;
        else
                pool->destroyed++;
        pool_entry_forget(e);
        pools_refill(pool->pools);
}

/* The CPU time so far is not charged to the later owner. */
static void forget_costs(Sandbox *sb) {
        Provider *p = sb->manager->provider;
        SandboxUsage usage = { 0 };

        if (p->ops->usage(p, sb, &usage) >= 0 && usage.has_cpu)
                sb->cpu_others_usec = usage.cpu_usec;
}

static void become_idle(PoolEntry *e) {
        usec_t took = clock_usec() - e->born, now = clock_wall_usec();
        Sandbox *sb = e->sandbox;
        Pool *pool = e->pool;

        forget_costs(sb);
        e->idle_since = clock_usec();
        pool_entry_move(e, ENTRY_IDLE);
        pool_made(pool, took);
        observe_step(sb->manager, STEP_PROVISION, sb, NULL, sb->created_at, now > sb->created_at ? now - sb->created_at : 0);
        pools_refill(pool->pools);
        admission_wake(sb->manager->admission); /* a request may wait for just this sandbox */
}

static void pool_entry_warm(PoolEntry *e);

static void on_warmed(_unused_ struct Context *x, const Error *error, void *asker) {
        PoolEntry *e = asker;

        e->warming = false;
        if (!error) {
                pool_entry_warm(e);
                return;
        }
        pool_failed(e->pool, error->text);
        pool_entry_end(e, "its interpreter cannot be begun");
}

/* Starts the interpreters, one after the other; then the entry counts as ready. */
static void pool_entry_warm(PoolEntry *e) {
        const PoolWarmer *w = e->pool->pools->manager->warmer;
        unsigned lacking = e->pool->config.contexts & ~e->warmed;
        Error error = { 0 };
        int i, r;

        if (lacking == 0 || !w) {
                become_idle(e);
                return;
        }
        i = __builtin_ctz(lacking);
        e->warmed |= 1u << i;
        e->warming = true;
        r = w->warm(e->sandbox, context_words[i], on_warmed, e, w->userdata, &error);
        if (r < 0)
                on_warmed(NULL, &error, e);
}

static void pool_entry_on_probed(Sandbox *sb, bool healthy, const char *text, _unused_ usec_t duration, void *userdata) {
        PoolEntry *e = userdata;

        if (!healthy) {
                pool_failed(e->pool, text);
                pool_entry_end(e, "unhealthy");
                return;
        }
        if (e->state == ENTRY_PROBING && !e->warming)
                pool_entry_warm(e);
        else
                forget_costs(sb); /* a repeated check uses CPU time too */
}

static void probe(PoolEntry *e) {
        int r = sandbox_probe(e->sandbox, core_settings(e->pool->pools->manager->settings).probe_timeout_usec, pool_entry_on_probed, e);

        e->checked_at = clock_usec();
        if (r >= 0 || r == -EALREADY)
                return;
        pool_failed(e->pool, strerror(-r));
        pool_entry_end(e, "cannot be probed");
}

/* Checks sandboxes that have been idle for long. */
void pool_check(Pool *pool) {
        usec_t now = clock_usec();
        unsigned n = 0;
        PoolEntry *e, *next;

        for (e = pool->entries[ENTRY_IDLE]; e && n < CHECKS_AT_ONCE; e = next) {
                next = e->next;
                if (now - e->checked_at < pool->config.eviction_interval_usec)
                        continue;
                probe(e);
                n++;
        }
}

static void pool_entry_on_changed(Sandbox *sb, _unused_ Execution *x, void *userdata) {
        PoolEntry *e = userdata;

        if (sandbox_is_ending(sb))
                pool_entry_on_gone(e);
        else if (e->state == ENTRY_MAKING && sb->status == SANDBOX_READY) {
                pool_entry_move(e, ENTRY_PROBING);
                probe(e);
        }
}

static PoolEntry *pool_entry_new(Pool *pool, PoolEntryState state) {
        PoolEntry *e = calloc(1, sizeof(*e));

        if (!e)
                return NULL;
        *e = (PoolEntry) {
                .pool = pool,
                .state = state,
                .born = clock_usec(),
                .watch = { .changed = pool_entry_on_changed, .userdata = e },
        };
        DL_APPEND(pool->entries[state], e);
        pool->n[state]++;
        return e;
}

static void entry_attach(PoolEntry *e, Sandbox *sb) {
        e->sandbox = sb;
        sandbox_watch(sb, &e->watch);
}

static int pool_entry_make_spec(const Pool *pool, SandboxSpec *ret) {
        int r = sandbox_spec_copy(&pool->shape, ret);

        if (r < 0)
                return r;
        strv_done(&ret->env); /* the owner brings its own */
        ret->env = (Strv) STRV_INIT(SANDBOX_ENV_MAX);
        ret->critical = false;
        r = shape_text_set(&ret->group, NULL);
        return r < 0 ? r : shape_text_set(&ret->profile, pool->config.profile[0] ? pool->config.profile : NULL);
}

int pool_make(Pool *pool) {
        _cleanup_(sandbox_spec_done) SandboxSpec spec = { 0 };
        PoolEntry *e = pool_entry_new(pool, ENTRY_MAKING);
        Error error = { 0 };
        Sandbox *sb;
        int r;

        if (!e)
                return -ENOMEM;
        r = pool_entry_make_spec(pool, &spec);
        if (r >= 0)
                r = manager_create_pooled(pool->pools->manager, &spec, &sb, &error);
        if (r < 0) {
                DL_DELETE(pool->entries[ENTRY_MAKING], e);
                pool->n[ENTRY_MAKING]--;
                free(e);
                pool_failed(pool, error.text[0] ? error.text : strerror(-r));
                return r;
        }
        entry_attach(e, sb);
        pool->created++;
        return 0;
}

/* Takes over a sandbox that an earlier daemon has made, claimed or not. An unclaimed one is probed again. */
int pool_adopt(Pool *pool, Sandbox *sb) {
        PoolEntry *e = pool_entry_new(pool, sb->pooled ? ENTRY_PROBING : ENTRY_USED);
        usec_t now = clock_wall_usec();

        if (!e)
                return -ENOMEM;
        entry_attach(e, sb);
        if (now > sb->created_at && now - sb->created_at < e->born)
                e->born -= now - sb->created_at;
        if (sb->pooled)
                probe(e);
        return 0;
}
