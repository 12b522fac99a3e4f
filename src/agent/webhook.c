/* webhook.c: reports the end of an execution to its caller's webhook, also after a restart, because the row has the
 * webhook's status. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "agent/internal.h"
#include "base/log.h"
#include "config/config.h"
#include "core/secret.h"
#include "json/json.h"
#include "outbound/delivery.h"
#include "agent/rows.h"

#define ATTEMPTS_MAX 5
#define AGAIN_USEC   (10 * USEC_PER_SEC)
#define HEADER_MAX   160
#define RESUME_MAX   1000 /* read at once; after these, the store is read again */

typedef struct Telling {
        Agents *agents;
        char id[JOB_ID_LENGTH + 1];
        struct Telling *prev, *next;
} Telling;

int webhook_check(Agents *a, const char *url, Error *reterr) {
        bool known = strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0;

        if (!a->deliveries)
                return error_set(reterr, -EOPNOTSUPP, "webhooks cannot be sent here");
        if (!known || strlen(url) > JOB_URL_MAX || strpbrk(url, " \t\r\n\"<>"))
                return error_set(reterr, -EINVAL, "'%.100s' is not an http or https URL", url);
        return 0;
}

static Telling *webhook_find(const Agents *a, const char *id) {
        Telling *t;

        DL_FOREACH(a->tellings, t)
                if (strcmp(t->id, id) == 0)
                        return t;
        return NULL;
}

static void webhook_forget(Telling *t) {
        DL_DELETE(t->agents->tellings, t);
        free(t);
}

/* A delivery in progress may still arrive. Its result is ignored, because the execution continues. */
void webhook_disown(Agents *a, const char *id) {
        Telling *t = webhook_find(a, id);

        if (t)
                t->id[0] = '\0';
}

static int webhook_on_again(sd_event_source *source, uint64_t usec, void *userdata) {
        Agents *a = userdata;

        a->webhook_again = sd_event_source_disable_unref(a->webhook_again);
        webhooks_resume(a);
        return 0;
}

static void try_later(Agents *a) {
        if (!a->webhook_again)
                (void) sd_event_add_time_relative(a->manager->event, &a->webhook_again, CLOCK_MONOTONIC, AGAIN_USEC, USEC_PER_SEC, webhook_on_again, a);
}

static void write_outcome(Agents *a, const char *id, WebhookStatus status, unsigned attempts, const char *text) {
        _cleanup_(job_done) Job j = { 0 };
        int r = store_job_get(a->manager->store, id, &j);

        if (r < 0 || j.webhook_status != WEBHOOK_PENDING) /* the execution was deleted */
                return;
        j.webhook_status = status;
        j.webhook_attempts += attempts;
        free(j.webhook_error);
        j.webhook_error = text && *text ? strdup(text) : NULL;
        r = store_job_update(a->manager->store, &j);
        if (r < 0)
                log_warning("agent execution %s: cannot save the result of its webhook: %s", id, strerror(-r));
}

static void webhook_on_delivered(int r, const char *text, unsigned attempts, void *userdata) {
        Telling *t = userdata;

        if (t->id[0])
                write_outcome(t->agents, t->id, r < 0 ? WEBHOOK_FAILED : WEBHOOK_DELIVERED, attempts, r < 0 ? text : NULL);
        webhook_forget(t);
}

static void sign(const char *secret, const char *body, size_t size, char *ret, size_t room) {
        uint8_t mac[SECRET_SHA256_SIZE];
        char hex[2 * sizeof(mac) + 1];

        secret_hmac_sha256(secret, strlen(secret), body, size, mac);
        secret_hex(mac, sizeof(mac), hex);
        (void) snprintf(ret, room, "X-Cove-Signature: sha256=%s", hex);
}

static int deliver(Agents *a, const Job *j, Telling *t, Error *reterr) {
        const Config *c = a->manager->settings;
        const DeliveryLimits limits = {
                .attempts_max = ATTEMPTS_MAX,
                .backoff_usec = c->agents.backoff_usec,
                .backoff_max_usec = c->agents.backoff_max_usec,
                .queue_max = c->alerts.queue_max,
        };
        char signature[HEADER_MAX] = "", event[HEADER_MAX];
        const char *headers[] = { "Content-Type: application/json", event, NULL, NULL };
        _cleanup_json_ json_t *object = agents_json(a, j, /* brief= */ false);
        _cleanup_free_ char *body = NULL;
        /* The daemon calls an address that a tenant chose, and may be in a network that the tenant cannot
         * reach. */
        OutboundSpec spec = OUTBOUND_SPEC(j->sandbox.tenant && *j->sandbox.tenant && !c->agents.webhook_private ? IP_REACH_PUBLIC : IP_REACH_ALL);
        size_t size = 0;

        body = object ? json_print(object, &size) : NULL;
        if (!body)
                return error_set(reterr, -ENOMEM, "out of memory");
        (void) snprintf(event, sizeof(event), "X-Cove-Event: agent.execution.%s", job_status_name(j->status));
        if (c->agents.webhook_secret) {
                sign(c->agents.webhook_secret, body, size, signature, sizeof(signature));
                headers[2] = signature;
        }
        spec.url = j->webhook;
        spec.headers = headers;
        spec.body = body;
        spec.size = size;
        return delivery_add(a->deliveries, "agent webhook", &spec, &limits, webhook_on_delivered, t, reterr);
}

/* Negative if the delivery has to wait (-EBUSY and others). */
static int webhook_begin(Agents *a, const Job *j) {
        Telling *t = calloc(1, sizeof(*t));
        Error error = { 0 };
        int r;

        if (!t)
                return -ENOMEM;
        t->agents = a;
        memcpy(t->id, j->id, sizeof(t->id));
        DL_APPEND(a->tellings, t);
        r = deliver(a, j, t, &error);
        if (r >= 0)
                return 0;
        webhook_forget(t);
        log_warning("agent execution %s: its webhook waits: %s", j->id, error.text);
        return r;
}

static int webhook_tell(Agents *a, const char *id) {
        _cleanup_(job_done) Job j = { 0 };

        if (webhook_find(a, id) || store_job_get(a->manager->store, id, &j) < 0 || j.webhook_status != WEBHOOK_PENDING)
                return 0;
        if (a->deliveries)
                return webhook_begin(a, &j);
        write_outcome(a, id, WEBHOOK_FAILED, 0, "webhooks cannot be sent here");
        return 0;
}

void webhook_send(Agents *a, const char *id) {
        if (webhook_tell(a, id) < 0)
                try_later(a);
}

typedef struct Untold {
        const Agents *agents;
        char ids[RESUME_MAX][JOB_ID_LENGTH + 1];
        size_t n;
} Untold;

static int take_untold(Job *row, void *userdata) {
        Untold *u = userdata;

        if (webhook_find(u->agents, row->id))
                return 0;
        memcpy(u->ids[u->n++], row->id, sizeof(row->id));
        return u->n < RESUME_MAX ? 0 : -ENOBUFS;
}

/* Stops at the first that cannot be sent now: the others could not be either. */
void webhooks_resume(Agents *a) {
        Untold u = { .agents = a };
        int r = 0;

        (void) store_job_each_untold(a->manager->store, take_untold, &u);
        for (size_t i = 0; i < u.n && r >= 0; i++)
                r = webhook_tell(a, u.ids[i]);
        if (r < 0 || u.n == RESUME_MAX)
                try_later(a);
}

void webhooks_free(Agents *a) {
        a->webhook_again = sd_event_source_disable_unref(a->webhook_again);
        while (a->tellings)
                webhook_forget(a->tellings);
}
