/* api.c: all surfaces behind one server. */

#include "api/api.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/stranger.h"
#include "api/surface.h"
#include "base/log.h"
#include "config/reload.h"
#include "core/stranger.h"

static HttpConfig http_config(const ApiConfig *config) {
        return (HttpConfig) {
                .address = config->address,
                .loopback_only = !config->public,
                .tls_address = config->tls_address,
                .tls_certificate = config->tls_certificate,
                .tls_key = config->tls_key,
                .socket_path = config->socket_path,
                .connections_max = config->connections_max,
                .idle_seconds = config->idle_seconds,
                .header_max = STRANGER_HEAD_BYTES,
                .settle = config->settle,
        };
}

int api_listen(const ApiConfig *config, HttpSockets *ret, Error *reterr) {
        const HttpConfig http = http_config(config);

        return http_sockets_open(&http, ret, reterr);
}

static void api_on_reload(const Config *settings, void *userdata) {
        Api *a = userdata;
        Error error = { 0 };
        int r = http_server_read_certificate(a->server, &error);

        if (r < 0)
                log_error("tls: %s: the certificate that was there stays", error.text);
        else if (r > 0)
                log_notice("tls: certificate and key were read again");
}

void *api_surface_state(const Api *api, const ApiSurface *s) {
        for (size_t i = 0; i < API_SURFACES_MAX && api->surfaces[i]; i++)
                if (api->surfaces[i] == s)
                        return api->states[i];
        return NULL;
}

static int api_join_tables(Api *a, const ApiSurface *const *surfaces) {
        size_t n = 0;

        for (const ApiSurface *const *s = surfaces; *s; s++)
                for (const ApiRoute *const *t = (*s)->tables; t && *t; t++)
                        n++;
        a->tables = calloc(n + 1, sizeof(*a->tables));
        if (!a->tables)
                return -ENOMEM;
        n = 0;
        for (const ApiSurface *const *s = surfaces; *s; s++)
                for (const ApiRoute *const *t = (*s)->tables; t && *t; t++)
                        a->tables[n++] = *t;
        a->surfaces = surfaces;
        return 0;
}

static int api_start_surfaces(Api *a, Error *reterr) {
        for (size_t i = 0; a->surfaces[i]; i++) {
                int r = 0;

                if (i >= API_SURFACES_MAX)
                        return error_set(reterr, -E2BIG, "more than %d surfaces", API_SURFACES_MAX);
                if (a->surfaces[i]->start)
                        r = a->surfaces[i]->start(a, a->states + i, reterr);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int api_watch_certificate(Api *a, Error *reterr) {
        int r = 0;

        if (a->rooms.reload && http_server_tls_address(a->server))
                r = reload_add(a->rooms.reload, api_on_reload, a);
        return r < 0 ? error_set(reterr, r, "too many rooms want to know when the configuration is read again") : 0;
}

int api_new(sd_event *event, Manager *m, const ApiRooms *rooms, const ApiConfig *config, HttpSockets *sockets, Api **ret, Error *reterr) {
        const HttpConfig http = http_config(config);
        Api *a = calloc(1, sizeof(*a));
        int r;

        if (!a)
                return error_set(reterr, -ENOMEM, "out of memory");
        a->manager = m;
        a->rooms = *rooms;
        a->owner = config->owner;
        a->self = geteuid();
        r = api_join_tables(a, config->surfaces);
        if (r >= 0)
                r = strangers_new(event, m, rooms->audit, &a->strangers);
        if (r < 0)
                (void) error_set(reterr, r, "out of memory");
        if (r >= 0)
                r = api_start_surfaces(a, reterr);
        if (r >= 0)
                r = http_server_new(event, &http, sockets, api_route, a, &a->server, reterr);
        if (r >= 0)
                r = api_watch_certificate(a, reterr);
        if (r < 0) {
                api_free(a);
                return r;
        }
        *ret = a;
        return 0;
}

Api *api_free(Api *a) {
        if (!a)
                return NULL;
        http_server_free(a->server);
        for (size_t i = 0; a->surfaces && i < API_SURFACES_MAX && a->surfaces[i]; i++)
                if (a->states[i])
                        a->surfaces[i]->stop(a->states[i]);
        strangers_free(a->strangers);
        free(a->tables);
        free(a);
        return NULL;
}

const char *api_address(const Api *a) {
        return http_server_address(a->server);
}

const char *api_tls_address(const Api *a) {
        return http_server_tls_address(a->server);
}

void api_quiesce(Api *a) {
        http_server_quiesce(a->server);
}
