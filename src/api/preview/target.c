/* target.c: finds the sandbox and port of a request. */

#include <string.h>
#include <strings.h>

#include "api/preview/preview.h"
#include "api/router.h"
#include "base/id.h"
#include "config/config.h"

#define PREFIX "/preview/"

/* Parses "8000", or "8000~" and a signature. */
static int take_port_and_token(const char *text, size_t n, ApiTarget *ret) {
        const char *tilde = memchr(text, '~', n);
        size_t size = tilde ? (size_t) (text + n - tilde - 1) : 0;

        if (size >= sizeof(ret->token))
                return -EINVAL;
        if (size > 0)
                memcpy(ret->token, tilde + 1, size);
        ret->token[size] = '\0';
        return router_port(text, tilde ? (size_t) (tilde - text) : n, &ret->port);
}

static int take_both(const char *id, size_t id_size, const char *port, size_t port_size, ApiTarget *ret) {
        char text[SANDBOX_ID_LENGTH + 1];

        if (id_size >= sizeof(text))
                return -EINVAL;
        memcpy(text, id, id_size);
        text[id_size] = '\0';
        if (!id_is_valid(text) || take_port_and_token(port, port_size, ret) < 0)
                return -EINVAL;
        memcpy(ret->id, text, sizeof(text));
        return 1;
}

/* Parses "<port>-<id>.<domain>", which may end with our port. */
static int target_parse_host(const char *host, const char *domain, ApiTarget *ret) {
        size_t label = strcspn(host, "."), port = strcspn(host, "-"), n = strlen(domain);
        const char *rest = host + label + (host[label] == '.');

        if (host[label] != '.' || strncasecmp(rest, domain, n) != 0 || (rest[n] != '\0' && rest[n] != ':'))
                return 0;
        ret->by_host = true;
        if (memchr(host, '~', label)) /* not valid in a host name */
                return -EINVAL;
        return port < label ? take_both(host + port + 1, label - port - 1, host, port, ret) : -EINVAL;
}

static int target_parse_path(const char *path, ApiTarget *ret) {
        const char *id, *port;
        size_t id_size, port_size;

        if (strncmp(path, PREFIX, strlen(PREFIX)) != 0)
                return 0;
        id = path + strlen(PREFIX);
        id_size = strcspn(id, "/");
        port = id + id_size + (id[id_size] == '/');
        port_size = strcspn(port, "/");
        ret->rest = port + port_size;
        return take_both(id, id_size, port, port_size, ret);
}

int preview_target_parse(const char *host, const char *path, const char *domain, ApiTarget *ret) {
        int r = 0;

        *ret = (ApiTarget) { .rest = path };
        if (host && domain)
                r = target_parse_host(host, domain, ret);
        return r == 0 ? target_parse_path(path, ret) : r;
}

int preview_find(ApiRequest *q, ApiTarget *ret) {
        /* An invalid address is claimed too, without an id, so that the answer is that of a preview. */
        return preview_target_parse(http_header(q->http, "Host"), http_path(q->http), q->manager->settings->previews.domain, ret) != 0;
}
