/* api.c: all surfaces behind one server. */

#include "api/api.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/e2b/envd.h"
#include "api/surface.h"

#define HEADER_MAX ((size_t) 32 << 10)

static HttpConfig http_config(const ApiConfig *config) {
        return (HttpConfig) {
                .address = config->address,
                .loopback_only = !config->public,
                .socket_path = config->socket_path,
                .connections_max = config->connections_max,
                .idle_seconds = config->idle_seconds,
                .header_max = HEADER_MAX,
        };
}

int api_listen(const ApiConfig *config, HttpSockets *ret, Error *reterr) {
        const HttpConfig http = http_config(config);

        return http_sockets_open(&http, ret, reterr);
}

int api_new(sd_event *event, Manager *m, const ApiRooms *rooms, const ApiConfig *config, HttpSockets *sockets, Api **ret, Error *reterr) {
        const HttpConfig http = http_config(config);
        Api *a = calloc(1, sizeof(*a));
        int r;

        if (!a)
                return error_set(reterr, -ENOMEM, "out of memory");
        a->manager = m;
        a->watchers = fs_watchers_new();
        if (!a->watchers) {
                free(a);
                return error_set(reterr, -ENOMEM, "out of memory");
        }
        a->rooms = *rooms;
        a->owner = config->owner;
        a->self = geteuid();
        r = http_server_new(event, &http, sockets, api_route, a, &a->server, reterr);
        if (r < 0) {
                fs_watchers_free(a->watchers);
                free(a);
                return r;
        }
        *ret = a;
        return 0;
}

Api *api_free(Api *a) {
        if (!a)
                return NULL;
        http_server_free(a->server);
        fs_watchers_free(a->watchers);
        free(a);
        return NULL;
}

const char *api_address(const Api *a) {
        return http_server_address(a->server);
}

void api_quiesce(Api *a) {
        http_server_quiesce(a->server);
}
