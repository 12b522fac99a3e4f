/* api.h: all API surfaces of the daemon, behind one server.
 *
 * Must not know: what any surface does. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#include "api/http.h"
#include "base/error.h"
#include "core/manager.h"

typedef struct Api Api;
struct ApiSurface;

/* The rooms beside the core that surfaces use. Any may be NULL; routes that need it then answer 501. */
typedef struct ApiRooms {
        struct Observe *observe;     /* metrics, windows, history, cost */
        struct Alerts *alerts;
        struct Audit *audit;
        struct Reaper *reaper;       /* clean-up, health checks, diagnosis */
        struct Agents *agents;
        struct Artifacts *artifacts;
        struct Otlp *otlp;           /* traces and metrics for a collector */
        struct Reload *reload;       /* config */
        struct Gatekeeper *gatekeeper; /* networks of sandboxes */
        struct Vault *vault;         /* secrets */
        struct Images *images;       /* templates */
        struct Builds *builds;       /* builds of templates */
        struct StateRoom *state;     /* snapshots, forks, volumes */
        struct Contexts *contexts;   /* interpreters that keep their state */
        struct Recorder *recorder;   /* recordings of input to sandboxes */
} ApiRooms;

typedef struct ApiConfig {
        const char *address; /* NULL: no TCP */
        bool public;         /* addresses beyond loopback are allowed */
        const char *tls_address, *tls_certificate, *tls_key; /* NULL: no TLS */
        const char *socket_path;
        unsigned connections_max;
        unsigned idle_seconds;
        struct Settle *settle; /* core/settle.h */
        uid_t owner; /* may use the unix socket, like root and the daemon's own user */
        const struct ApiSurface *const *surfaces; /* NULL-terminated; the first one that claims a request gets it */
} ApiConfig;

/* Opens the sockets, while the process may still bind any address. Nothing is answered yet. */
int api_listen(const ApiConfig *config, HttpSockets *ret, Error *reterr);

/* Takes the sockets. */
int api_new(sd_event *event, Manager *m, const ApiRooms *rooms, const ApiConfig *config, HttpSockets *sockets, Api **ret, Error *reterr);
Api *api_free(Api *a);
const char *api_address(const Api *a); /* NULL: no TCP */
const char *api_tls_address(const Api *a); /* NULL: no TLS */
void api_quiesce(Api *a);

/* Prints the tables of routes as JSON, with the capability that each route needs. The contract test compares
 * it with docs/openapi.yaml. */
int api_print_routes(const struct ApiSurface *const *surfaces, FILE *to);
