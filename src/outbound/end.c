/* end.c: the result of a request, as an errno and a text. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "outbound/internal.h"

#define RETRY_AFTER_MAX (24 * 3600)

static const struct {
        CURLcode rc;
        int code;
        const char *words; /* NULL: libcurl's own */
} ends[] = {
        { CURLE_COULDNT_RESOLVE_HOST,     -EHOSTUNREACH,    NULL },
        { CURLE_COULDNT_RESOLVE_PROXY,    -EHOSTUNREACH,    NULL },
        { CURLE_COULDNT_CONNECT,          -ECONNREFUSED,    NULL },
        { CURLE_OPERATION_TIMEDOUT,       -ETIMEDOUT,       NULL },
        { CURLE_GOT_NOTHING,              -ECONNRESET,      NULL },
        { CURLE_SEND_ERROR,               -ECONNRESET,      NULL },
        { CURLE_RECV_ERROR,               -ECONNRESET,      NULL },
        { CURLE_PARTIAL_FILE,             -ECONNRESET,      NULL },
        { CURLE_HTTP2,                    -ECONNRESET,      NULL },
        { CURLE_HTTP2_STREAM,             -ECONNRESET,      NULL },
        { CURLE_PEER_FAILED_VERIFICATION, -EKEYREJECTED,    NULL },
        { CURLE_USE_SSL_FAILED,           -EPROTONOSUPPORT, "the mail server offers no STARTTLS, which is required: nothing was sent" },
        { CURLE_LOGIN_DENIED,             -EACCES,          NULL },
        { CURLE_OUT_OF_MEMORY,            -ENOMEM,          NULL },
        { CURLE_ABORTED_BY_CALLBACK,      -EIO,             NULL },
        { CURLE_URL_MALFORMAT,            -EINVAL,          NULL },
        { CURLE_SSL_CACERT_BADFILE,       -ENOENT,          "the certificates of authorities cannot be read: install ca-certificates, or name a file that exists" },
};

static int code_of(const OutboundRequest *q, CURLcode rc, const char **ret_words) {
        long os_errno = 0;

        *ret_words = q->words[0] ? q->words : curl_easy_strerror(rc);
        if (q->error < 0)
                return q->error;
        if (q->forbidden) {
                *ret_words = request_forbidden_words(q);
                return -EPERM;
        }
        if (rc == CURLE_COULDNT_CONNECT && curl_easy_getinfo(q->easy, CURLINFO_OS_ERRNO, &os_errno) == CURLE_OK && os_errno > 0)
                return -(int) os_errno;
        for (size_t i = 0; i < ELEMENTSOF(ends); i++)
                if (ends[i].rc == rc) {
                        if (ends[i].words)
                                *ret_words = ends[i].words;
                        return ends[i].code;
                }
        return -EPROTO;
}

void request_result(OutboundRequest *q, CURLcode rc, OutboundResult *ret) {
        curl_off_t retry_after = 0;
        const char *words;
        long status = 0;

        if (rc == CURLE_WRITE_ERROR && q->cut)
                rc = CURLE_OK;
        *ret = (OutboundResult) { 0 };
        if (rc != CURLE_OK || q->error < 0) {
                ret->error = code_of(q, rc, &words);
                ret->final = q->forbidden || (q->error < 0 && q->error != -ETIMEDOUT);
                (void) snprintf(ret->text, sizeof(ret->text), "%s", words);
        }
        (void) curl_easy_getinfo(q->easy, CURLINFO_RESPONSE_CODE, &status);
        (void) curl_easy_getinfo(q->easy, CURLINFO_RETRY_AFTER, &retry_after);
        if (q->mail ? ret->error < 0 && status >= 400 : ret->error == 0)
                ret->status = (unsigned) status; /* after a successful mail, the last status has no meaning */
        if (q->mail && ret->status > 0 && ret->error == -ECONNRESET)
                ret->error = -EPROTO; /* the server has replied with a refusal before it closed */
        if (retry_after > 0)
                ret->retry_after_usec = (usec_t) MIN_OF(retry_after, (curl_off_t) RETRY_AFTER_MAX) * USEC_PER_SEC;
        if (q->answer)
                q->answer[q->answer_size] = 0;
        ret->body = q->answer ? q->answer : "";
        ret->size = q->answer_size;
}
