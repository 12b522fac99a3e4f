/* pool.c: GET /api/pool, POST /api/pool/drain. */

#include <errno.h>
#include <math.h>

#include "api/native/native.h"
#include "core/admission.h"
#include "core/pool.h"

/* What was never measured is null. */
static json_t *measured(usec_t usec) {
        return usec > 0 ? json_milliseconds(usec) : json_null();
}

static json_t *native_pool_rate(double value) {
        return isnan(value) ? json_null() : json_real(round(value * 10000) / 10000);
}

static json_t *native_pool_config_json(const PoolConfig *c) {
        return json_pack("{s:I,s:I,s:o,s:o,s:o,s:o,s:b}",
                        "minSize", (json_int_t) c->min_size,
                        "maxSize", (json_int_t) c->max_size,
                        "maxIdleTime", json_milliseconds(c->max_idle_usec),
                        "maxLifetime", json_milliseconds(c->max_lifetime_usec),
                        "acquireTimeout", json_milliseconds(c->acquire_timeout_usec),
                        "evictionInterval", json_milliseconds(c->eviction_interval_usec),
                        "adaptive", c->adaptive);
}

/* Names of both, in one place: what is summed up is what is told of each. */
static void put_counts(json_t *o, const PoolStats *s) {
        const struct {
                const char *name;
                uint64_t value;
        } rows[] = {
                { "idle", s->idle },
                { "preparing", s->preparing },
                { "inUse", s->in_use },
                { "target", s->target },
                { "created", s->created },
                { "acquired", s->claimed },
                { "released", s->released },
                { "destroyed", s->destroyed },
                { "failed", s->failed },
                { "missed", s->missed },
        };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++)
                (void) json_object_set_new(o, rows[i].name, json_integer((json_int_t) rows[i].value));
}

static json_t *pool_json(const PoolStats *s) {
        json_t *o = json_object();

        (void) json_object_set_new(o, "template", json_text_or_null(s->config.template_name));
        (void) json_object_set_new(o, "profile", json_text_or_null(s->config.profile[0] ? s->config.profile : NULL));
        put_counts(o, s);
        (void) json_object_set_new(o, "hitRate", native_pool_rate(s->hit_rate));
        (void) json_object_set_new(o, "claimP50Ms", measured(s->claim_p50_usec));
        (void) json_object_set_new(o, "claimP99Ms", measured(s->claim_p99_usec));
        (void) json_object_set_new(o, "makeMs", measured(s->make_usec));
        (void) json_object_set_new(o, "lastError", json_text_or_null(s->last_error[0] ? s->last_error : NULL));
        (void) json_object_set_new(o, "config", native_pool_config_json(&s->config));
        return o;
}

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

/* How busy all tenants are together is for those who belong to none. */
static bool native_pool_may_see(ApiRequest *q) {
        if (!q->who.tenant)
                return true;
        (void) api_error(q, 403, "forbidden", NULL, "pools are for keys without a tenant");
        return false;
}

void native_pool_get(ApiRequest *q) {
        const Pools *p = q->manager->pools;
        json_t *o = json_object(), *list = json_array();
        PoolStats sum = { 0 };
        AdmissionStats queue = { 0 };

        if (!native_pool_may_see(q)) {
                json_decref(o);
                json_decref(list);
                return;
        }
        for (size_t i = 0; i < pools_count(p); i++) {
                PoolStats s;

                pools_stats(p, i, &s);
                native_pool_add(&sum, &s);
                (void) json_array_append_new(list, pool_json(&s));
        }
        admission_stats(q->manager->admission, &queue);
        put_counts(o, &sum);
        (void) json_object_set_new(o, "waiting", json_integer((json_int_t) queue.waiting));
        (void) json_object_set_new(o, "pools", list);
        (void) api_answer(q, 200, o);
}

void native_pool_drain(ApiRequest *q) {
        unsigned n = q->manager->pools ? pools_drain(q->manager->pools) : 0;

        (void) api_answer(q, 200, json_pack("{s:i}", "drained", (int) n));
}
