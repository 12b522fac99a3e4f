#include "registry/remote.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json/json.h"
#include "registry/document.h"
#include "registry/remote-internal.h"

#define PAUSE_USEC     (500 * USEC_PER_MSEC)
#define PAUSE_MAX_USEC (60 * USEC_PER_SEC)

/* Whether TLS is not even tried. */
static bool remote_is_plain(const Reference *reference, const RemoteOptions *options) {
        return reference_is_loopback(reference) && !options->ca && !options->insecure;
}

static int remote_find_scheme(Remote *r, const RemoteOptions *options, Error *reterr) {
        const char *host = reference_api_host(r->reference);
        bool plain = remote_is_plain(r->reference, options);
        _cleanup_exchange_ Exchange x = EXCHANGE_INIT;
        char url[sizeof(r->base) + 8];
        int e;

        (void) snprintf(r->base, sizeof(r->base), "%s://%s", plain ? "http" : "https", host);
        if (plain || !options->insecure)
                return 0;
        /* "insecure" accepts any certificate. It falls back to HTTP if the registry does not speak TLS. */
        (void) snprintf(url, sizeof(url), "%s/v2/", r->base);
        x.url = url;
        e = exchange_start(r->exchanges, &x, reterr);
        if (e < 0)
                return e;
        while (!exchanges_wait(r->exchanges, USEC_PER_SEC))
                ;
        if (x.error < 0)
                (void) snprintf(r->base, sizeof(r->base), "http://%s", host);
        return 0;
}

int remote_open(Remote *r, const Reference *reference, const RemoteOptions *options, Error *reterr) {
        const ExchangeSettings settings = {
                .ca = options->ca,
                .unchecked = options->insecure,
                .inside = reference_is_loopback(reference) && !options->outside,
                .outside = options->outside,
                .stall_usec = options->stall_usec,
        };
        int e;

        *r = (Remote) { .reference = reference, .push = options->push, .accepted = true };
        e = exchanges_new(&settings, &r->exchanges, reterr);
        if (e >= 0)
                e = exchanges_new(&settings, &r->tokens, reterr);
        if (e >= 0)
                e = remote_take_credentials(r, reterr);
        if (e >= 0)
                e = remote_find_scheme(r, options, reterr);
        return e;
}

void remote_done(Remote *r) {
        r->exchanges = exchanges_free(r->exchanges);
        r->tokens = exchanges_free(r->tokens);
        remote_forget(&r->user);
        remote_forget(&r->password);
        remote_forget(&r->bearer);
        remote_forget(&r->authorization);
}

char *remote_url(const Remote *r, const char *kind, const char *what) {
        char *url;

        return asprintf(&url, "%s/v2/%s/%s/%s", r->base, r->reference->name, kind, what) < 0 ? NULL : url;
}

/* The message in the body of an error: {"errors":[{"code","message"}]}. */
static void complaint_of(const Exchange *x, char *ret, size_t room) {
        _cleanup_json_ json_t *j = x->answer.size > 0 ? document_parse(x->answer.data, x->answer.size, NULL) : NULL;
        json_t *first = json_array_get(json_object_get(j, "errors"), 0);
        const char *message = json_string_value(json_object_get(first, "message"));

        (void) snprintf(ret, room, "%s%.150s%s", message ? " ('" : "", message ? message : "", message ? "')" : "");
}

int remote_explain(const Remote *r, const Exchange *x, const char *what, Error *reterr) {
        const char *host = r->reference->host;
        char complaint[192];

        if (x->error == -EFBIG)
                return error_set(reterr, -EFBIG, "%s sends more than %zu bytes as %.120s", host, x->answer_max, what);
        if (x->error < 0)
                return error_set(reterr, x->error, "%s, %.120s: %.200s", host, what, x->words[0] ? x->words : strerror(-x->error));
        complaint_of(x, complaint, sizeof(complaint));
        if (x->status == 401)
                return error_set(reterr, -EACCES, r->user || r->bearer ? "%s refuses the credentials for %.120s%s" :
                                "%s asks for credentials for %.120s%s: give them, or see whether there is such an image",
                                 host, what, complaint);
        if (x->status == 403)
                return error_set(reterr, -EACCES, "%s does not allow it: %.120s%s", host, what, complaint);
        if (x->status == 404)
                return error_set(reterr, -ENOENT, "%s has no %.120s%s", host, what, complaint);
        if (x->status == 429)
                return error_set(reterr, -EBUSY, "%s says that there were too many requests (429), at %.120s%s: try again later, or with credentials", host, what, complaint);
        return error_set(reterr, x->status >= 500 ? -EIO : -EPROTO, "%s answers %d to %.120s%s", host, x->status, what, complaint);
}

usec_t remote_retry_pause(const Exchange *x, unsigned tries) {
        static const int passing[] = { -ECONNREFUSED, -ECONNRESET, -ETIMEDOUT };
        usec_t pause = PAUSE_USEC << MIN_OF(tries, 6u);

        if (tries + 1 >= REMOTE_TRIES)
                return 0;
        for (size_t i = 0; i < ELEMENTSOF(passing); i++)
                if (x->error == passing[i])
                        return pause;
        if (x->error < 0)
                return 0;
        if (x->status == 429 || x->status == 503)
                return x->retry_after > PAUSE_MAX_USEC ? 0 : MAX_OF(x->retry_after, pause);
        return x->status == 408 || (x->status >= 500 && x->status != 501) ? pause : 0;
}

int remote_start(Remote *r, Exchange *x, Error *reterr) {
        x->elsewhere = !outbound_same_origin(r->base, x->url);
        x->authorization = x->elsewhere ? NULL : r->authorization;
        x->login = r->login;
        return exchange_start(r->exchanges, x, reterr);
}

static int remote_ask_once(Remote *r, Exchange *x, Error *reterr) {
        int e = remote_start(r, x, reterr);

        if (e < 0)
                return e;
        while (!exchanges_wait(r->exchanges, USEC_PER_SEC)) /* until it ends or times out */
                ;
        return 0;
}

int remote_ask(Remote *r, Exchange *x, const char *what, bool may_miss, Error *reterr) {
        for (unsigned tries = 0;;) {
                usec_t pause;
                int e = remote_ask_once(r, x, reterr);

                if (e < 0)
                        return e;
                e = remote_login(r, x, reterr);
                if (e < 0)
                        return e;
                if (e > 0)
                        continue;
                if (x->error == 0 && (x->status < 400 || (may_miss && x->status == 404)))
                        return 0;
                pause = remote_retry_pause(x, tries++);
                if (pause == 0)
                        return remote_explain(r, x, what, reterr);
                (void) usleep((useconds_t) pause);
        }
}
