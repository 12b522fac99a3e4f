/* messages.c: the gate's messages. The gate reads what guests and the world send, so it is trusted as little
 * as they are: unknown ids, serials without a waiter and fields of another type are ignored. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/secret.h"
#include "gatekeeper/internal.h"

/* Wipes the values of secrets before the memory is reused. */
void control_message_free(json_t *message) {
        json_t *entry, *value;
        size_t i;

        json_array_foreach(json_object_get(message, "credentials"), i, entry) {
                value = json_object_get(entry, "value");
                if (value)
                        secret_wipe((char *) json_string_value(value), json_string_length(value));
        }
        json_decref(message);
}

static void question_free(Gatekeeper *k, Question *q) {
        HASH_DEL(k->questions, q);
        ledger_release(&q->place);
        free(q);
}

int question_add(const Seat *s, QuestionKind kind, uint64_t *ret_serial) {
        Gatekeeper *k = s->keeper;
        const char *tenant = s->sandbox->spec.tenant;
        Question *q;
        int r;

        q = calloc(1, sizeof(*q));
        if (!q)
                return -ENOMEM;
        r = ledger_reserve(k->manager, &q->place, tenant, LEDGER_CALLS, 1, /* reterr= */ NULL);
        if (r < 0) {
                free(q);
                return r;
        }
        q->serial = ++k->serial;
        q->kind = kind;
        memcpy(q->id, s->id, sizeof(q->id));
        HASH_ADD(hh, k->questions, serial, sizeof(q->serial), q);
        *ret_serial = q->serial;
        return 0;
}

void question_drop(Gatekeeper *k, uint64_t serial) {
        Question *q;

        HASH_FIND(hh, k->questions, &serial, sizeof(serial), q);
        if (q)
                question_free(k, q);
}

void questions_forget(Gatekeeper *k) {
        Question *q, *next;

        HASH_ITER(hh, k->questions, q, next)
                question_free(k, q);
}

static Question *question_take(Gatekeeper *k, json_t *serial) {
        uint64_t number = (uint64_t) json_integer_value(serial);
        Question *q;

        HASH_FIND(hh, k->questions, &number, sizeof(number), q);
        if (q) {
                HASH_DEL(k->questions, q);
                ledger_release(&q->place);
        }
        return q;
}

static void messages_on_done(Gatekeeper *k, json_t *message) {
        Question *q = question_take(k, json_object_get(message, "done"));
        Seat *s = q ? seat_find(k, q->id) : NULL;

        if (s && q->kind == QUESTION_USAGE)
                usage_told(s, json_object_get(message, "usage"));
        else if (s && s->serial == q->serial)
                seat_on_done(s, message);
        free(q);
}

static void messages_on_failed(Gatekeeper *k, json_t *message) {
        Question *q = question_take(k, json_object_get(message, "failed"));
        Seat *s = q ? seat_find(k, q->id) : NULL;
        const char *text = json_string_value(json_object_get(message, "error"));

        if (!q)
                link_refused(k, text ? text : "it does not say why");
        else if (s && q->kind != QUESTION_USAGE && s->serial == q->serial)
                seat_on_failed(s, text ? text : "it does not say why");
        free(q);
}

static void messages_on_hello(Gatekeeper *k, json_t *message) {
        link_greeted(k, json_integer_value(json_object_get(message, "version")) == CONTROL_VERSION);
}

/* Detaches a sandbox that has no seat here. */
static void messages_on_item(Gatekeeper *k, json_t *message) {
        const char *id = json_string_value(json_object_get(message, "item"));
        Seat *s = id ? seat_find(k, id) : NULL;

        if (s && !s->released)
                s->at_gate = true;
        else if (id)
                (void) link_send(k, json_pack("{s:s, s:i, s:s}", "do", "detach", "serial", 0, "id", id), NULL, 0);
}

static void messages_on_end(Gatekeeper *k, json_t *message) {
        link_listed(k);
}

static void messages_on_gone(Seat *s, json_t *event) {
        usage_told(s, json_object_get(event, "usage"));
        seat_on_gone(s);
}

static void messages_on_expired(Seat *s, json_t *event) {
        approval_expired(s->keeper, event);
        event_denied(s, event);
}

static const struct {
        const char *name;
        void (*take)(Seat *s, json_t *event);
} events[] = {
        { "denied",  event_denied   },
        { "limit",   event_denied   },
        { "masked",  event_denied   },
        { "allowed", event_learned  },
        { "asked",   approval_asked },
        { "expired", messages_on_expired     },
        { "flow",    sockets_flow   },
        { "gone",    messages_on_gone        },
};

static void messages_on_event(Gatekeeper *k, json_t *message) {
        const char *name = json_string_value(json_object_get(message, "event"));
        const char *id = json_string_value(json_object_get(message, "id"));
        Seat *s = id ? seat_find(k, id) : NULL;

        if (!name || !s)
                return;
        for (size_t i = 0; i < ELEMENTSOF(events); i++)
                if (strcmp(events[i].name, name) == 0) {
                        event_hide(s, message);
                        events[i].take(s, message);
                        return;
                }
        log_debug("cove-gate: an unknown event '%s'", name);
}

/* The key tells the kind of message. */
static const struct {
        const char *key;
        void (*take)(Gatekeeper *k, json_t *message);
} kinds[] = {
        { "done",   messages_on_done   },
        { "failed", messages_on_failed },
        { "event",  messages_on_event  },
        { "item",   messages_on_item   },
        { "end",    messages_on_end    },
        { "hello",  messages_on_hello  },
};

void messages_take(Gatekeeper *k, json_t *message) {
        for (size_t i = 0; i < ELEMENTSOF(kinds); i++)
                if (json_object_get(message, kinds[i].key)) {
                        kinds[i].take(k, message);
                        return;
                }
}
