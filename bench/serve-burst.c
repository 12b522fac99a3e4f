/* serve-burst.c: a hundred clients at once, each create and exec; and idle sandboxes made by some clients at once. */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clients.h"
#include "serve-work.h"

#define FILL_CREATE    "{\"limits\":{\"memoryMB\":256,\"diskMB\":64}}"
#define BURST_TRUE     "{\"command\":\"/usr/bin/true\"}"
#define BURST_SETTLE   (500 * USEC_PER_MSEC)
#define FILL_AT_ONCE   16u

typedef enum BurstStep {
        STEP_CREATE,
        STEP_EXEC,
        STEP_DELETE,
} BurstStep;

typedef struct Burst {
        const char *create;   /* what they ask for */
        size_t left;          /* to be made, beyond those that are under way */
        size_t n_pooled;
} Burst;

static int burst_create(Clients *c, Client *client) {
        const Burst *burst = c->userdata;

        client->step = STEP_CREATE;
        return clients_ask(c, client, "POST", "/api/sandbox", NULL, burst->create);
}

/* An answer has come: what follows. */
static int burst_answer(Clients *c, Client *client, int status) {
        Burst *burst = c->userdata;
        int r;

        if (client->step == STEP_CREATE && status == 201) {
                r = http_answer_field(&client->http, "id", client->id, sizeof(client->id));
                client->step = STEP_EXEC;
                burst->n_pooled += strstr(http_answer_body(&client->http), "\"pooled\":true") != NULL;
                return r < 0 ? -EPROTO : clients_ask(c, client, "POST", "/api/sandbox/%s/exec", client->id, BURST_TRUE);
        }
        if (client->step == STEP_EXEC && status == 200 && strstr(http_answer_body(&client->http), "\"exitCode\":0")) {
                client->took = clock_usec() - client->began;
                if (burst->left == 0)
                        return 0;
                burst->left--;
                return burst_create(c, client);
        }
        if (client->step == STEP_DELETE && status == 200) {
                client->id[0] = '\0';
                return 0;
        }
        return -EPROTO;
}

static int burst_delete(Clients *c) {
        for (size_t i = 0; i < c->n; i++) {
                int r;

                if (!c->items[i].id[0])
                        continue;
                c->items[i].step = STEP_DELETE;
                r = clients_ask(c, c->items + i, "DELETE", "/api/sandbox/%s?force=true", c->items[i].id, NULL);
                if (r < 0)
                        return r;
        }
        return clients_wait(c);
}

static int burst_begin(Clients *c) {
        int r = 0;

        for (size_t i = 0; i < c->n && r >= 0; i++)
                r = burst_create(c, c->items + i);
        return r < 0 ? r : clients_wait(c);
}

int serve_burst(ServeBench *b, const char *create, size_t n, Row *row, size_t *pooled) {
        _cleanup_(clients_done) Clients clients = CLIENTS_EMPTY;
        Burst burst = { .create = create };
        size_t n_failed = row->n_failed;
        usec_t began;
        int r;

        r = clients_open(&clients, b->daemon.socket_path, n, burst_answer, row, &burst);
        began = clock_usec();
        if (r >= 0)
                r = burst_begin(&clients);
        if (r >= 0 && row->n_failed == n_failed)
                r = samples_add(&row->batch_usec, clock_usec() - began);
        for (size_t i = 0; i < n && r >= 0; i++)
                if (clients.items[i].took > 0)
                        r = samples_add(&row->latency_usec, clients.items[i].took);
        if (pooled)
                *pooled += burst.n_pooled;
        if (r >= 0)
                r = burst_delete(&clients);
        (void) usleep(BURST_SETTLE);
        return r;
}

/* So many idle sandboxes; each has run one command. They stay. */
int serve_fill(ServeBench *b, size_t n, Error *reterr) {
        _cleanup_(clients_done) Clients clients = CLIENTS_EMPTY;
        size_t at_once = MIN_OF(n, (size_t) FILL_AT_ONCE);
        Burst burst = { .create = FILL_CREATE, .left = n - at_once };
        Row row = {};
        int r;

        r = clients_open(&clients, b->daemon.socket_path, at_once, burst_answer, &row, &burst);
        if (r >= 0)
                r = burst_begin(&clients);
        if (r >= 0 && row.n_failed > 0)
                r = -EPROTO;
        if (r < 0)
                (void) error_set(reterr, r, "%zu live sandboxes: %s", n, row.n_failed > 0 ? row.failure.text : strerror(-r));
        row_done(&row);
        return r;
}
