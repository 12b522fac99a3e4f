#include "clients.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/fd.h"
#include "child.h"

#define CLIENTS_PATIENCE 60000 /* milliseconds without a word */
#define CLIENTS_EVENTS   64

void clients_done(Clients *c) {
        for (size_t i = 0; i < c->n; i++)
                http_done(&c->items[i].http);
        free(c->items);
        (void) fd_close(c->epoll_fd);
        *c = (Clients) CLIENTS_EMPTY;
}

int clients_open(Clients *c, const char *socket_path, size_t n, ClientsAnswer answer, Row *row, void *userdata) {
        c->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
        if (c->epoll_fd < 0)
                return -errno;
        c->answer = answer;
        c->row = row;
        c->userdata = userdata;
        c->items = calloc(n, sizeof(*c->items));
        if (!c->items)
                return -ENOMEM;
        for (; c->n < n; c->n++) {
                Client *client = c->items + c->n;
                struct epoll_event event = { .events = EPOLLIN, .data.ptr = client };
                int r;

                *client = (Client) { .http = HTTP_EMPTY, .number = (unsigned) c->n };
                r = http_open(&client->http, socket_path);
                if (r < 0)
                        return r;
                if (epoll_ctl(c->epoll_fd, EPOLL_CTL_ADD, client->http.fd, &event) < 0)
                        return -errno;
        }
        return 0;
}

int clients_ask(Clients *c, Client *client, const char *method, const char *path, const char *name, const char *body) {
        int r;

        if (!client->busy)
                client->began = clock_usec();
        r = http_ask(&client->http, method, path, name, body);
        if (r < 0)
                return r;
        c->n_busy += !client->busy;
        client->busy = true;
        return 1;
}

static void client_rest(Clients *c, Client *client) {
        c->n_busy -= client->busy;
        client->busy = false;
}

static void client_fail(Clients *c, Client *client, int r) {
        if (c->row->n_failed++ == 0)
                (void) error_set(&c->row->failure, r, "%.200s", r == -EPROTO && client->http.buffer ? client->http.buffer : strerror(-r));
        client_rest(c, client);
}

static int client_hear(Clients *c, Client *client) {
        int r;

        r = http_hear(&client->http);
        if (r == 0)
                return 0;
        if (r > 0)
                r = c->answer(c, client, r);
        if (r == 0)
                client_rest(c, client);
        else if (r == -EPROTO || r == -ECONNRESET || r == -EPIPE)
                client_fail(c, client, r);
        else if (r < 0)
                return r;
        return 0;
}

int clients_wait(Clients *c) {
        struct epoll_event events[CLIENTS_EVENTS];

        while (c->n_busy > 0) {
                int n = epoll_wait(c->epoll_fd, events, CLIENTS_EVENTS, CLIENTS_PATIENCE);

                if (child_interrupted())
                        return -EINTR;
                if (n == 0 || (n < 0 && errno != EINTR))
                        return n == 0 ? -ETIME : -errno;
                for (int i = 0; i < n; i++) {
                        Client *client = events[i].data.ptr;
                        int r;

                        if (!client->busy && (events[i].events & (EPOLLHUP | EPOLLERR)))
                                (void) epoll_ctl(c->epoll_fd, EPOLL_CTL_DEL, client->http.fd, NULL);
                        if (!client->busy)
                                continue;
                        r = client_hear(c, client);
                        if (r < 0)
                                return r;
                }
        }
        return 0;
}
