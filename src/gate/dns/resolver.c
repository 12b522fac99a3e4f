/* resolver.c: calls, and the lookups that they share.
 *
 * A lookup is one question to upstream; calls for the same name and family share it. Answers, from upstream
 * or from the cache, go through the list of answered calls, which the loop empties: so no caller is called
 * back from within its own call, nor from inside c-ares.
 * After the deadline the calls get an error. The lookup stays until c-ares has finished it: a late answer is
 * still put into the cache. */

#include "gate/dns/resolver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <uthash.h>
#include <utlist.h>

#include "base/clock.h"
#include "gate/dns/name-cache.h"
#include "gate/dns/upstream.h"

#define CACHE_MAX   8192
#define LOOKUPS_MAX 2048 /* under way */
#define SLACK_USEC  (10 * USEC_PER_MSEC)

typedef struct Lookup {
        Resolver *resolver;
        ResolverCall *calls;
        sd_event_source *deadline;
        UT_hash_handle hh;
        char key[1 + EGRESS_DOMAIN_MAX]; /* '4' or '6', then the name */
} Lookup;

struct ResolverCall {
        Resolver *resolver;
        Lookup *lookup; /* NULL: answered */
        ResolverCall *prev, *next;
        ResolverAnswer answer;
        void (*done)(const ResolverAnswer *a, void *userdata);
        void *userdata;
};

struct Resolver {
        sd_event *event;
        Upstream *upstream;
        NameCache *cache;
        Lookup *lookups;
        ResolverCall *answered;
        sd_event_source *deliver;
};

static const char *lookup_name(const Lookup *l) {
        return l->key + 1;
}

static int lookup_family(const Lookup *l) {
        return l->key[0] == '6' ? AF_INET6 : AF_INET;
}

static int on_deliver(sd_event_source *source, void *userdata) {
        Resolver *r = userdata;
        ResolverCall *c = r->answered;

        if (!c) {
                (void) sd_event_source_set_enabled(r->deliver, SD_EVENT_OFF);
                return 0;
        }
        DL_DELETE(r->answered, c);
        c->done(&c->answer, c->userdata); /* may ask and cancel others */
        free(c);
        return 0;
}

static void call_answer(ResolverCall *c, const ResolverAnswer *a) {
        c->lookup = NULL;
        c->answer = *a;
        DL_APPEND(c->resolver->answered, c);
        (void) sd_event_source_set_enabled(c->resolver->deliver, SD_EVENT_ON);
}

static void lookup_answer_calls(Lookup *l, const ResolverAnswer *a) {
        ResolverCall *c, *next;

        DL_FOREACH_SAFE(l->calls, c, next) {
                DL_DELETE(l->calls, c);
                call_answer(c, a);
        }
}

static void lookup_free(Lookup *l) {
        HASH_DELETE(hh, l->resolver->lookups, l);
        sd_event_source_disable_unref(l->deadline);
        free(l);
}

static void on_upstream(const ResolverAnswer *a, void *userdata) {
        Lookup *l = userdata;
        Resolver *r = l->resolver;
        ResolverAnswer kept = *a;
        usec_t now = clock_usec();

        (void) name_cache_put(r->cache, lookup_name(l), lookup_family(l), a, now); /* without memory it is asked again */
        (void) name_cache_get(r->cache, lookup_name(l), lookup_family(l), now, &kept);
        lookup_answer_calls(l, &kept);
        lookup_free(l);
}

static int resolver_on_deadline(sd_event_source *source, uint64_t usec, void *userdata) {
        Lookup *l = userdata;

        lookup_answer_calls(l, &(ResolverAnswer) { .error = -ETIMEDOUT });
        return 0;
}

static Lookup *lookup_find(Resolver *r, const char *key) {
        Lookup *l;

        HASH_FIND_STR(r->lookups, key, l);
        return l;
}

static int lookup_new(Resolver *r, const char *key, Lookup **ret) {
        Lookup *l;
        int e;

        if (HASH_COUNT(r->lookups) >= LOOKUPS_MAX)
                return -EBUSY;
        l = calloc(1, sizeof(*l));
        if (!l)
                return -ENOMEM;
        e = sd_event_add_time_relative(r->event, &l->deadline, CLOCK_MONOTONIC, RESOLVER_DEADLINE_USEC, SLACK_USEC,
                        resolver_on_deadline, l);
        if (e < 0) {
                free(l);
                return e;
        }
        l->resolver = r;
        (void) snprintf(l->key, sizeof(l->key), "%s", key);
        HASH_ADD_STR(r->lookups, key, l);
        *ret = l;
        return 0;
}

/* A lookup whose calls have all timed out gets a new deadline with the next call. */
static void lookup_add_call(Lookup *l, ResolverCall *c) {
        if (!l->calls) {
                (void) sd_event_source_set_time_relative(l->deadline, RESOLVER_DEADLINE_USEC);
                (void) sd_event_source_set_enabled(l->deadline, SD_EVENT_ONESHOT);
        }
        c->lookup = l;
        DL_APPEND(l->calls, c);
}

/* Joins the lookup that is under way, or starts one. */
static int call_look_up(ResolverCall *c, const char *name, int family) {
        char key[1 + EGRESS_DOMAIN_MAX];
        Resolver *r = c->resolver;
        Lookup *l;
        int e;

        if (strlen(name) >= EGRESS_DOMAIN_MAX)
                return -EBADMSG;
        (void) snprintf(key, sizeof(key), "%c%s", family == AF_INET6 ? '6' : '4', name);
        l = lookup_find(r, key);
        if (l) {
                lookup_add_call(l, c);
                return 0;
        }
        e = lookup_new(r, key, &l);
        if (e < 0)
                return e;
        lookup_add_call(l, c);
        upstream_ask(r->upstream, lookup_name(l), lookup_family(l), on_upstream, l); /* may answer at once */
        return 0;
}

ResolverCall *resolver_ask(Resolver *r, const char *name, int family, void (*done)(const ResolverAnswer *a, void *userdata), void *userdata) {
        ResolverCall *c = calloc(1, sizeof(*c));
        ResolverAnswer a = { 0 };
        int e = 0;

        if (!c)
                return NULL;
        c->resolver = r;
        c->done = done;
        c->userdata = userdata;
        if (!name_cache_get(r->cache, name, family, clock_usec(), &a)) {
                e = call_look_up(c, name, family);
                if (e >= 0)
                        return c;
                a.error = e;
        }
        call_answer(c, &a);
        return c;
}

ResolverCall *resolver_cancel(ResolverCall *c) {
        if (!c)
                return NULL;
        if (c->lookup)
                DL_DELETE(c->lookup->calls, c);
        else
                DL_DELETE(c->resolver->answered, c);
        free(c);
        return NULL;
}

bool resolver_knows(Resolver *r, const char *name, int family) {
        ResolverAnswer a;

        return name_cache_get(r->cache, name, family, clock_usec(), &a);
}

int resolver_set_servers(Resolver *r, const char *const *servers, size_t n, Error *reterr) {
        int e = upstream_set_servers(r->upstream, servers, n, reterr);

        if (e >= 0)
                name_cache_clear(r->cache);
        return e;
}

int resolver_new(sd_event *event, Resolver **ret, Error *reterr) {
        Resolver *r = calloc(1, sizeof(*r));
        int e;

        if (!r)
                return error_set(reterr, -ENOMEM, "out of memory");
        r->event = sd_event_ref(event);
        e = sd_event_add_defer(event, &r->deliver, on_deliver, r);
        if (e >= 0)
                e = sd_event_source_set_enabled(r->deliver, SD_EVENT_OFF);
        if (e >= 0)
                e = name_cache_new(CACHE_MAX, &r->cache);
        if (e >= 0)
                e = upstream_new(event, &r->upstream);
        if (e < 0) {
                resolver_free(r);
                return error_set(reterr, e, "cannot set the resolver up: %m");
        }
        *ret = r;
        return 0;
}

Resolver *resolver_free(Resolver *r) {
        Lookup *l, *next;

        if (!r)
                return NULL;
        r->upstream = upstream_free(r->upstream); /* runs no callbacks */
        HASH_ITER(hh, r->lookups, l, next) {
                while (l->calls)
                        resolver_cancel(l->calls);
                lookup_free(l);
        }
        while (r->answered)
                resolver_cancel(r->answered);
        name_cache_free(r->cache);
        sd_event_source_disable_unref(r->deliver);
        sd_event_unref(r->event);
        free(r);
        return NULL;
}
