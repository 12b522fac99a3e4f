/* exchange-end.c: how exchanges end, and addresses. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "registry/exchange-internal.h"

static const struct {
        CURLcode rc;
        int code;
        const char *words; /* NULL: libcurl's own */
} ends[] = {
        { CURLE_COULDNT_RESOLVE_HOST,     -EHOSTUNREACH, NULL },
        { CURLE_COULDNT_RESOLVE_PROXY,    -EHOSTUNREACH, NULL },
        { CURLE_COULDNT_CONNECT,          -ECONNREFUSED, NULL },
        { CURLE_OPERATION_TIMEDOUT,       -ETIMEDOUT,    NULL },
        { CURLE_GOT_NOTHING,              -ECONNRESET,   NULL },
        { CURLE_SEND_ERROR,               -ECONNRESET,   NULL },
        { CURLE_RECV_ERROR,               -ECONNRESET,   NULL },
        { CURLE_PARTIAL_FILE,             -ECONNRESET,   NULL },
        { CURLE_HTTP2,                    -ECONNRESET,   NULL },
        { CURLE_HTTP2_STREAM,             -ECONNRESET,   NULL },
        { CURLE_PEER_FAILED_VERIFICATION, -EKEYREJECTED, NULL },
        { CURLE_SSL_CACERT_BADFILE,       -ENOENT,       "the certificates of authorities cannot be read: install ca-certificates, or name them with --ca" },
        { CURLE_SSL_CONNECT_ERROR,        -EPROTO,       NULL },
        { CURLE_TOO_MANY_REDIRECTS,       -ELOOP,        "it redirects without an end" },
        { CURLE_UNSUPPORTED_PROTOCOL,     -EPERM,        "it redirects to a place that is not reached by https" },
        { CURLE_URL_MALFORMAT,            -EINVAL,       NULL },
        { CURLE_OUT_OF_MEMORY,            -ENOMEM,       NULL },
};

void exchange_take_end(Exchange *x, CURLcode rc) {
        long status = 0;

        (void) curl_easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &status);
        x->status = (int) status;
        if (rc == CURLE_WRITE_ERROR && x->cut) { /* enough was read of it */
                x->error = 0;
                return;
        }
        if (rc == CURLE_OK || x->error < 0) /* who stopped it has said why */
                return;
        if (x->forbidden) { /* the same words, whoever listens there */
                x->error = -EPERM;
                (void) snprintf(x->words, sizeof(x->words), "it leads to this machine or to a link-local address, where it may not go");
                return;
        }
        x->error = -EPROTO;
        for (size_t i = 0; i < ELEMENTSOF(ends); i++)
                if (ends[i].rc == rc) {
                        x->error = ends[i].code;
                        if (ends[i].words)
                                (void) snprintf(x->words, sizeof(x->words), "%s", ends[i].words);
                }
        if (!x->words[0])
                (void) snprintf(x->words, sizeof(x->words), "%s", curl_easy_strerror(rc));
}

static char *part_of(CURLU *u, CURLUPart part) {
        char *text = NULL;

        return curl_url_get(u, part, &text, CURLU_DEFAULT_PORT) == CURLUE_OK ? text : NULL;
}

static bool same_part(CURLU *a, CURLU *b, CURLUPart part) {
        char *x = part_of(a, part), *y = part_of(b, part);
        bool same = x && y && strcasecmp(x, y) == 0;

        curl_free(x);
        curl_free(y);
        return same;
}

bool exchange_same_origin(const char *a, const char *b) {
        CURLU *x = curl_url(), *y = curl_url();
        bool same = x && y && curl_url_set(x, CURLUPART_URL, a, 0) == CURLUE_OK && curl_url_set(y, CURLUPART_URL, b, 0) == CURLUE_OK &&
                    same_part(x, y, CURLUPART_SCHEME) && same_part(x, y, CURLUPART_HOST) && same_part(x, y, CURLUPART_PORT);

        curl_url_cleanup(x);
        curl_url_cleanup(y);
        return same;
}

char *exchange_resolve(const char *base, const char *location) {
        CURLU *u = curl_url();
        char *whole = NULL, *copy = NULL;

        if (u && curl_url_set(u, CURLUPART_URL, base, 0) == CURLUE_OK && curl_url_set(u, CURLUPART_URL, location, 0) == CURLUE_OK &&
            curl_url_get(u, CURLUPART_URL, &whole, 0) == CURLUE_OK)
                copy = strdup(whole);
        curl_free(whole);
        curl_url_cleanup(u);
        return copy;
}

char *exchange_escape(const char *text) {
        char *escaped = curl_easy_escape(NULL, text, 0), *copy = escaped ? strdup(escaped) : NULL;

        curl_free(escaped);
        return copy;
}
