/* surface.h: shared by all surfaces of the daemon: authentication, routing, and answers as JSON.
 *
 * A surface registers itself as an ApiSurface: a name, tables of routes and, if requests for it are
 * recognized by more than the path, a function that claims them. The daemon passes a list of surfaces to
 * api_new(); nothing here names one. A route is a line of a table: method, path with {parameters}, required
 * capability (core/access.h), body mode, handler. The contract test compares the table with
 * docs/openapi.yaml, and test/api/principals with what each kind of principal may do.
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
#define API_TARGET_ID_MAX    63 /* longest requested id; ours have SANDBOX_ID_LENGTH */
#define API_TARGET_TOKEN_MAX 96

/* A port in a sandbox as the target of a request. */
typedef struct ApiTarget {
        char id[API_TARGET_ID_MAX + 1];
        uint16_t port;
        bool by_host;                     /* named by the Host header */
        /* A signed link in the path, which further requests of a page repeat; "": none. */
        char token[API_TARGET_TOKEN_MAX];
        const char *rest;                 /* the path for the server inside; points into the request's path */
} ApiTarget;

typedef struct ApiSurface {
        const char *name;
        const ApiRoute *const *tables; /* NULL-terminated; NULL: no routes. A path belongs to one surface only */
        const ApiRoute *const *claimed; /* the same for the routes that admit() uses; for listings of routes */
        /* Decides by host, headers or signature, before any path is looked at: 1: the request is for this
         * surface; 0: it is not; negative: has been answered. NULL: never. */
        int (*claims)(ApiRequest *q, ApiTarget *ret);
        /* For a claimed request: sets q->route and q->who and returns 0, or answers and returns a negative
         * value. */
        int (*admit)(ApiRequest *q, const ApiTarget *t);
        /* Whether a claimed request is answered by a server inside a sandbox, which decides itself which
         * pages may read it (cors.h). NULL: never. */
        bool (*passes_on)(const ApiTarget *t);
        /* The surface's own state while the server runs; see api_surface_state(). Both NULL: none. */
        int (*start)(const Api *api, void **ret, Error *reterr);
        void (*stop)(void *state);
} ApiSurface;

/* The surfaces' view of the daemon. */
struct Api {
        Manager *manager;
        ApiRooms rooms;
        HttpServer *server;
        struct Strangers *strangers;
        const ApiSurface *const *surfaces;
        void *states[API_SURFACES_MAX];
        const ApiRoute **tables; /* of all surfaces, in order; NULL-terminated */
        uid_t owner, self; /* these users and root are admins on the unix socket */
};

void *api_surface_state(const Api *api, const ApiSurface *s);

struct ApiRoute {
        const char *method;
        const char *path; /* "/api/sandbox/{id}/exec/{eid}" */
        Capability needs; /* MAY_PING: no key needed */
        bool (*opened)(const Manager *m); /* no key needed if this returns true; NULL: never */
        /* Authenticates other than by key: sets q->who, or answers and returns a negative value. NULL: by
         * key. */
        int (*identify)(ApiRequest *q);
        bool while_recovering; /* served during recovery; else 503 */
        /* Formats errors of the surface, wherever they are found; NULL: the native format. If set, unknown
         * query parameters are accepted. */
        int (*refuse)(ApiRequest *q, unsigned status, const char *message);
        HttpBodyMode body;
        size_t body_max;
        void (*handle)(ApiRequest *q);
        ssize_t (*data)(ApiRequest *q, const void *data, size_t size); /* pieces of the body, for streams */
        const char *const *queries; /* NULL-terminated names of allowed query parameters; NULL: none. A name ending in "." is a prefix */
        const Shape *shape; /* of the body, also for the contract test; NULL: no JSON body */
        /* Shape of the object that api_show() gets, also for the contract test; NULL: answers otherwise. */
        const Shape *answer;
        bool answers_a_list;  /* the answer is a list of such objects */
        bool (*served)(const Manager *m); /* whether the configuration enables it; NULL: always */
};

struct ApiRequest {
        HttpRequest *http;
        const Api *api;
        Manager *manager;
        const ApiRoute *route;
        Principal who; /* its strings are copied below, because the key may be deleted while the request is kept */
        char tenant[ACCESS_NAME_MAX + 1], profile[ACCESS_NAME_MAX + 1], key_id[sizeof(((Key *) NULL)->id)], only[SANDBOX_ID_LENGTH + 1];
        char *parameters[API_PARAMETERS_MAX]; /* decoded, in the order of the path */
        /* Found by {id}, on routes that have it; else NULL. May be deleted while the request is kept. */
        Sandbox *sandbox;
        Execution *execution; /* the same for {eid} */
        bool answered;

        /* For the accounting of calls; see account.h. */
        usec_t began; /* monotonic */
        char actor[40]; /* id of a key, "admin", "uid:1000"; "": unauthenticated */
        Sandbox *about; /* a reference; NULL: no sandbox. Waiting code must use sandbox_unless_gone() */
        char sandbox_id[SANDBOX_ID_LENGTH + 1], execution_id[EXECUTION_ID_MAX]; /* subject of the call; "": none */
        char shown_path[96]; /* replaces the path, if that contains a secret; "": the path */
        bool gave_secret, over_scope, accounted;
        /* It is authenticated or authorized: by a key, token, link, signature, or the socket's credentials.
         * Else it is a stranger's. */
        bool has_proved;

        /* Called before the handler. 0: continue; 1: api_proceed() will be called later; negative: has been
         * answered. NULL: continue. While the request waits, no body is taken, and stop_waiting is called if
         * the client leaves. */
        int (*prepare)(ApiRequest *q);
        bool waits, body_ended;
        void *waiting;
        void (*stop_waiting)(ApiRequest *q);

        LedgerEntry place;  /* reserved in its tenant's account */
        LedgerEntry answer; /* bytes of its answer in memory: api_hold() */

        /* The handler's own. destroy() is called at the end of the request. answered: the client got the
         * whole answer. */
        void *state;
        void *kept; /* freed after destroy(): api_keep_state() */
        void (*destroy)(ApiRequest *q, bool answered);
};

/* The server's HttpRoute; userdata is an Api. */
void api_route(HttpRequest *r, HttpPlan *plan, void *userdata);

/* Calls the handler of a request that waited. */
void api_proceed(ApiRequest *q);

/* Authenticates by a key in a header, or as the socket's owner. 1: known, and q->who is set; 0: not. */
int api_authenticate(ApiRequest *q);

/* Makes the caller a principal for one sandbox only. tenant: of the sandbox; NULL or "": none. */
void api_become(ApiRequest *q, PrincipalKind kind, const char *tenant, const char *sandbox);

/* Sets the subject of a call that its path does not name, such as a new sandbox. x may be NULL. */
void api_about(ApiRequest *q, Sandbox *sb, const Execution *x);
/* keep.c: allocates a zeroed state, freed after destroy() at the end of the request. NULL: out of memory, and
 * that was answered. */
void *api_keep_state(ApiRequest *q, size_t size, void (*destroy)(ApiRequest *q, bool answered));
void api_let_go(ApiRequest *q, bool answered); /* the request is over */
/* Call it while a sandbox operation runs with the request as its userdata: the sandbox forgets the request if
 * the client leaves. Uses q->state and q->destroy. */
void api_keep_caller(ApiRequest *q, Sandbox *sb);

/* Charges the current memory of an answer that is being built or sent. -ENOBUFS: above the limit of the
 * tenant or of all together (limits.answerMemory): give the answer up. A whole answer is charged
 * automatically until the client has it. */
int api_hold(ApiRequest *q, size_t bytes, Error *reterr);

int api_answer(ApiRequest *q, unsigned status, json_t *body);                /* takes the body */
int api_show(ApiRequest *q, unsigned status, const void *object);            /* in the shape of the route's answer */
int api_error(ApiRequest *q, unsigned status, const char *code, const char *hint, const char *format, ...) _printf_(5, 6);
int api_error_list(ApiRequest *q, unsigned status, const char *code, const char *message, json_t *list); /* takes the list */
int api_complaints(ApiRequest *q, const JsonComplaints *c);                  /* 400 with all of them */
/* Answers by errno, from the table of errors. text may come from an Error. */
int api_errno(ApiRequest *q, int r, const char *text);
/* The same table, for other formats. ret_message: the default text. */
unsigned api_errno_status(int r, const char **ret_message);

/* Reads the collected body by the route's shape. If it is invalid, answers and returns a negative value. */
int api_read(ApiRequest *q, void *target);
/* The same, followed by a check across fields. The check returns a negative errno for internal failures only. */
typedef int (*ApiCheck)(ApiRequest *q, void *target, JsonComplaints *c);
int api_read_checked(ApiRequest *q, void *target, ApiCheck check);

/* Query parameters: 0 if absent, 1 if present. If one is invalid, answers 400 and returns a negative value. */
int api_query_uint(ApiRequest *q, const char *name, uint64_t min, uint64_t max, uint64_t *ret);
int api_query_bool(ApiRequest *q, const char *name, bool *ret);

/* Objects as JSON. */
json_t *api_sandbox_json(const Sandbox *sb);
json_t *api_execution_json(const Execution *x);
