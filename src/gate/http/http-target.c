#include "gate/http/http-target.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/macro.h"

void http_target_done(HttpTarget *t) {
        if (!t)
                return;
        free(t->path);
        free(t->query);
        free(t->authority);
        *t = (HttpTarget) { 0 };
}

int http_path_normalise(const char *path, size_t size, char **ret) {
        _cleanup_free_ char *text = NULL;
        int r;

        assert(ret);

        text = malloc(size + 4); /* never longer than before */
        if (!text)
                return -ENOMEM;
        r = egress_path_normalise(path, size, text, size + 4);
        if (r < 0)
                return -EBADMSG;
        *ret = TAKE_PTR(text);
        return 0;
}

/* Leaves *target at the path. */
static int target_cut_authority(const char **target, HttpTarget *t) {
        const char *begin;
        size_t n;

        if (**target == '/')
                return 0;
        if (strncasecmp(*target, "http://", 7) == 0)
                begin = *target + 7;
        else if (strncasecmp(*target, "https://", 8) == 0) {
                begin = *target + 8;
                t->https = true;
        } else
                return -EBADMSG;
        n = strcspn(begin, "/?");
        t->authority = strndup(begin, n);
        *target = begin + n;
        return t->authority ? 0 : -ENOMEM;
}

static int target_read(const char *method, const char *target, HttpTarget *t) {
        const char *question;
        int r;

        if (strcmp(target, "*") == 0 && strcmp(method, "OPTIONS") == 0) {
                t->path = strdup("*");
                return t->path ? 0 : -ENOMEM;
        }
        r = target_cut_authority(&target, t);
        if (r < 0)
                return r;
        question = strchr(target, '?');
        if (question) {
                t->query = strdup(question + 1);
                if (!t->query)
                        return -ENOMEM;
        }
        if (*target != '/') /* http://host?query */
                return http_path_normalise("/", 1, &t->path);
        return http_path_normalise(target, question ? (size_t) (question - target) : strlen(target), &t->path);
}

int http_target_parse(const char *method, const char *target, HttpTarget *ret) {
        HttpTarget t = { 0 };
        int r;

        assert(method && target);
        assert(ret);

        r = target_read(method, target, &t);
        if (r < 0) {
                http_target_done(&t);
                return r;
        }
        *ret = t;
        return 0;
}

static int authority_read_port(const char *text, uint16_t *ret) {
        size_t n = strlen(text);
        unsigned port = 0;

        if (n == 0 || n > 5 || strspn(text, "0123456789") != n)
                return -EBADMSG;
        for (size_t i = 0; i < n; i++)
                port = port * 10 + (unsigned) (text[i] - '0');
        if (port == 0 || port > UINT16_MAX)
                return -EBADMSG;
        *ret = (uint16_t) port;
        return 0;
}

/* Cuts "name", "name:port", "[address]:port" in two. */
static int authority_cut(char *text, char **ret_host, HttpAuthority *a, bool *ret_brackets) {
        char *end;

        *ret_brackets = text[0] == '[';
        if (*ret_brackets) {
                end = strchr(text, ']');
                if (!end)
                        return -EBADMSG;
                *end++ = '\0';
                text++;
        } else
                end = text + strcspn(text, ":");
        *ret_host = text;
        if (*end == '\0')
                return 0;
        if (*end != ':')
                return -EBADMSG;
        *end++ = '\0';
        return authority_read_port(end, &a->port);
}

int http_authority_parse(const char *text, HttpAuthority *ret) {
        char copy[EGRESS_DOMAIN_MAX + 16], *host;
        HttpAuthority a = { 0 };
        bool brackets;

        assert(text);
        assert(ret);

        if (strlen(text) >= sizeof(copy) || text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:[]")])
                return -EBADMSG;
        strcpy(copy, text);
        if (authority_cut(copy, &host, &a, &brackets) < 0)
                return -EBADMSG;
        a.is_address = ip_parse(host, &a.address) >= 0;
        if (a.is_address ? brackets != (strchr(host, ':') != NULL) : brackets)
                return -EBADMSG;
        if (!a.is_address && egress_host_normalise(host, strlen(host), a.host) < 0)
                return -EBADMSG;
        *ret = a;
        return 0;
}
