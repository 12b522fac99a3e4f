/* clients.h: many requests under way at once, by one thread: kept connections in one epoll.
 *
 * Pattern of use:
 *      1. clients_open() with what to do when an answer has come
 *      2. clients_ask() for those that begin; the rest follows from the answers
 *      3. clients_wait(): until nothing is under way
 * An answer that is not the right one, or a connection that broke, is counted in the row, and its client rests.
 * Must not know: what is asked, what is measured. */
#pragma once

#include "measure.h"
#include "serve-http.h"

typedef struct Client {
        Http http;
        char id[32]; /* of its sandbox; "": it has none */
        unsigned number;
        int step; /* for the caller */
        bool busy;
        usec_t began, took;
} Client;

typedef struct Clients Clients;

/* 1: it has asked again; 0: it rests; -EPROTO: that was not the right answer; other errors end the waiting. */
typedef int (*ClientsAnswer)(Clients *c, Client *client, int status);

struct Clients {
        Client *items;
        size_t n, n_busy;
        int epoll_fd;
        ClientsAnswer answer;
        Row *row; /* takes the failures */
        void *userdata;
};

#define CLIENTS_EMPTY                                                                                       \
        { .epoll_fd = -EBADF }

int clients_open(Clients *c, const char *socket_path, size_t n, ClientsAnswer answer, Row *row, void *userdata);
void clients_done(Clients *c);

/* Its time begins when the request is the first since it rested. */
int clients_ask(Clients *c, Client *client, const char *method, const char *path, const char *name, const char *body);
/* -EINTR: the user wants to leave; -ETIME: a minute without any answer. */
int clients_wait(Clients *c);
