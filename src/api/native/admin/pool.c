/* pool.c: GET /api/pool, POST /api/pool/drain. */

#include <errno.h>
#include <math.h>

#include "api/native/routes/routes.h"
#include "core/admission.h"
#include "core/pool.h"

SHAPE_SHOWN(pool_show_rate, PoolStats, s, isnan(s->hit_rate) ? json_null() : json_real(round(s->hit_rate * 10000) / 10000));

/* The totals have the same fields as each pool. */
#define OF(member) offsetof(PoolStats, member)
static const Shape pool_counts_shape = SHAPE_FIELDS(
        { "idle", SHAPE_UINT32, OF(idle) }, { "preparing", SHAPE_UINT32, OF(preparing) },
        { "inUse", SHAPE_UINT32, OF(in_use) }, { "target", SHAPE_UINT32, OF(target) },
        { "created", SHAPE_UINT64, OF(created) }, { "acquired", SHAPE_UINT64, OF(claimed) },
        { "released", SHAPE_UINT64, OF(released) }, { "destroyed", SHAPE_UINT64, OF(destroyed) },
        { "failed", SHAPE_UINT64, OF(failed) }, { "missed", SHAPE_UINT64, OF(missed) });

static const Shape pool_config_shape = SHAPE_FIELDS(
        { "minSize",          SHAPE_UINT32, OF(config.min_size) },
        { "maxSize",          SHAPE_UINT32, OF(config.max_size) },
        { "maxIdleTime",      SHAPE_UINT64, OF(config.max_idle_usec),          .unit = SHAPE_MILLISECONDS },
        { "maxLifetime",      SHAPE_UINT64, OF(config.max_lifetime_usec),      .unit = SHAPE_MILLISECONDS },
        { "acquireTimeout",   SHAPE_UINT64, OF(config.acquire_timeout_usec),   .unit = SHAPE_MILLISECONDS },
        { "evictionInterval", SHAPE_UINT64, OF(config.eviction_interval_usec), .unit = SHAPE_MILLISECONDS },
        { "adaptive",         SHAPE_BOOL,   OF(config.adaptive) });

/* Values that were never measured are null. */
static const Shape pool_shape = SHAPE_FIELDS(
        { "template",   SHAPE_CHARS,  SHAPE_AT(PoolStats, config.template_name), .flags = SHAPE_ALWAYS },
        { "profile",    SHAPE_CHARS,  SHAPE_AT(PoolStats, config.profile) },
        { NULL,         SHAPE_OBJECT, 0,                  SHAPE_BEARER, .shape = &pool_counts_shape },
        { "hitRate",    SHAPE_DOUBLE, 0,                  SHAPE_NULLABLE, .json = SHAPE_SHOW(pool_show_rate) },
        { "claimP50Ms", SHAPE_UINT64, OF(claim_p50_usec), SHAPE_ZERO_NULL, .unit = SHAPE_MILLISECONDS },
        { "claimP99Ms", SHAPE_UINT64, OF(claim_p99_usec), SHAPE_ZERO_NULL, .unit = SHAPE_MILLISECONDS },
        { "makeMs",     SHAPE_UINT64, OF(make_usec),      SHAPE_ZERO_NULL, .unit = SHAPE_MILLISECONDS },
        { "lastError",  SHAPE_CHARS,  SHAPE_AT(PoolStats, last_error) },
        { "config",     SHAPE_OBJECT, 0,                  .shape = &pool_config_shape });

typedef struct NativePools {
        PoolStats sum;
        AdmissionStats queue;
        json_t *list;
} NativePools;

static const Shape native_pools_answer = SHAPE_FIELDS(
        { NULL,      SHAPE_OBJECT, offsetof(NativePools, sum),  SHAPE_BEARER, .shape = &pool_counts_shape },
        { "waiting", SHAPE_UINT64, offsetof(NativePools, queue.waiting) },
        { "pools",   SHAPE_LIST,   offsetof(NativePools, list), .shape = &pool_shape, .json = SHAPE_MADE });

static void native_pool_add(PoolStats *sum, const PoolStats *s) {
        sum->idle += s->idle;
        sum->preparing += s->preparing;
        sum->in_use += s->in_use;
        sum->target += s->target;
        sum->created += s->created;
        sum->claimed += s->claimed;
        sum->released += s->released;
        sum->destroyed += s->destroyed;
        sum->failed += s->failed;
        sum->missed += s->missed;
}

static void native_pool_get(ApiRequest *q) {
        const Pools *p = q->manager->pools;
        NativePools all = { 0 };

        all.list = json_array();
        for (size_t i = 0; i < pools_count(p); i++) {
                PoolStats s;

                pools_stats(p, i, &s);
                native_pool_add(&all.sum, &s);
                (void) json_array_append_new(all.list, shape_show(&pool_shape, &s));
        }
        admission_stats(q->manager->admission, &all.queue);
        (void) api_show(q, 200, &all);
        json_decref(all.list);
}

static const Shape native_drained_answer = SHAPE_FIELDS({ "drained", SHAPE_UINT32, 0 });

static void native_pool_drain(ApiRequest *q) {
        (void) api_show(q, 200, &(const uint32_t) { q->manager->pools ? pools_drain(q->manager->pools) : 0 });
}

const ApiRoute pool_routes[] = {
        { "GET",  "/api/pool",       MAY_OVERSEE, .handle = native_pool_get, ANSWER(pools) },
        { "POST", "/api/pool/drain", MAY_ADMIN,   .handle = native_pool_drain, JSON_BODY(empty), ANSWER(drained) },
        { 0 },
};
