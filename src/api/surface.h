/* surface.h: what all surfaces of the daemon share: who is asking, and answers as JSON.
 *
 * A surface registers itself as an ApiSurface: a name, tables of routes, and, where the address of a request says more than its path
 * does, who claims it. The daemon gives a list of them to api_new(); nothing here names one.
 * A route is a line of a table: method, path with {parameters}, the capability that it needs (core/access.h), how the body comes, handler. The table is also
 * what the contract test compares with docs/openapi.yaml, and test/api/principals with what each kind of principal gets.
 * Must not know: what the routes do, which surfaces there are. */
#pragma once

#include "api/api.h"
#include "api/http.h"
#include "json/shape.h"
#include "core/ledger.h"
#include "core/manager.h"

#define API_PARAMETERS_MAX 3

typedef struct ApiRequest ApiRequest;

typedef struct ApiRoute ApiRoute;

#define API_SURFACES_MAX     8
#define API_TARGET_ID_MAX    63 /* of an id that somebody asks for; ours have SANDBOX_ID_LENGTH */
#define API_TARGET_TOKEN_MAX 96

/* A port inside a sandbox that a request goes to. */
typedef struct ApiTarget {
        char id[API_TARGET_ID_MAX + 1];
        uint16_t port;
        bool by_host;                     /* the host's name said it */
        char token[API_TARGET_TOKEN_MAX]; /* a link that is part of the path: what a page asks for next carries it along; "": none */
        const char *rest;                 /* the path as the one inside sees it; into the request's */
} ApiTarget;

typedef struct ApiSurface {
        const char *name;
        const ApiRoute *const *tables; /* ends with NULL; NULL: no routes. A path belongs to one surface only */
        const ApiRoute *const *claimed; /* likewise: what admit() finds routes in; for who lists them */
        /* By the address (host, headers, signature), before any path is looked at: 1: it is for this surface; 0: it is not; negative: has been
         * answered. NULL: never. */
        int (*claims)(ApiRequest *q, ApiTarget *ret);
        /* What was claimed: sets q->route and q->who and returns 0, or answers and is negative. */
        int (*admit)(ApiRequest *q, const ApiTarget *t);
        /* What was claimed is answered by somebody inside a sandbox, who says himself which pages may read it (cors.h). NULL: never. */
        bool (*passes_on)(const ApiTarget *t);
        /* State of its own, for as long as the server runs; api_surface_state() finds it. Both NULL: it has none. */
        int (*start)(const Api *api, void **ret, Error *reterr);
        void (*stop)(void *state);
} ApiSurface;

/* What the surfaces know of the daemon. */
struct Api {
        Manager *manager;
        ApiRooms rooms;
        HttpServer *server;
        struct Strangers *strangers;
        const ApiSurface *const *surfaces;
        void *states[API_SURFACES_MAX];
        const ApiRoute **tables; /* of all surfaces, in their order; ends with NULL */
        uid_t owner, self; /* on the unix socket these users and root are admins */
};

void *api_surface_state(const Api *api, const ApiSurface *s);

struct ApiRoute {
        const char *method;
        const char *path; /* "/api/sandbox/{id}/exec/{eid}" */
        Capability needs; /* MAY_PING: no key needed */
        bool (*opened)(const Manager *m); /* likewise, where the configuration says so; NULL: never */
        /* By another credential than a key: sets q->who, or answers and is negative. NULL: by key. */
        int (*identify)(ApiRequest *q);
        bool while_recovering; /* answered also then; else 503 */
        /* How its surface words what is wrong, whoever finds it; NULL: as the native one does. One that has it also takes queries that it does not know. */
        int (*refuse)(ApiRequest *q, unsigned status, const char *message);
        HttpBodyMode body;
        size_t body_max;
        void (*handle)(ApiRequest *q);
        ssize_t (*data)(ApiRequest *q, const void *data, size_t size); /* body pieces, for streams */
        const char *const *queries; /* NULL-terminated names of allowed query parameters; NULL: none. A name ending in "." is a prefix */
        const Shape *shape; /* of the body, also for the contract test; NULL: no JSON body */
        const Shape *answer;  /* of what api_show() answers, likewise; NULL: it answers otherwise */
        bool answers_a_list;  /* of such objects */
        bool (*served)(const Manager *m); /* whether the configuration has it; NULL: always */
};

struct ApiRequest {
        HttpRequest *http;
        const Api *api;
        Manager *manager;
        const ApiRoute *route;
        Principal who; /* its texts are those below: a key may go while its request is kept */
        char tenant[ACCESS_NAME_MAX + 1], profile[ACCESS_NAME_MAX + 1], key_id[sizeof(((Key *) NULL)->id)], only[SANDBOX_ID_LENGTH + 1];
        char *parameters[API_PARAMETERS_MAX]; /* decoded, in order of the path */
        Sandbox *sandbox;     /* found by {id}, for routes that have it; else NULL. May go while the request is kept */
        Execution *execution; /* likewise by {eid} */
        bool answered;

        /* For whoever keeps account of calls; see account.h. */
        usec_t began; /* monotonic */
        char actor[40]; /* id of a key, "admin", "uid:1000"; "": nobody we know */
        Sandbox *about; /* by reference; NULL: no sandbox. What waits asks sandbox_unless_gone() for it */
        char sandbox_id[SANDBOX_ID_LENGTH + 1], execution_id[EXECUTION_ID_MAX]; /* that it is about; "": none */
        char shown_path[96]; /* instead of the path, which holds what must not be written down; "": the path */
        bool gave_secret, over_scope, accounted;
        bool has_proved; /* who it is, or that it may: by a key, a token, a link, a signature, the socket's credentials; else it is a stranger's */

        /* Asked before the handler is called: 0: it may be; 1: later, by api_proceed(); negative: has been answered. NULL: at once. While it waits, no body is
         * taken, and stop_waiting is called when the client leaves. */
        int (*prepare)(ApiRequest *q);
        bool waits, body_ended;
        void *waiting;
        void (*stop_waiting)(ApiRequest *q);

        LedgerEntry place;  /* that it takes of its tenant's */
        LedgerEntry answer; /* what of its answer is in memory: api_hold() */

        /* The handler's own: destroy() is called when the request is over, however it ends. answered: the client got all of it. */
        void *state;
        void *kept; /* freed after that: api_keep_state() */
        void (*destroy)(ApiRequest *q, bool answered);
};

/* The server's HttpRoute; userdata is an Api. */
void api_route(HttpRequest *r, HttpPlan *plan, void *userdata);

/* The handler of a request that waited. */
void api_proceed(ApiRequest *q);

/* 1: known (then q->who is set), 0: not. Key in a header, or the socket's owner. */
int api_authenticate(ApiRequest *q);

/* Who asks is whoever has what opens one sandbox. tenant: whose it is; NULL or "": nobody's. */
void api_become(ApiRequest *q, PrincipalKind kind, const char *tenant, const char *sandbox);

/* What a call turned out to be about, when its path does not say it: what it has just made. x may be NULL. */
void api_about(ApiRequest *q, Sandbox *sb, const Execution *x);
/* keep.c: a state of so many bytes, all zero, which goes with the request, after destroy(). NULL: there is no memory, and that was answered. */
void *api_keep_state(ApiRequest *q, size_t size, void (*destroy)(ApiRequest *q, bool answered));
void api_let_go(ApiRequest *q, bool answered); /* the request is over */
/* The request waits for a sandbox to have become something, with itself as the userdata: the sandbox forgets it when the client leaves. Takes state and destroy. */
void api_keep_caller(ApiRequest *q, Sandbox *sb);

/* An answer that is being built, or waits for its client, takes so many bytes by now. -ENOBUFS: more than the tenant, or all together, may have
 * (limits.answerMemory): it is given up. What is answered whole is held without asking, for as long as the client takes. */
int api_hold(ApiRequest *q, size_t bytes, Error *reterr);

int api_answer(ApiRequest *q, unsigned status, json_t *body);                /* takes the body */
int api_show(ApiRequest *q, unsigned status, const void *object);            /* by the route's answer */
int api_error(ApiRequest *q, unsigned status, const char *code, const char *hint, const char *format, ...) _printf_(5, 6);
int api_error_list(ApiRequest *q, unsigned status, const char *code, const char *message, json_t *list); /* takes the list */
int api_complaints(ApiRequest *q, const JsonComplaints *c);                  /* 400 with all of them */
/* By errno: the table of errors. text may come from an Error. */
int api_errno(ApiRequest *q, int r, const char *text);
unsigned api_errno_status(int r, const char **ret_message); /* the same table, for who has another form; the message for which nobody said more */

/* Reads the collected body by the route's fields; answers and returns < 0 when it will not do. */
int api_read(ApiRequest *q, void *target);
/* The same, with a last word on what no field can say alone; it returns a negative errno for our own failures only. */
typedef int (*ApiCheck)(ApiRequest *q, void *target, JsonComplaints *c);
int api_read_checked(ApiRequest *q, void *target, ApiCheck check);

/* Query parameters: 0 absent, 1 there; answers 400 and returns < 0 when it will not do. */
int api_query_uint(ApiRequest *q, const char *name, uint64_t min, uint64_t max, uint64_t *ret);
int api_query_bool(ApiRequest *q, const char *name, bool *ret);

/* Objects as JSON. */
json_t *api_sandbox_json(const Sandbox *sb);
json_t *api_execution_json(const Execution *x);
