#include "gate/ask.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <utlist.h>

#include "gate/tell.h"

#define ID_BYTES    12
#define OBJECT_MAX  (EGRESS_DOMAIN_MAX + 80)
#define TIMER_SLACK (100 * USEC_PER_MSEC)

typedef struct AskEntry AskEntry;

struct Ask {
        AskEntry *entry; /* NULL: approved before; the callback is pending */
        sd_event_source *defer;
        void (*done)(bool allow, EgressReason reason, void *userdata);
        void *userdata;
        Ask *prev, *next;
};

struct AskEntry {
        struct Asks *asks;
        GateSandbox *sandbox;
        char id[2 * ID_BYTES + 1];
        char object[OBJECT_MAX];
        EgressQuestion question; /* host points to our own copy; method and path are not set: the question is about the object */
        char host[EGRESS_DOMAIN_MAX];
        Ask *waiters;
        unsigned n_waiters;
        bool approved;   /* the approval is kept */
        bool is_used;    /* the approval is good for one connection, which has used it */
        sd_event_source *timer;
        AskEntry *prev, *next; /* of the sandbox */
        UT_hash_handle hh;
};

struct Asks {
        Gate *gate;
        AskEntry *entries; /* by id */
};

int asks_new(Gate *g, struct Asks **ret) {
        struct Asks *a = calloc(1, sizeof(*a));

        if (!a)
                return -ENOMEM;
        a->gate = g;
        *ret = a;
        return 0;
}

/* Lookups no longer find the entry. */
static void entry_unlink(AskEntry *e) {
        HASH_DEL(e->asks->entries, e);
        DL_DELETE(e->sandbox->asks, e);
        e->sandbox->n_asks--;
        e->timer = sd_event_source_disable_unref(e->timer);
}

static void gate_ask_entry_free(AskEntry *e) {
        Ask *a, *next;

        LL_FOREACH_SAFE(e->waiters, a, next)
                free(a);
        entry_unlink(e);
        free(e);
}

struct Asks *asks_free(struct Asks *a) {
        while (a && a->entries)
                gate_ask_entry_free(a->entries);
        free(a);
        return NULL;
}

void asks_sandbox_gone(GateSandbox *s) {
        while (s->asks)
                gate_ask_entry_free(s->asks);
}

/* A callback may cancel other waiters of the entry, so each round takes the first one. */
static void gate_ask_tell_waiters(AskEntry *e, bool allow, EgressReason reason) {
        while (e->waiters) {
                Ask *a = e->waiters;

                DL_DELETE(e->waiters, a);
                e->n_waiters--;
                a->done(allow, reason, a->userdata);
                free(a);
        }
}

/* Unlinks the entry first: a callback that asks again opens a new question. */
static void entry_end(AskEntry *e, bool allow, EgressReason reason) {
        entry_unlink(e);
        gate_ask_tell_waiters(e, allow, reason);
        free(e);
}

static int on_approval_over(sd_event_source *source, uint64_t usec, void *userdata) {
        gate_ask_entry_free(userdata);
        return 0;
}

static void entry_keep_approval(AskEntry *e) {
        e->approved = true;
        e->timer = sd_event_source_disable_unref(e->timer);
        (void) sd_event_add_time_relative(e->asks->gate->event, &e->timer, CLOCK_MONOTONIC, e->sandbox->policy.ask_timeout_usec, TIMER_SLACK,
                        on_approval_over, e);
        gate_ask_tell_waiters(e, /* allow= */ true, EGRESS_BY_RULE);
}

static int gate_ask_on_expired(sd_event_source *source, uint64_t usec, void *userdata) {
        AskEntry *e = userdata;
        const EgressVerdict v = { .action = EGRESS_DENY, .reason = EGRESS_ASK_TIMEOUT, .rule = -1 };
        json_t *event = gate_event_new(e->sandbox, "expired", &v, &e->question);

        if (event)
                (void) json_object_set_new(event, "ask", json_string(e->id));
        gate_event_send(e->asks->gate, event);
        entry_end(e, /* allow= */ false, EGRESS_ASK_TIMEOUT);
        return 0;
}

static int gate_ask_make_id(char ret[static 2 * ID_BYTES + 1]) {
        uint8_t bytes[ID_BYTES];

        if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
                return -EIO;
        for (size_t i = 0; i < sizeof(bytes); i++)
                (void) snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
        return 0;
}

static void make_object(const EgressQuestion *q, char ret[static OBJECT_MAX]) {
        char address[46] = "";

        if (!q->host && q->has_address)
                ip_format(&q->address, address);
        if (q->protocol == EGRESS_DNS)
                (void) snprintf(ret, OBJECT_MAX, "dns://%s", q->host ? q->host : "");
        else
                (void) snprintf(ret, OBJECT_MAX, "%s://%s:%u", gate_protocol_to_string(q->protocol), q->host ? q->host : address, (unsigned) q->port);
}

static void entry_tell(const AskEntry *e, const EgressQuestion *q) {
        EgressVerdict v = gate_decide(e->sandbox, q);
        json_t *event = gate_event_new(e->sandbox, "asked", &v, q);

        if (event) {
                (void) json_object_set_new(event, "ask", json_string(e->id));
                (void) json_object_set_new(event, "object", json_string(e->object));
                (void) json_object_set_new(event, "expires",
                                json_integer((json_int_t) (clock_wall_usec() + e->sandbox->policy.ask_timeout_usec)));
        }
        gate_event_send(e->asks->gate, event);
}

static void copy_question(AskEntry *e, const EgressQuestion *q) {
        e->question = *q;
        e->question.method = e->question.path = NULL;
        if (q->host) {
                (void) snprintf(e->host, sizeof(e->host), "%s", q->host);
                e->question.host = e->host;
        }
}

static AskEntry *gate_ask_entry_new(GateSandbox *s, const EgressQuestion *q, const char *object) {
        struct Asks *asks = s->gate->asks;
        AskEntry *e;

        if (s->n_asks >= ASKS_MAX)
                return NULL;
        e = calloc(1, sizeof(*e));
        if (!e)
                return NULL;
        e->asks = asks;
        e->sandbox = s;
        (void) snprintf(e->object, sizeof(e->object), "%s", object);
        copy_question(e, q);
        if (gate_ask_make_id(e->id) < 0 || sd_event_add_time_relative(s->gate->event, &e->timer, CLOCK_MONOTONIC, s->policy.ask_timeout_usec, TIMER_SLACK,
                                                  gate_ask_on_expired, e) < 0) {
                free(e);
                return NULL;
        }
        HASH_ADD_STR(asks->entries, id, e);
        DL_APPEND(s->asks, e);
        s->n_asks++;
        entry_tell(e, q);
        return e;
}

static AskEntry *find_object(GateSandbox *s, const char *object) {
        AskEntry *e;

        DL_FOREACH(s->asks, e)
                if (strcmp(e->object, object) == 0)
                        return e;
        return NULL;
}

/* Uses an earlier approval that covers the question. A DNS lookup does not use it up: lookups come in pairs,
 * and are repeated. */
static bool use_approval(GateSandbox *s, const EgressQuestion *q, AskEntry *e) {
        char object[OBJECT_MAX];

        if (e && e->approved && q->protocol == EGRESS_DNS)
                return true;
        if (e && e->approved) {
                gate_ask_entry_free(e);
                return true;
        }
        if (e || q->protocol == EGRESS_DNS || !q->host)
                return false;
        make_object(&(EgressQuestion) { .protocol = EGRESS_DNS, .host = q->host }, object);
        e = find_object(s, object);
        if (!e || !e->approved || e->is_used)
                return false;
        e->is_used = true;
        return true;
}

static int on_approved(sd_event_source *source, void *userdata) {
        Ask *a = userdata;

        sd_event_source_disable_unref(a->defer);
        a->done(true, EGRESS_BY_RULE, a->userdata);
        free(a);
        return 0;
}

static Ask *ask_new(void (*done)(bool allow, EgressReason reason, void *userdata), void *userdata) {
        Ask *a = calloc(1, sizeof(*a));

        if (a)
                *a = (Ask) { .done = done, .userdata = userdata };
        return a;
}

static Ask *ask_wait(Ask *a, AskEntry *e) {
        if (!e || e->n_waiters >= ASK_WAITERS_MAX) {
                free(a);
                return NULL;
        }
        a->entry = e;
        DL_APPEND(e->waiters, a);
        e->n_waiters++;
        return a;
}

Ask *gate_ask(GateSandbox *s, const EgressQuestion *q, void (*done)(bool allow, EgressReason reason, void *userdata), void *userdata) {
        Ask *a = ask_new(done, userdata);
        char object[OBJECT_MAX];
        AskEntry *e;

        if (!a)
                return NULL;
        make_object(q, object);
        e = find_object(s, object);
        if (use_approval(s, q, e)) {
                if (sd_event_add_defer(s->gate->event, &a->defer, on_approved, a) >= 0)
                        return a;
                e = NULL; /* the approval cannot be delivered: open a new question */
        }
        if (s->gate->control_fd < 0) {
                free(a);
                return NULL;
        }
        return ask_wait(a, e ? e : gate_ask_entry_new(s, q, object));
}

Ask *ask_cancel(Ask *a) {
        if (!a)
                return NULL;
        if (a->entry) {
                DL_DELETE(a->entry->waiters, a);
                a->entry->n_waiters--;
        }
        sd_event_source_disable_unref(a->defer);
        free(a);
        return NULL;
}

static AskEntry *gate_ask_find_id(const struct Asks *a, const char *id) {
        AskEntry *e;

        HASH_FIND_STR(a->entries, id, e);
        return e;
}

GateSandbox *asks_find(const struct Asks *a, const char *id) {
        AskEntry *e = gate_ask_find_id(a, id);

        return e && !e->approved ? e->sandbox : NULL;
}

void asks_answer(struct Asks *a, const char *id, bool allow) {
        AskEntry *e = gate_ask_find_id(a, id);

        if (!e || e->approved)
                return;
        if (allow && (!e->waiters || e->question.protocol == EGRESS_DNS))
                entry_keep_approval(e);
        else
                entry_end(e, allow, allow ? EGRESS_BY_RULE : EGRESS_NOT_APPROVED);
}
