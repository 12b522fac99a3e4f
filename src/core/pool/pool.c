#include "core/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "core/admission.h"
#include "core/enforce.h"
#include "core/network.h"
#include "core/pool/pool-internal.h"
#include "core/settings.h"
#include "core/template.h"
#include "core/trees.h"

#define WORKDIR_DEFAULT "/workspace"

/* The settings that are built into a sandbox when it is made. */

static bool core_pool_text_equal(const char *a, const char *b, const char *nothing) {
        return strcmp(a && *a ? a : nothing, b && *b ? b : nothing) == 0;
}

/* A disk is made with its sandbox and keeps its name when the sandbox gets an owner. Volumes, and disks that
 * begin as a copy of a scratch tree, are not made ahead. */
static bool has_others_trees(const SandboxSpec *s) {
        return s->n_volumes > 0 || s->scratch[0];
}

static bool is_built_alike(const SandboxSpec *a, const SandboxSpec *b) {
        return !has_others_trees(a) && !has_others_trees(b) && shape_equal(&sandbox_spec_shape, a, b, SHAPE_POOL) &&
                        core_pool_text_equal(a->snapshot, b->snapshot, "") && core_pool_text_equal(a->layer, b->layer, "") &&
                        core_pool_text_equal(a->base, b->base, "") && core_pool_text_equal(a->template_name, b->template_name, "host") &&
                        core_pool_text_equal(a->workdir, b->workdir, WORKDIR_DEFAULT) && network_shape(a->network) == network_shape(b->network) &&
                        network_shape(a->network) != SPAWN_NETWORK_LINKED; /* a pooled sandbox has no owner, so no group */
}

bool pool_fits(const Pool *pool, const SandboxSpec *spec) {
        return pool->shape.template_name && is_built_alike(&pool->shape, spec) &&
                        enforce_built_alike(pool->pools->manager, pool->shape.policy, spec->policy);
}

static int make_shape(Manager *m, const PoolConfig *c, SandboxSpec *ret, Error *reterr) {
        const Profile *profile = c->profile[0] ? profile_find(m->settings, c->profile) : NULL;
        int r = 0;

        if (c->profile[0] && !profile)
                return error_set(reterr, -ENOENT, "there is no profile '%s'", c->profile);
        sandbox_spec_defaults(ret);
        if (profile)
                r = profile_apply(profile, ret);
        if (r >= 0 && network_shape(ret->network) == SPAWN_NETWORK_LINKED)
                return error_set(reterr, -EINVAL, "its profile puts sandboxes into a network group, which a pooled sandbox cannot join");
        ret->persistent |= c->persistent;
        if (c->disk_bytes > 0)
                ret->limits.disk_bytes = c->disk_bytes;
        if (c->gated && !ret->policy)
                ret->network = network_mode_gated();
        if (r >= 0) { /* the template in the pool's configuration counts */
                free(ret->template_name);
                ret->template_name = strdup(c->template_name[0] ? c->template_name : "host");
                r = ret->template_name ? 0 : -ENOMEM;
        }
        if (r < 0)
                return error_set(reterr, r, "cannot be made: %m");
        r = template_apply(m, ret, /* user_given= */ false, /* workdir_given= */ profile && profile->workdir, reterr);
        if (r < 0)
                return r;
        if (ret->persistent && !trees_have_disks(m, reterr))
                return error_prefix(reterr, -EOPNOTSUPP, "its disks cannot be kept");
        return enforce_settle(m, ret, reterr);
}

/* One pool. */

static int on_eviction(sd_event_source *source, _unused_ uint64_t usec, void *userdata) {
        Pool *pool = userdata;

        pool_refresh(pool);
        pool_evict(pool);
        pool_check(pool);
        pools_refill(pool->pools);
        (void) sd_event_source_set_time_relative(source, MAX_OF(pool->config.eviction_interval_usec, USEC_PER_MSEC));
        return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static Pool *pool_free(Pool *pool) {
        if (!pool)
                return NULL;
        for (PoolEntryState s = 0; s < _ENTRY_MAX; s++)
                while (pool->entries[s])
                        pool_entry_forget(pool->entries[s]);
        sd_event_source_disable_unref(pool->eviction);
        sandbox_spec_done(&pool->shape);
        free(pool);
        return NULL;
}

static void set_shape(Pool *pool, SandboxSpec *shape, const Error *error) {
        sandbox_spec_done(&pool->shape);
        pool->shape = *shape;
        *shape = (SandboxSpec) { .hub_fd = -EBADF };
        (void) snprintf(pool->last_error, sizeof(pool->last_error), "%.*s", (int) sizeof(pool->last_error) - 1, error->text);
}

/* Applies the current settings and templates. Sandboxes that were made with other ones are ended. */
void pool_refresh(Pool *pool) {
        _cleanup_(sandbox_spec_done) SandboxSpec shape = { .hub_fd = -EBADF };
        const PoolConfig *c = &pool->config;
        Error error = { 0 };

        if (make_shape(pool->pools->manager, c, &shape, &error) < 0) {
                if (strcmp(pool->last_error, error.text) != 0)
                        log_warning("pool %s/%s: %s", c->template_name, c->profile[0] ? c->profile : "-", error.text);
                free(shape.template_name);
                shape.template_name = NULL;
        }
        if (!pool_fits(pool, &shape) || !shape.template_name) {
                pool_end_unclaimed(pool, "its pool was configured anew");
                set_shape(pool, &shape, &error);
        }
}

static int configure(Pool *pool, const PoolConfig *c) {
        pool->config = *c;
        pool_refresh(pool);
        pool->failures = 0;
        pool->blocked_until = 0;
        return sd_event_source_set_time_relative(pool->eviction, MAX_OF(c->eviction_interval_usec, USEC_PER_MSEC));
}

static Pool *pool_new(Pools *p) {
        Pool *pool = calloc(1, sizeof(*pool));

        if (!pool)
                return NULL;
        pool->pools = p;
        if (sd_event_add_time_relative(p->manager->event, &pool->eviction, CLOCK_MONOTONIC, USEC_PER_SEC, 0, on_eviction, pool) < 0)
                return pool_free(pool);
        return pool;
}

/* All of them. */

static bool is_named(const PoolConfig *a, const PoolConfig *b) {
        return strcmp(a->template_name, b->template_name) == 0 && strcasecmp(a->profile, b->profile) == 0;
}

static Pool *take_named(Pool **list, size_t n, const PoolConfig *c) {
        for (size_t i = 0; i < n; i++)
                if (list[i] && is_named(&list[i]->config, c))
                        return TAKE_PTR(list[i]);
        return NULL;
}

static void core_pool_drop(Pool *pool) {
        pool_end_unclaimed(pool, "its pool was removed");
        pool_free(pool);
}

static int configure_all(Pools *p) {
        CoreSettings settings = core_settings(p->manager->settings);
        Pool **before = p->list, **list;
        size_t n_before = p->n, n = 0;

        list = calloc(settings.n_pools + 1, sizeof(*list));
        if (!list)
                return -ENOMEM;
        for (size_t i = 0; i < settings.n_pools; i++) {
                Pool *pool = take_named(before, n_before, &settings.pools[i]);

                if (!pool)
                        pool = pool_new(p);
                if (!pool)
                        continue;
                list[n++] = pool;
                (void) configure(pool, &settings.pools[i]);
        }
        p->list = list;
        p->n = n;
        for (size_t i = 0; i < n_before; i++)
                if (before[i])
                        core_pool_drop(before[i]);
        free(before);
        return 0;
}

/* The pool whose shape the sandbox has; NULL: none. */
static Pool *pool_of(const Pools *p, const Sandbox *sb) {
        for (size_t i = 0; i < p->n; i++)
                if (pool_fits(p->list[i], &sb->spec) &&
                                (!sb->pooled || core_pool_text_equal(sb->spec.profile, p->list[i]->config.profile, "")))
                        return p->list[i];
        return NULL;
}

static void core_pool_take_stock(Pools *p) {
        Sandbox *sb, *next;

        HASH_ITER(hh, p->manager->sandboxes, sb, next) {
                Pool *pool;

                if ((!sb->pooled && sb->claimed_at == 0) || !sandbox_status_is_live(sb->status) ||
                                sb->status == SANDBOX_TERMINATING)
                        continue;
                pool = pool_of(p, sb);
                if (sb->pooled && (!pool || sb->unreached || !sandbox_can_run(sb) || pool_adopt(pool, sb) < 0))
                        sandbox_end(sb, SANDBOX_TERMINATED, /* delete= */ true, "its pool was removed");
                else if (!sb->pooled && pool)
                        (void) pool_adopt(pool, sb);
        }
}

void pools_start(Pools *p) {
        if (!p || p->started)
                return;
        for (size_t i = 0; i < p->n; i++)
                pool_refresh(p->list[i]); /* the keeper of templates is started by now */
        core_pool_take_stock(p);
        p->started = true;
        pools_refill(p);
}

void pools_reload(Pools *p) {
        if (!p || configure_all(p) < 0)
                return;
        pools_refill(p);
}

void pools_stop(Pools *p) {
        if (!p)
                return;
        p->stopping = true;
        (void) sd_event_source_set_enabled(p->timer, SD_EVENT_OFF);
        (void) sd_event_source_set_enabled(p->idle, SD_EVENT_OFF);
}

unsigned pools_drain(Pools *p) {
        unsigned n = 0;

        for (size_t i = 0; i < p->n; i++) {
                for (PoolEntryState s = 0; s < ENTRY_USED; s++)
                        n += p->list[i]->n[s];
                pool_end_unclaimed(p->list[i], "drained");
        }
        return n;
}

static PoolEntry *least_missed(const Pools *p) {
        Pool *most = NULL;

        for (size_t i = 0; i < p->n; i++)
                if (p->list[i]->n[ENTRY_IDLE] > (most ? most->n[ENTRY_IDLE] : 0))
                        most = p->list[i];
        if (most)
                return most->entries[ENTRY_IDLE];
        for (size_t i = 0; i < p->n; i++)
                for (PoolEntryState s = 0; s < ENTRY_IDLE; s++)
                        if (p->list[i]->entries[s])
                                return p->list[i]->entries[s];
        return NULL;
}

/* Called when a request waits for a place and no pooled sandbox fits it. */
static bool core_pool_give_up(void *userdata) {
        PoolEntry *e = least_missed(userdata);

        if (!e)
                return false;
        pool_entry_end(e, "its place was needed for another sandbox");
        return true;
}

int pools_new(Manager *m, Pools **ret) {
        Pools *p = calloc(1, sizeof(*p));
        int r;

        if (!p)
                return -ENOMEM;
        p->manager = m;
        r = pools_refill_init(p);
        if (r >= 0)
                r = configure_all(p);
        if (r < 0) {
                pools_free(p);
                return r;
        }
        admission_set_reclaim(m->admission, core_pool_give_up, p);
        m->pools = p;
        *ret = p;
        return 0;
}

Pools *pools_free(Pools *p) {
        if (!p)
                return NULL;
        if (p->manager->pools == p) {
                p->manager->pools = NULL;
                admission_set_reclaim(p->manager->admission, NULL, NULL);
        }
        for (size_t i = 0; i < p->n; i++)
                pool_free(p->list[i]);
        free(p->list);
        sd_event_source_disable_unref(p->timer);
        sd_event_source_disable_unref(p->idle);
        free(p);
        return NULL;
}
