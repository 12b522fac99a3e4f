/* aim.c: the destination of a request: addresses, redirects, origins. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/address.h"
#include "outbound/internal.h"

/* libcurl has no use for these headers, and the target of a redirect must not get them. */
static const char *const credentials[] = { "Authorization:", "Cookie:", "Proxy-Authorization:" };

static bool request_may_reach(const OutboundRequest *q, const IpAddress *a) {
        return address_is_reachable(a, q->redirects > 0 ? q->reach_elsewhere : q->reach, NULL, 0);
}

const char *request_forbidden_words(const OutboundRequest *q) {
        if ((q->redirects > 0 ? q->reach_elsewhere : q->reach) == IP_REACH_PUBLIC)
                return "it leads to this machine or into a private network, which is not allowed";
        return "it leads to this machine or to a link-local address, which is not allowed";
}

/* Checks the address, not the name, because the next lookup of the name may return another address. Checks
 * before connecting, because a caller must not learn whether a port there is open. The address of a proxy is
 * not checked: the operator has chosen it. */
static curl_socket_t request_on_open(void *userdata, curlsocktype purpose, struct curl_sockaddr *a) {
        OutboundRequest *q = userdata;
        IpAddress ip;
        uint16_t port;

        if (!q->proxied && (address_from_socket(&a->addr, &ip, &port) < 0 || !request_may_reach(q, &ip))) {
                q->forbidden = true;
                return CURL_SOCKET_BAD;
        }
        return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

/* Checks again, because libcurl may reuse a connection that was opened for another request. */
static int request_on_connected(void *userdata, char *address, char *local, int port, int local_port) {
        OutboundRequest *q = userdata;
        IpAddress ip;

        q->moved_at = clock_usec();
        q->forbidden = !q->proxied && (ip_parse(address, &ip) < 0 || !request_may_reach(q, &ip));
        return q->forbidden ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

CURLcode request_guard(OutboundRequest *q) {
        CURLcode rc = CURLE_OK;

        SET(rc, q, CURLOPT_OPENSOCKETFUNCTION, request_on_open);
        SET(rc, q, CURLOPT_OPENSOCKETDATA, q);
        SET(rc, q, CURLOPT_PREREQFUNCTION, request_on_connected);
        SET(rc, q, CURLOPT_PREREQDATA, q);
        SET(rc, q, CURLOPT_FOLLOWLOCATION, 0L); /* request_follow() does */
        SET(rc, q, CURLOPT_NOPROXY, "");        /* request_aim() has decided */
        SET(rc, q, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
        return rc;
}

static char *url_part(CURLU *u, CURLUPart part) {
        char *text = NULL;

        return curl_url_get(u, part, &text, CURLU_DEFAULT_PORT) == CURLUE_OK ? text : NULL;
}

/* Refuses near addresses before a proxy resolves them, because they would lead to the proxy's own network.
 * Names are left to the proxy. */
static bool request_is_near(const OutboundRequest *q, CURLU *u) {
        char *host = url_part(u, CURLUPART_HOST), *bare = host && *host == '[' ? host + 1 : host;
        bool near = true;
        IpAddress ip;

        if (bare) {
                bare[strcspn(bare, "]%")] = 0;
                near = ip_parse(bare, &ip) >= 0 && !request_may_reach(q, &ip);
        }
        curl_free(host);
        return near;
}

int request_aim(OutboundRequest *q, const char *url, Error *reterr) {
        CURLU *u = curl_url();
        CURLUcode parsed = u ? curl_url_set(u, CURLUPART_URL, url, 0) : CURLUE_OUT_OF_MEMORY;
        const char *proxy = parsed == CURLUE_OK && q->may_proxy ? proxy_for(u) : NULL;
        char *copy = strdup(url);
        CURLcode rc = CURLE_OK;

        q->proxied = proxy;
        q->forbidden = proxy && request_is_near(q, u);
        curl_url_cleanup(u);
        SET(rc, q, CURLOPT_URL, url);
        SET(rc, q, CURLOPT_PROXY, proxy ? proxy : "");
        free(q->url);
        q->url = copy;
        if (parsed != CURLUE_OK)
                return error_set(reterr, -EINVAL, "the URL cannot be: %s", curl_url_strerror(parsed));
        if (q->forbidden)
                return error_set(reterr, -EPERM, "%s", request_forbidden_words(q));
        return rc == CURLE_OK && copy ? 0 : error_set(reterr, -ENOMEM, "out of memory");
}

/* Redirects. */

bool request_will_follow(const OutboundRequest *q) {
        long status = 0;

        (void) curl_easy_getinfo(q->easy, CURLINFO_RESPONSE_CODE, &status);
        return q->redirects_max > 0 && (status == 301 || status == 302 || status == 303 || status == 307 || status == 308);
}

static void drop_credentials(OutboundRequest *q) {
        struct curl_slist **p = &q->headers;

        while (*p) {
                struct curl_slist *item = *p;
                bool drop = false;

                for (size_t i = 0; i < ELEMENTSOF(credentials); i++)
                        drop |= strncasecmp(item->data, credentials[i], strlen(credentials[i])) == 0;
                if (!drop) {
                        p = &item->next;
                        continue;
                }
                *p = item->next;
                item->next = NULL;
                explicit_bzero(item->data, strlen(item->data));
                curl_slist_free_all(item);
        }
}

/* Returns the reason why the redirect is refused, or NULL. */
static const char *redirect_complaint(const char *from, const char *to) {
        CURLU *u = curl_url();
        char *user = NULL, *password = NULL;
        const char *words = NULL;
        bool plain = strncasecmp(from, "http://", 7) == 0 && strncasecmp(to, "http://", 7) == 0;

        if (!plain && strncasecmp(to, "https://", 8) != 0)
                words = "it redirects to a URL that is not https";
        else if (!u || curl_url_set(u, CURLUPART_URL, to, 0) != CURLUE_OK)
                words = "it redirects to an invalid URL";
        else {
                user = url_part(u, CURLUPART_USER);
                password = url_part(u, CURLUPART_PASSWORD);
                if (user || password)
                        words = "it redirects to a URL with a name or a password in it";
        }
        curl_free(user);
        curl_free(password);
        curl_url_cleanup(u);
        return words;
}

int request_refuse(OutboundRequest *q, int error, const char *words) {
        q->error = error;
        (void) snprintf(q->words, sizeof(q->words), "%s", words);
        return error;
}

int request_follow(OutboundRequest *q) {
        _cleanup_free_ char *to = NULL;
        const char *words;
        char *location = NULL;

        (void) curl_easy_getinfo(q->easy, CURLINFO_REDIRECT_URL, &location);
        if (!request_will_follow(q) || !location)
                return 0;
        if (q->redirects >= q->redirects_max)
                return request_refuse(q, -ELOOP, "it redirects too often");
        words = redirect_complaint(q->url, location);
        if (words)
                return request_refuse(q, -EPERM, words);
        to = strdup(location);
        if (!to)
                return request_refuse(q, -ENOMEM, "out of memory");
        if (!outbound_same_origin(q->url, to))
                drop_credentials(q);
        q->redirects++;
        q->head_size = q->skipped = 0;
        if (curl_easy_setopt(q->easy, CURLOPT_HTTPHEADER, q->headers) != CURLE_OK || request_aim(q, to, NULL) < 0)
                return q->forbidden ? -EPERM : request_refuse(q, -ENOMEM, "out of memory");
        return 1;
}

/* Origins. */

static bool same_part(CURLU *a, CURLU *b, CURLUPart part) {
        char *x = url_part(a, part), *y = url_part(b, part);
        bool same = x && y && strcasecmp(x, y) == 0;

        curl_free(x);
        curl_free(y);
        return same;
}

bool outbound_same_origin(const char *a, const char *b) {
        CURLU *x = curl_url(), *y = curl_url();
        bool same = x && y && curl_url_set(x, CURLUPART_URL, a, 0) == CURLUE_OK && curl_url_set(y, CURLUPART_URL, b, 0) == CURLUE_OK &&
                    same_part(x, y, CURLUPART_SCHEME) && same_part(x, y, CURLUPART_HOST) && same_part(x, y, CURLUPART_PORT);

        curl_url_cleanup(x);
        curl_url_cleanup(y);
        return same;
}

char *outbound_url_join(const char *base, const char *location) {
        CURLU *u = curl_url();
        char *whole = NULL, *copy = NULL;

        if (u && curl_url_set(u, CURLUPART_URL, base, 0) == CURLUE_OK && curl_url_set(u, CURLUPART_URL, location, 0) == CURLUE_OK &&
            curl_url_get(u, CURLUPART_URL, &whole, 0) == CURLUE_OK)
                copy = strdup(whole);
        curl_free(whole);
        curl_url_cleanup(u);
        return copy;
}

char *outbound_escape(const char *text) {
        char *escaped = curl_easy_escape(NULL, text, 0), *copy = escaped ? strdup(escaped) : NULL;

        curl_free(escaped);
        return copy;
}
