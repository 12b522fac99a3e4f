#include "agent/queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/macro.h"

/* Tenants, each with lanes, each with levels of priority, each a list in order of serials:
 *
 *      turn → acme ─ IMPLEMENTATION ─ 10: e e e
 *              │                    └  0: e e e e e
 *              │    └ VALIDATION ──── 0: e
 *              ↓
 *             globex …                                  a tenant that was served moves to the end */

typedef struct QueueLevel {
        int priority;
        QueueEntry *entries;
        struct QueueLevel *prev, *next;
} QueueLevel;

typedef struct QueueLane {
        struct QueueTenant *tenant;
        char *profile;
        bool closed;
        QueueLevel *levels; /* the highest priority first */
        size_t n;           /* including delayed entries */
        struct QueueLane *prev, *next;
} QueueLane;

typedef struct QueueTenant {
        char *name;
        QueueLane *lanes;
        size_t n;
        struct QueueTenant *prev, *next;
} QueueTenant;

struct Queue {
        QueueTenant *tenants; /* in the order of their turns */
        QueueEntry *by_id;
        QueueEntry *delayed; /* by time */
        size_t n_delayed;
};

int queue_new(Queue **ret) {
        *ret = calloc(1, sizeof(Queue));
        return *ret ? 0 : -ENOMEM;
}

static const char *queue_text_of(const char *text) {
        return text ? text : "";
}

static QueueTenant *queue_tenant_find(const Queue *q, const char *name) {
        QueueTenant *t;

        DL_FOREACH(q->tenants, t)
                if (strcmp(t->name, name) == 0)
                        return t;
        return NULL;
}

static QueueLane *lane_find(const Queue *q, const char *tenant, const char *profile) {
        QueueTenant *t = queue_tenant_find(q, tenant);
        QueueLane *l;

        if (t)
                DL_FOREACH(t->lanes, l)
                        if (strcmp(l->profile, profile) == 0)
                                return l;
        return NULL;
}

static QueueTenant *tenant_make(Queue *q, const char *name) {
        QueueTenant *t = queue_tenant_find(q, name);

        if (t)
                return t;
        t = calloc(1, sizeof(*t));
        if (!t)
                return NULL;
        t->name = strdup(name);
        if (!t->name) {
                free(t);
                return NULL;
        }
        DL_APPEND(q->tenants, t);
        return t;
}

static void tenant_drop(Queue *q, QueueTenant *t) {
        if (t->lanes)
                return;
        DL_DELETE(q->tenants, t);
        free(t->name);
        free(t);
}

static QueueLane *lane_make(Queue *q, const char *tenant, const char *profile) {
        QueueLane *l = lane_find(q, tenant, profile);
        QueueTenant *t;

        if (l)
                return l;
        t = tenant_make(q, tenant);
        l = t ? calloc(1, sizeof(*l)) : NULL;
        if (l)
                l->profile = strdup(profile);
        if (!l || !l->profile) {
                free(l);
                if (t)
                        tenant_drop(q, t);
                return NULL;
        }
        l->tenant = t;
        DL_APPEND(t->lanes, l);
        return l;
}

/* Frees a lane that is empty and not closed. */
static void lane_drop(Queue *q, QueueLane *l) {
        QueueTenant *t = l->tenant;

        if (l->n > 0 || l->closed)
                return;
        DL_DELETE(t->lanes, l);
        free(l->profile);
        free(l);
        tenant_drop(q, t);
}

static QueueLevel *level_make(QueueLane *l, int priority) {
        QueueLevel *level, *before = NULL;

        DL_FOREACH(l->levels, level) {
                if (level->priority == priority)
                        return level;
                if (level->priority < priority) {
                        before = level;
                        break;
                }
        }
        level = calloc(1, sizeof(*level));
        if (!level)
                return NULL;
        level->priority = priority;
        if (before)
                DL_PREPEND_ELEM(l->levels, before, level);
        else
                DL_APPEND(l->levels, level);
        return level;
}

/* A new entry is appended. An entry that returns is among the oldest, so its place is searched from the
 * beginning. */
static int queue_enter(QueueEntry *e) {
        QueueLevel *level = level_make(e->lane, e->priority);
        QueueEntry *at;

        if (!level)
                return -ENOMEM;
        if (!level->entries || level->entries->prev->serial < e->serial) {
                DL_APPEND(level->entries, e);
                return 0;
        }
        DL_FOREACH(level->entries, at)
                if (at->serial > e->serial)
                        break;
        DL_PREPEND_ELEM(level->entries, at, e);
        return 0;
}

static void queue_leave(QueueEntry *e) {
        QueueLane *l = e->lane;
        QueueLevel *level;

        DL_FOREACH(l->levels, level) {
                if (level->priority != e->priority)
                        continue;
                DL_DELETE(level->entries, e);
                if (!level->entries) {
                        DL_DELETE(l->levels, level);
                        free(level);
                }
                return;
        }
}

static int by_time(const QueueEntry *a, const QueueEntry *b) {
        return a->not_before < b->not_before ? -1 : a->not_before > b->not_before;
}

static void set_aside(Queue *q, QueueEntry *e) {
        DL_INSERT_INORDER(q->delayed, e, by_time);
        q->n_delayed++;
}

static void take_from_aside(Queue *q, QueueEntry *e) {
        DL_DELETE(q->delayed, e);
        q->n_delayed--;
}

static void queue_forget(Queue *q, QueueEntry *e) {
        QueueLane *l = e->lane;

        HASH_DEL(q->by_id, e);
        l->n--;
        l->tenant->n--;
        free(e);
        lane_drop(q, l);
}

int queue_add(Queue *q, const char *id, const char *tenant, const char *profile, uint64_t serial, int priority, usec_t since,
                usec_t not_before) {
        QueueLane *l = lane_make(q, queue_text_of(tenant), queue_text_of(profile));
        QueueEntry *e = l ? calloc(1, sizeof(*e)) : NULL;
        int r = 0;

        if (!e) {
                if (l)
                        lane_drop(q, l);
                return -ENOMEM;
        }
        *e = (QueueEntry) { .serial = serial, .priority = priority, .since = since, .not_before = not_before, .lane = l };
        memcpy(e->id, id, strnlen(id, JOB_ID_LENGTH));
        if (not_before > 0)
                set_aside(q, e);
        else
                r = queue_enter(e);
        if (r < 0) {
                free(e);
                lane_drop(q, l);
                return r;
        }
        HASH_ADD_STR(q->by_id, id, e);
        l->n++;
        l->tenant->n++;
        return 0;
}

const QueueEntry *queue_find(const Queue *q, const char *id) {
        QueueEntry *e;

        HASH_FIND_STR(q->by_id, id, e);
        return e;
}

bool queue_remove(Queue *q, const char *id) {
        QueueEntry *e;

        HASH_FIND_STR(q->by_id, id, e);
        if (!e)
                return false;
        if (e->not_before > 0)
                take_from_aside(q, e);
        else
                queue_leave(e);
        queue_forget(q, e);
        return true;
}

static QueueEntry *best_of(const QueueTenant *t) {
        QueueEntry *best = NULL;
        const QueueLane *l;

        DL_FOREACH(t->lanes, l) {
                QueueEntry *e = l->levels && !l->closed ? l->levels->entries : NULL;

                if (e && (!best || e->priority > best->priority || (e->priority == best->priority && e->serial < best->serial)))
                        best = e;
        }
        return best;
}

bool queue_take(Queue *q, QueueEntry *ret) {
        QueueTenant *t;

        DL_FOREACH(q->tenants, t) {
                QueueEntry *e = best_of(t);

                if (!e)
                        continue;
                DL_DELETE(q->tenants, t);
                DL_APPEND(q->tenants, t);
                *ret = *e;
                ret->lane = NULL;
                queue_leave(e);
                queue_forget(q, e);
                return true;
        }
        return false;
}

usec_t queue_admit(Queue *q, usec_t now) {
        while (q->delayed && q->delayed->not_before <= now) {
                QueueEntry *e = q->delayed;

                take_from_aside(q, e);
                e->since = e->not_before;
                e->not_before = 0;
                if (queue_enter(e) < 0) { /* no memory: tried again after a while */
                        e->not_before = now + USEC_PER_SEC;
                        set_aside(q, e);
                        break;
                }
        }
        return q->delayed ? q->delayed->not_before : USEC_INFINITY;
}

void queue_close(Queue *q, const char *tenant, const char *profile, bool closed) {
        QueueLane *l = closed ? lane_make(q, queue_text_of(tenant), queue_text_of(profile)) : lane_find(q, queue_text_of(tenant), queue_text_of(profile));

        if (!l)
                return;
        l->closed = closed;
        lane_drop(q, l);
}

size_t queue_size(const Queue *q) {
        return HASH_COUNT(q->by_id);
}

size_t queue_delayed(const Queue *q) {
        return q->n_delayed;
}

size_t queue_size_of(const Queue *q, const char *tenant) {
        const QueueTenant *t = queue_tenant_find(q, tenant);

        return t ? t->n : 0;
}

/* The first entry of each level is the oldest one, or has returned to the queue. */
usec_t queue_oldest(const Queue *q, const char *tenant) {
        usec_t oldest = USEC_INFINITY;
        const QueueTenant *t;
        const QueueLane *l;
        const QueueLevel *level;

        DL_FOREACH(q->tenants, t) {
                if (tenant && strcmp(t->name, tenant) != 0)
                        continue;
                DL_FOREACH(t->lanes, l)
                        DL_FOREACH(l->levels, level)
                                oldest = MIN_OF(oldest, level->entries->since);
        }
        return oldest;
}

void queue_each(const Queue *q, const char *tenant, void (*each)(const QueueEntry *e, void *userdata), void *userdata) {
        const QueueEntry *e, *next;

        HASH_ITER(hh, q->by_id, e, next)
                if (!tenant || strcmp(e->lane->tenant->name, tenant) == 0)
                        each(e, userdata);
}

Queue *queue_free(Queue *q) {
        QueueEntry *e, *next;

        if (!q)
                return NULL;
        HASH_ITER(hh, q->by_id, e, next)
                (void) queue_remove(q, e->id);
        while (q->tenants)
                queue_close(q, q->tenants->name, q->tenants->lanes->profile, /* closed= */ false);
        free(q);
        return NULL;
}
