/* api.h: all surfaces of the daemon, behind one server.
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

/* The rooms beside the core that surfaces speak to. Any may be NULL: then what needs it answers 501. */
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
        struct Builds *builds;       /* … that are built here */
        struct StateRoom *state;     /* snapshots, forks, volumes */
        struct Contexts *contexts;   /* interpreters that stay */
        struct Recorder *recorder;   /* what went into sandboxes */
} ApiRooms;

typedef struct ApiConfig {
        const char *address; /* NULL: no TCP */
        bool public;         /* addresses beyond loopback are allowed */
        const char *tls_address, *tls_certificate, *tls_key; /* NULL: no TLS */
        const char *socket_path;
        unsigned connections_max;
        unsigned idle_seconds;
        uid_t owner; /* who may use the unix socket, beside root and ourselves */
        const struct ApiSurface *const *surfaces; /* ends with NULL; the first that claims a request has it */
} ApiConfig;

/* While we still may bind anywhere; nothing is answered yet. */
int api_listen(const ApiConfig *config, HttpSockets *ret, Error *reterr);

/* Takes the sockets. */
int api_new(sd_event *event, Manager *m, const ApiRooms *rooms, const ApiConfig *config, HttpSockets *sockets, Api **ret, Error *reterr);
Api *api_free(Api *a);
const char *api_address(const Api *a); /* NULL: no TCP */
const char *api_tls_address(const Api *a); /* NULL: no TLS */
void api_quiesce(Api *a);

/* The tables of routes as JSON, with the capability that each needs: what the contract test compares with docs/openapi.yaml. */
int api_print_routes(const struct ApiSurface *const *surfaces, FILE *to);
