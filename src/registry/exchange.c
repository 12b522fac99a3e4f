#include "registry/exchange.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/address.h"
#include "base/fd.h"
#include "registry/exchange-internal.h"

#define REDIRECTS_MAX   5L
#define CONNECT_SECONDS 30
#define TURN_USEC       (250 * USEC_PER_MSEC) /* how often it is looked who stalls */

struct Exchanges {
        CURLM *multi;
        ExchangeSettings settings;
        char *no_proxy;
        Exchange *running;
};

/* libcurl would ask a proxy of the environment even for this machine. */
static char *no_proxy_list(void) {
        const char *given = getenv("no_proxy");
        char *list;

        if (!given)
                given = getenv("NO_PROXY");
        return asprintf(&list, "%s%slocalhost,127.0.0.0/8,::1", given ? given : "", given && *given ? "," : "") < 0 ? NULL : list;
}

int exchanges_new(const ExchangeSettings *settings, Exchanges **ret, Error *reterr) {
        Exchanges *e;

        if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
                return error_set(reterr, -ENOMEM, "libcurl cannot be started");
        e = calloc(1, sizeof(*e));
        if (e) {
                *e = (Exchanges) { .multi = curl_multi_init(), .settings = *settings, .no_proxy = no_proxy_list() };
                if (e->multi && e->no_proxy) {
                        *ret = e;
                        return 0;
                }
        }
        exchanges_free(e);
        return error_set(reterr, -ENOMEM, "out of memory");
}

Exchanges *exchanges_free(Exchanges *e) {
        if (!e)
                return NULL;
        while (e->running)
                exchange_stop(e->running);
        curl_multi_cleanup(e->multi);
        free(e->no_proxy);
        free(e);
        return NULL;
}

void exchanges_freep(Exchanges **e) {
        *e = exchanges_free(*e);
}

void exchanges_set_plain(Exchanges *e) {
        e->settings.plain = true;
}

static size_t exchange_on_read(char *buffer, size_t one, size_t size, void *userdata) {
        Exchange *x = userdata;
        size_t room = (size_t) MIN_OF((uint64_t) size * one, x->body_size - x->sent);
        ssize_t n = (ssize_t) room;

        x->moved_at = clock_usec();
        if (x->body_fd >= 0) {
                n = pread(x->body_fd, buffer, room, (off_t) x->sent);
                if (n < 0 || (n == 0 && room > 0)) /* shorter than it was when we said how long it is */
                        return CURL_READFUNC_ABORT;
        } else if (room > 0)
                memcpy(buffer, (const char *) x->body + x->sent, room);
        x->sent += (uint64_t) n;
        return (size_t) n;
}

static int exchange_on_seek(void *userdata, curl_off_t offset, int origin) {
        Exchange *x = userdata;

        if (origin != SEEK_SET || offset < 0 || (uint64_t) offset > x->body_size)
                return CURL_SEEKFUNC_CANTSEEK;
        x->sent = (uint64_t) offset;
        return CURL_SEEKFUNC_OK;
}

/* A registry could send us to what only this machine can reach: its services, a cloud's metadata. What it gives itself as its own address is the caller's
 * choice. Behind a proxy the address is the proxy's, and what may be reached is its business. */
static bool exchange_may_be_inside(const Exchange *x) {
        long redirects = 0;

        (void) curl_easy_getinfo(x->easy, CURLINFO_REDIRECT_COUNT, &redirects);
        if (x->exchanges->settings.inside || (redirects == 0 && !x->elsewhere && !x->exchanges->settings.outside))
                return true;
        return getenv("https_proxy") || getenv("HTTPS_PROXY") || getenv("all_proxy") || getenv("ALL_PROXY");
}

/* Before the connection: whether anybody listens there is not for others to know either. And the address itself, not the name, which can be looked up
 * to something else the next time. */
static curl_socket_t exchange_on_open(void *userdata, curlsocktype purpose, struct curl_sockaddr *a) {
        Exchange *x = userdata;

        if (address_is_inside(&a->addr) && !exchange_may_be_inside(x)) {
                x->forbidden = true;
                return CURL_SOCKET_BAD;
        }
        return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

/* A connection that was made for another request is no way around it. */
static int exchange_on_request(void *userdata, char *address, char *local, int port, int local_port) {
        struct sockaddr_in v4 = { .sin_family = AF_INET };
        struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
        Exchange *x = userdata;
        bool inside = true;

        if (inet_pton(AF_INET, address, &v4.sin_addr) == 1)
                inside = address_is_inside((const struct sockaddr *) &v4);
        else if (inet_pton(AF_INET6, address, &v6.sin6_addr) == 1)
                inside = address_is_inside((const struct sockaddr *) &v6);
        x->forbidden = inside && !exchange_may_be_inside(x);
        return x->forbidden ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

/* libcurl is told. The first refusal sticks. */

#define SET(rc, x, option, value)                                                                            \
        do {                                                                                                 \
                if ((rc) == CURLE_OK)                                                                        \
                        (rc) = curl_easy_setopt((x)->easy, (option), (value));                               \
        } while (0)

static CURLcode set_connection(Exchanges *e, Exchange *x) {
        long connect_ms = (long) (MIN_OF(e->settings.stall_usec, CONNECT_SECONDS * USEC_PER_SEC) / USEC_PER_MSEC);
        CURLcode rc = CURLE_OK;

        SET(rc, x, CURLOPT_NOSIGNAL, 1L);
        SET(rc, x, CURLOPT_QUICK_EXIT, 1L);
        SET(rc, x, CURLOPT_PROTOCOLS_STR, "http,https");
        SET(rc, x, CURLOPT_REDIR_PROTOCOLS_STR, e->settings.plain ? "http,https" : "https");
        SET(rc, x, CURLOPT_MAXREDIRS, REDIRECTS_MAX);
        SET(rc, x, CURLOPT_NOPROXY, e->no_proxy);
        SET(rc, x, CURLOPT_CONNECTTIMEOUT_MS, connect_ms);
        SET(rc, x, CURLOPT_SSL_VERIFYPEER, e->settings.unchecked ? 0L : 1L);
        SET(rc, x, CURLOPT_SSL_VERIFYHOST, e->settings.unchecked ? 0L : 2L);
        SET(rc, x, CURLOPT_SSLVERSION, (long) CURL_SSLVERSION_TLSv1_2);
        SET(rc, x, CURLOPT_OPENSOCKETFUNCTION, exchange_on_open);
        SET(rc, x, CURLOPT_OPENSOCKETDATA, x);
        SET(rc, x, CURLOPT_PREREQFUNCTION, exchange_on_request);
        SET(rc, x, CURLOPT_PREREQDATA, x);
        if (e->settings.ca)
                SET(rc, x, CURLOPT_CAINFO, e->settings.ca);
        return rc;
}

static CURLcode set_method(Exchange *x) {
        const char *method = x->method ? x->method : "GET";
        bool get = strcmp(method, "GET") == 0, head = strcmp(method, "HEAD") == 0;
        CURLcode rc = CURLE_OK;

        SET(rc, x, CURLOPT_FOLLOWLOCATION, get || head ? 1L : 0L);
        if (head)
                SET(rc, x, CURLOPT_NOBODY, 1L);
        else if (x->has_body) {
                SET(rc, x, CURLOPT_UPLOAD, 1L);
                SET(rc, x, CURLOPT_INFILESIZE_LARGE, (curl_off_t) x->body_size);
        } else
                SET(rc, x, CURLOPT_HTTPGET, 1L);
        if (!get && !head)
                SET(rc, x, CURLOPT_CUSTOMREQUEST, method);
        return rc;
}

static CURLcode set_exchange(Exchange *x) {
        CURLcode rc = set_method(x);

        SET(rc, x, CURLOPT_PRIVATE, x);
        SET(rc, x, CURLOPT_ERRORBUFFER, x->words);
        SET(rc, x, CURLOPT_URL, x->url);
        SET(rc, x, CURLOPT_HTTPHEADER, (struct curl_slist *) x->headers);
        SET(rc, x, CURLOPT_HEADERFUNCTION, exchange_on_header);
        SET(rc, x, CURLOPT_HEADERDATA, x);
        SET(rc, x, CURLOPT_WRITEFUNCTION, exchange_on_data);
        SET(rc, x, CURLOPT_WRITEDATA, x);
        SET(rc, x, CURLOPT_READFUNCTION, exchange_on_read);
        SET(rc, x, CURLOPT_READDATA, x);
        SET(rc, x, CURLOPT_SEEKFUNCTION, exchange_on_seek);
        SET(rc, x, CURLOPT_SEEKDATA, x);
        return rc;
}

static int add_header(Exchange *x, const char *name, const char *value) {
        struct curl_slist *grown;
        char *line;

        if (!value)
                return 0;
        if (asprintf(&line, "%s: %s", name, value) < 0)
                return -ENOMEM;
        grown = curl_slist_append(x->headers, line);
        explicit_bzero(line, strlen(line));
        free(line);
        if (!grown)
                return -ENOMEM;
        x->headers = grown;
        return 0;
}

static int exchange_add_headers(Exchange *x) {
        char range[32];
        int r;

        (void) snprintf(range, sizeof(range), "bytes=%llu-", (unsigned long long) x->from);
        r = add_header(x, "User-Agent", "cove-registry");
        if (r >= 0)
                r = add_header(x, "Authorization", x->authorization);
        if (r >= 0)
                r = add_header(x, "Accept", x->accept);
        if (r >= 0)
                r = add_header(x, "Content-Type", x->content_type);
        if (r >= 0)
                r = add_header(x, "Range", x->from > 0 ? range : NULL);
        if (r >= 0 && x->has_body)
                x->headers = curl_slist_append(x->headers, "Expect:"); /* none: many do not answer it */
        return r;
}

static void exchange_release(Exchange *x) {
        Exchanges *e = x->exchanges;

        if (e) {
                for (Exchange **p = &e->running; *p; p = &(*p)->next)
                        if (*p == x) {
                                *p = x->next;
                                break;
                        }
                (void) curl_multi_remove_handle(e->multi, x->easy);
                x->exchanges = NULL;
        }
        curl_easy_cleanup(x->easy);
        x->easy = NULL;
        for (struct curl_slist *s = x->headers; s; s = s->next)
                explicit_bzero(s->data, strlen(s->data)); /* one of them may be a password */
        curl_slist_free_all(x->headers);
        x->headers = NULL;
}

void exchange_stop(Exchange *x) {
        exchange_release(x);
}

void exchange_done(Exchange *x) {
        exchange_release(x);
        text_done(&x->answer);
}

int exchange_start(Exchanges *e, Exchange *x, Error *reterr) {
        CURLcode rc = CURLE_OUT_OF_MEMORY;

        text_done(&x->answer);
        x->answer = (Text) TEXT_INIT(MAX_OF(x->answer_max, (size_t) 4096));
        x->error = x->status = 0;
        x->words[0] = 0;
        x->cut = x->forbidden = false;
        x->sent = 0;
        x->length = x->range_from = UINT64_MAX;
        x->challenge[0] = x->location[0] = x->digest[0] = x->type[0] = 0;
        x->moved_at = clock_usec();
        x->easy = curl_easy_init();
        if (x->easy && exchange_add_headers(x) >= 0)
                rc = set_connection(e, x);
        if (rc == CURLE_OK)
                rc = set_exchange(x);
        if (rc != CURLE_OK || curl_multi_add_handle(e->multi, x->easy) != CURLM_OK) {
                exchange_release(x);
                return error_set(reterr, -EINVAL, "'%.200s' cannot be asked: %s", x->url, curl_easy_strerror(rc));
        }
        x->exchanges = e;
        x->next = e->running;
        e->running = x;
        return 0;
}

static Exchange *take_finished(Exchanges *e) {
        CURLMsg *m;
        int left;

        while ((m = curl_multi_info_read(e->multi, &left))) {
                char *private = NULL;
                Exchange *x;

                if (m->msg != CURLMSG_DONE || curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &private) != CURLE_OK)
                        continue;
                x = (Exchange *) (void *) private;
                exchange_take_end(x, m->data.result);
                exchange_release(x);
                return x;
        }
        return NULL;
}

static Exchange *take_stalled(Exchanges *e) {
        usec_t now = clock_usec();

        for (Exchange *x = e->running; x; x = x->next)
                if (now > x->moved_at && now - x->moved_at > e->settings.stall_usec) {
                        x->error = -ETIMEDOUT;
                        (void) snprintf(x->words, sizeof(x->words), "nothing came for %llu seconds", (unsigned long long) (e->settings.stall_usec / USEC_PER_SEC));
                        exchange_release(x);
                        return x;
                }
        return NULL;
}

Exchange *exchanges_wait(Exchanges *e, usec_t timeout_usec) {
        usec_t until = clock_usec() + timeout_usec;

        for (;;) {
                usec_t now;
                Exchange *x;
                int n;

                (void) curl_multi_perform(e->multi, &n);
                x = take_finished(e);
                if (!x)
                        x = take_stalled(e);
                if (x)
                        return x;
                now = clock_usec();
                if (now >= until)
                        return NULL;
                (void) curl_multi_poll(e->multi, NULL, 0, (int) (MIN_OF(until - now, TURN_USEC) / USEC_PER_MSEC) + 1, NULL);
        }
}
