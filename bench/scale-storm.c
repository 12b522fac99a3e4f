/* scale-storm.c: many clients at once: they create and delete, they run commands, and one runs commands beside those. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients.h"
#include "scale.h"

#define STORM_CREATE "{\"limits\":{\"memoryMB\":256,\"diskMB\":64}}"
#define STORM_TRUE   "{\"command\":\"/usr/bin/true\"}"
#define BESIDE_MAX   (20 * USEC_PER_SEC)

typedef enum StormStep {
        STEP_CREATE,
        STEP_DELETE,
        STEP_EXEC,
} StormStep;

typedef struct Storm {
        const ScaleBench *bench;
        size_t left; /* requests of this kind that nobody has sent yet */
        bool cycle;  /* create, delete, create … until nothing is left */
        Row *create, *delete, *exec;
        char (*ids)[32]; /* what was created, when it is not deleted at once */
        size_t n_ids;
        usec_t until; /* of commands */
} Storm;

static int ask_create(Clients *c, Client *client) {
        Storm *s = c->userdata;

        if (s->left == 0)
                return 0;
        s->left--;
        client->step = STEP_CREATE;
        client->began = clock_usec();
        return clients_ask(c, client, "POST", "/api/sandbox", NULL, STORM_CREATE);
}

static int ask_delete(Clients *c, Client *client, const char *id) {
        client->step = STEP_DELETE;
        client->began = clock_usec();
        return clients_ask(c, client, "DELETE", "/api/sandbox/%s?force=true", id, NULL);
}

static int ask_delete_next(Clients *c, Client *client) {
        Storm *s = c->userdata;

        return s->n_ids > 0 ? ask_delete(c, client, s->ids[--s->n_ids]) : 0;
}

static int ask_exec(Clients *c, Client *client) {
        Storm *s = c->userdata;

        if (clock_usec() >= s->until)
                return 0;
        client->step = STEP_EXEC;
        client->began = clock_usec();
        return clients_ask(c, client, "POST", "/api/sandbox/%s/exec", s->bench->work[client->number % SCALE_WORK], STORM_TRUE);
}

static int created(Clients *c, Client *client, usec_t took) {
        Storm *s = c->userdata;
        int r;

        r = http_answer_field(&client->http, "id", client->id, sizeof(client->id));
        if (r < 0)
                return -EPROTO;
        r = samples_add(&s->create->latency_usec, took);
        if (r < 0)
                return r;
        if (s->cycle)
                return ask_delete(c, client, client->id);
        memcpy(s->ids[s->n_ids++], client->id, sizeof(client->id));
        return ask_create(c, client);
}

static int deleted(Clients *c, Client *client, usec_t took) {
        Storm *s = c->userdata;
        int r = samples_add(&s->delete->latency_usec, took);

        return r < 0 ? r : s->cycle ? ask_create(c, client) : ask_delete_next(c, client);
}

static int executed(Clients *c, Client *client, usec_t took) {
        Storm *s = c->userdata;
        int r;

        if (!strstr(http_answer_body(&client->http), "\"exitCode\":0"))
                return -EPROTO;
        r = samples_add(&s->exec->latency_usec, took);
        if (r < 0)
                return r;
        r = ask_exec(c, client);
        if (r == 0 && s->cycle)
                s->left = 0; /* the others end with it */
        return r;
}

static int storm_answer(Clients *c, Client *client, int status) {
        usec_t took = clock_usec() - client->began;

        if (client->step == STEP_CREATE && status == 201)
                return created(c, client, took);
        if (client->step == STEP_DELETE && status == 200)
                return deleted(c, client, took);
        if (client->step == STEP_EXEC && status == 200)
                return executed(c, client, took);
        return -EPROTO;
}

/* All begin with that; how long until nothing is under way. */
static int all(Clients *c, int (*begin)(Clients *c, Client *client), usec_t *ret_time) {
        usec_t began = clock_usec();
        int r = 0;

        for (size_t i = 0; i < c->n && r >= 0; i++)
                r = begin(c, c->items + i);
        if (r >= 0)
                r = clients_wait(c);
        *ret_time = clock_usec() - began;
        return r;
}

static ScaleCpu cpu_per(const ServeTicks *before, const ServeTicks *after, size_t n) {
        if (n == 0)
                return (ScaleCpu) {};
        return (ScaleCpu) {
                .coved = (double) (after->coved - before->coved) * 10 / (double) n,
                .spawner = (double) (after->spawner - before->spawner) * 10 / (double) n,
        };
}

static double per_second(size_t n, usec_t time) {
        return time > 0 ? (double) n * 1e6 / (double) time : 0;
}

int scale_storm(ScaleBench *b, size_t n_clients, ScaleStorm *storm) {
        _cleanup_(clients_done) Clients clients = CLIENTS_EMPTY;
        _cleanup_free_ char(*ids)[32] = calloc(b->storm, sizeof(*ids));
        Storm s = { .bench = b, .left = b->storm, .create = &storm->create, .delete = &storm->delete, .ids = ids };
        ServeTicks before, after;
        usec_t creating, deleting;
        int r;

        if (!ids)
                return -ENOMEM;
        storm->n_clients = n_clients;
        r = clients_open(&clients, b->serve.daemon.socket_path, n_clients, storm_answer, &storm->create, &s);
        if (r >= 0)
                r = serve_daemon_ticks(&b->serve.daemon, &before);
        if (r >= 0)
                r = all(&clients, ask_create, &creating);
        if (r >= 0)
                r = all(&clients, ask_delete_next, &deleting);
        if (r >= 0)
                r = serve_daemon_ticks(&b->serve.daemon, &after);
        if (r < 0)
                return r;
        storm->creates_per_second = per_second(storm->create.latency_usec.n, creating);
        storm->deletes_per_second = per_second(storm->delete.latency_usec.n, deleting);
        storm->cpu = cpu_per(&before, &after, storm->create.latency_usec.n);
        return 0;
}

int scale_commands(ScaleBench *b, size_t n_clients, ScaleCommands *commands) {
        _cleanup_(clients_done) Clients clients = CLIENTS_EMPTY;
        Storm s = { .bench = b, .exec = &commands->exec, .until = clock_usec() + b->commands_time };
        ServeTicks before, after;
        usec_t time;
        int r;

        commands->n_clients = n_clients;
        r = clients_open(&clients, b->serve.daemon.socket_path, n_clients, storm_answer, &commands->exec, &s);
        if (r >= 0)
                r = serve_daemon_ticks(&b->serve.daemon, &before);
        s.until = clock_usec() + b->commands_time;
        if (r >= 0)
                r = all(&clients, ask_exec, &time);
        if (r >= 0)
                r = serve_daemon_ticks(&b->serve.daemon, &after);
        if (r < 0)
                return r;
        commands->per_second = per_second(commands->exec.latency_usec.n, time);
        commands->cpu = cpu_per(&before, &after, commands->exec.latency_usec.n);
        return 0;
}

/* The last client runs commands, all others create and delete. */
static int begin_beside(Clients *c, Client *client) {
        return client->number == c->n - 1 ? ask_exec(c, client) : ask_create(c, client);
}

int scale_beside(ScaleBench *b, size_t n_storm, Row *row) {
        _cleanup_(clients_done) Clients clients = CLIENTS_EMPTY;
        Row storm[2] = {};
        Storm s = { .bench = b, .left = SIZE_MAX, .cycle = true, .create = storm, .delete = storm + 1, .exec = row };
        usec_t time;
        int r;

        r = clients_open(&clients, b->serve.daemon.socket_path, n_storm + 1, storm_answer, row, &s);
        s.until = clock_usec() + MIN_OF(2 * b->commands_time, BESIDE_MAX);
        if (r >= 0)
                r = all(&clients, begin_beside, &time);
        row_done(storm);
        row_done(storm + 1);
        return r;
}
