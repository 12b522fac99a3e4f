/* serve-burst.c: many requests under way at once, by one thread: a hundred clients, each create and exec. */

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "serve-work.h"

#define FILL_CREATE    "{\"limits\":{\"memoryMB\":256,\"diskMB\":64}}"
#define BURST_TRUE     "{\"command\":\"/usr/bin/true\"}"
#define BURST_PATIENCE 60000 /* milliseconds without a word */
#define BURST_SETTLE   (500 * USEC_PER_MSEC)
#define FILL_AT_ONCE   16u

typedef enum ClientStep {
        STEP_CREATE,
        STEP_EXEC,
        STEP_REST, /* nothing is under way */
        STEP_DELETE,
} ClientStep;

typedef struct Client {
        Http http;
        char id[32];
        ClientStep step;
        usec_t began, took;
} Client;

typedef struct Clients {
        Client *items;
        const char *create; /* what they ask for */
        size_t n, n_busy, n_pooled;
} Clients;

static void clients_done(Clients *c) {
        for (size_t i = 0; i < c->n; i++)
                http_done(&c->items[i].http);
        free(c->items);
        *c = (Clients) {};
}

static int clients_open(Clients *c, const ServeBench *b, size_t n) {
        c->items = calloc(n, sizeof(*c->items));
        if (!c->items)
                return -ENOMEM;
        for (; c->n < n; c->n++) {
                int r;

                c->items[c->n] = (Client) { .http = HTTP_EMPTY, .step = STEP_REST };
                r = http_open(&c->items[c->n].http, b->daemon.socket_path);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int client_create(Clients *c, Client *client) {
        client->began = clock_usec();
        client->step = STEP_CREATE;
        c->n_busy++;
        return http_ask(&client->http, "POST", "/api/sandbox", NULL, c->create);
}

static int client_delete(Clients *c, Client *client) {
        if (!client->id[0])
                return 0;
        client->step = STEP_DELETE;
        c->n_busy++;
        return http_ask(&client->http, "DELETE", "/api/sandbox/%s?force=true", client->id, NULL);
}

static void client_rest(Clients *c, Client *client) {
        client->step = STEP_REST;
        c->n_busy--;
}

/* An answer has come: what follows. -EPROTO: it is not the right one. */
static int client_go_on(Clients *c, Client *client, int status) {
        int r;

        if (client->step == STEP_CREATE && status == 201) {
                r = http_answer_field(&client->http, "id", client->id, sizeof(client->id));
                client->step = STEP_EXEC;
                c->n_pooled += strstr(http_answer_body(&client->http), "\"pooled\":true") != NULL;
                return r < 0 ? r
                             : http_ask(&client->http, "POST", "/api/sandbox/%s/exec", client->id,
                                               BURST_TRUE);
        }
        if (client->step == STEP_EXEC && status == 200 &&
                        strstr(http_answer_body(&client->http), "\"exitCode\":0")) {
                client->took = clock_usec() - client->began;
                client_rest(c, client);
                return 0;
        }
        if (client->step == STEP_DELETE && status == 200) {
                client->id[0] = '\0';
                client_rest(c, client);
                return 0;
        }
        client_rest(c, client);
        return -EPROTO;
}

static void failed(Row *row, const Client *client, int r) {
        if (row->n_failed++ == 0)
                (void) error_set(&row->failure, r, "%.200s",
                                r == -EPROTO ? client->http.buffer : strerror(-r));
}

/* Until nothing is under way. */
static int clients_wait(Clients *c, Row *row) {
        _cleanup_free_ struct pollfd *fds = calloc(c->n, sizeof(*fds));

        if (!fds)
                return -ENOMEM;
        while (c->n_busy > 0) {
                for (size_t i = 0; i < c->n; i++)
                        fds[i] = (struct pollfd) {
                                .fd = c->items[i].step == STEP_REST ? -1 : c->items[i].http.fd,
                                .events = POLLIN,
                        };
                if (child_interrupted())
                        return -EINTR;
                if (poll(fds, c->n, BURST_PATIENCE) <= 0)
                        return -ETIME;
                for (size_t i = 0; i < c->n; i++) {
                        Client *client = c->items + i;
                        int r;

                        if (!fds[i].revents)
                                continue;
                        r = http_hear(&client->http);
                        if (r > 0)
                                r = client_go_on(c, client, r);
                        else if (r < 0)
                                client_rest(c, client);
                        if (r < 0)
                                failed(row, client, r);
                }
        }
        return 0;
}

static int clients_delete(Clients *c, Row *row) {
        for (size_t i = 0; i < c->n; i++) {
                int r = client_delete(c, c->items + i);

                if (r < 0)
                        return r;
        }
        return clients_wait(c, row);
}

int serve_burst(ServeBench *b, const char *create, size_t n, Row *row, size_t *pooled) {
        _cleanup_(clients_done) Clients clients = { .create = create };
        size_t n_failed = row->n_failed;
        usec_t began;
        int r;

        r = clients_open(&clients, b, n);
        began = clock_usec();
        for (size_t i = 0; i < n && r >= 0; i++)
                r = client_create(&clients, clients.items + i);
        if (r >= 0)
                r = clients_wait(&clients, row);
        if (r >= 0 && row->n_failed == n_failed)
                r = samples_add(&row->batch_usec, clock_usec() - began);
        for (size_t i = 0; i < n && r >= 0; i++)
                if (clients.items[i].took > 0)
                        r = samples_add(&row->latency_usec, clients.items[i].took);
        if (pooled)
                *pooled += clients.n_pooled;
        if (r >= 0)
                r = clients_delete(&clients, row);
        (void) usleep(BURST_SETTLE);
        return r;
}

/* So many idle sandboxes; each has run one command. They stay. */
int serve_fill(ServeBench *b, size_t n, Error *reterr) {
        _cleanup_(clients_done) Clients clients = { .create = FILL_CREATE };
        Row row = {};
        int r;

        r = clients_open(&clients, b, FILL_AT_ONCE);
        for (size_t made = 0; made < n && r >= 0;) {
                for (size_t i = 0; i < FILL_AT_ONCE && made < n && r >= 0; i++, made++)
                        r = client_create(&clients, clients.items + i);
                if (r >= 0)
                        r = clients_wait(&clients, &row);
                if (row.n_failed > 0)
                        r = -EPROTO;
        }
        if (r < 0)
                (void) error_set(reterr, r, "%zu live sandboxes: %s", n,
                                row.n_failed > 0 ? row.failure.text : strerror(-r));
        row_done(&row);
        return r;
}
