/* connect-head.c: reads the head of a call: method, codec, user, deadline. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/e2b/connect/connect-internal.h"
#include "base/parse.h"
#include "base/text.h"

#define TIMEOUT_MS_MAX   UINT64_C(9999999999) /* ten digits, as the protocol says */
#define PING_SECONDS     90
#define PING_SECONDS_MAX 3600
#define USER_TEXT_MAX    1024

static const struct {
        const char *name;
        bool stream, json;
} types[] = {
        { "application/json",          false, true  },
        { "application/proto",         false, false },
        { "application/connect+json",  true,  true  },
        { "application/connect+proto", true,  false },
};

static const ConnectMethod *find_method(const char *path) {
        for (const ConnectMethod *const *table = connect_tables; *table; table++)
                for (const ConnectMethod *m = *table; m->path; m++)
                        if (strcmp(m->path, path) == 0)
                                return m;
        return NULL;
}

/* Compares a media type without its parameters: a charset has no effect. */
static bool type_is(const char *given, const char *name) {
        size_t n = strlen(name);

        return given && strncasecmp(given, name, n) == 0 && (given[n] == '\0' || given[n] == ';' || given[n] == ' ');
}

static int connect_head_read_type(ConnectCall *c) {
        const char *given = http_header(c->q->http, "Content-Type");
        bool stream = c->method->kind != CONNECT_UNARY;
        static const char words[] = "{\"code\":\"unknown\",\"message\":\"the method does not accept this content type (see Accept-Post)\"}";

        for (size_t i = 0; i < ELEMENTSOF(types); i++)
                if (types[i].stream == stream && type_is(given, types[i].name)) {
                        c->json = types[i].json;
                        return 0;
                }
        (void) http_add_header(c->q->http, "Accept-Post",
                        stream ? "application/connect+json, application/connect+proto" : "application/json, application/proto");
        c->q->answered = true;
        (void) http_answer(c->q->http, 415, "application/json", words, sizeof(words) - 1);
        return -EINVAL;
}

/* Clients with other kinds of calls understand this as well, by the status alone. */
static int refuse_method(ConnectCall *c) {
        static const char words[] = "{\"code\":\"unimplemented\",\"message\":\"there is no such method\"}";

        c->q->answered = true;
        (void) http_answer(c->q->http, 404, "application/json", words, sizeof(words) - 1);
        return -ENOENT;
}

static int read_coding(ConnectCall *c) {
        const char *coding = http_header(c->q->http, c->method->kind == CONNECT_UNARY ? "Content-Encoding" : "Connect-Content-Encoding");

        if (!coding || !*coding || strcasecmp(coding, "identity") == 0)
                return 0;
        (void) connect_error(c, CONNECT_UNIMPLEMENTED, "unknown compression \"%.40s\": supported encodings are identity", coding);
        return -EOPNOTSUPP;
}

static int read_version(ConnectCall *c) {
        const char *version = http_header(c->q->http, "Connect-Protocol-Version");

        if (!version || strcmp(version, "1") == 0)
                return 0;
        (void) connect_error(c, CONNECT_INVALID_ARGUMENT, "connect-protocol-version must be \"1\": got \"%.40s\"", version);
        return -EINVAL;
}

static int read_deadline(ConnectCall *c) {
        const char *text = http_header(c->q->http, "Connect-Timeout-Ms");
        uint64_t ms;

        if (!text)
                return 0;
        if (parse_uint64(text, 0, TIMEOUT_MS_MAX, &ms) < 0) {
                (void) connect_error(c, CONNECT_INVALID_ARGUMENT, "Connect-Timeout-Ms '%.40s' is not a number of at most ten digits", text);
                return -EINVAL;
        }
        c->has_deadline = true;
        c->deadline_usec = MAX_OF(ms * USEC_PER_MSEC, USEC_PER_MSEC);
        return 0;
}

static void read_ping(ConnectCall *c) {
        const char *text = http_header(c->q->http, "Keepalive-Ping-Interval");
        uint64_t seconds;

        if (!text || parse_uint64(text, 1, PING_SECONDS_MAX, &seconds) < 0)
                seconds = PING_SECONDS;
        c->ping_usec = seconds * USEC_PER_SEC;
}

/* Reads the user from "Basic" and base64 of "user:password". The password is ignored. Anything else names no
 * user. */
static int connect_head_read_user(ConnectCall *c) {
        const char *text = http_header(c->q->http, "Authorization");
        uint8_t decoded[BASE64_ROOM(USER_TEXT_MAX)];
        const char *end;
        ssize_t n;

        if (!text || strncasecmp(text, "Basic ", strlen("Basic ")) != 0)
                return 0;
        text += strlen("Basic ");
        if (strlen(text) > USER_TEXT_MAX)
                return 0;
        n = base64_read(text, strlen(text), decoded);
        end = n > 0 ? memchr(decoded, ':', (size_t) n) : NULL;
        if (!end || memchr(decoded, '\0', (size_t) n))
                return 0;
        c->user = strndup((const char *) decoded, (size_t) (end - (const char *) decoded));
        return c->user ? 0 : -ENOMEM;
}

int connect_read_head(ConnectCall *c) {
        int r;

        c->method = find_method(http_path(c->q->http));
        if (!c->method)
                return refuse_method(c);
        r = connect_head_read_type(c);
        if (r >= 0)
                r = read_coding(c);
        if (r >= 0)
                r = read_version(c);
        if (r >= 0)
                r = read_deadline(c);
        if (r < 0)
                return r;
        read_ping(c);
        r = connect_head_read_user(c);
        if (r < 0)
                (void) connect_errno(c, r, NULL);
        return r;
}
