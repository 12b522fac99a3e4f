/* api.c: all surfaces behind one server. */

#include "api/api.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/e2b/envd/envd.h"
#include "api/surface.h"
#include "base/log.h"
#include "config/reload.h"

#define HEADER_MAX ((size_t) 32 << 10)

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
                .header_max = HEADER_MAX,
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
        if (r >= 0 && rooms->reload && http_server_tls_address(a->server)) {
                r = reload_add(rooms->reload, api_on_reload, a);
                if (r < 0) {
                        (void) error_set(reterr, r, "too many rooms want to know when the configuration is read again");
                        http_server_free(a->server);
                }
        }
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

const char *api_tls_address(const Api *a) {
        return http_server_tls_address(a->server);
}

void api_quiesce(Api *a) {
        http_server_quiesce(a->server);
}
