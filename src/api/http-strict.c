/* http-strict.c: refuses requests that two parsers could read differently.
 *
 * MHD before 1.0 is lenient whatever its options are: it accepts a bare LF as the end of a line, joins folded
 * lines, ends a line at a NUL, and skips blanks in the first line. However, it leaves traces. It splits a
 * head in place, in one piece of memory: the bytes that end a part (a blank, a colon, CR, LF) become NUL, and
 * all others stay where they were. So a head is correct if each part begins where the one before it ends:
 *
 *      GET 0 /path 0 HTTP/1.1 00 Host 0 ␣x 00 Accept 0 ␣a 00 00
 *
 * Input that leaves the same traces cannot be distinguished: NUL LF looks like CR LF; LF NUL CR LF looks like
 * the end of a head, and so does a line that is only a colon and ends with a bare LF. None of the proxies
 * tested passes these on. To see the raw bytes, every connection would have to go through a pair of sockets,
 * as TLS connections do. Newer versions of MHD are configured with MHD_OPTION_CLIENT_DISCIPLINE_LVL (http.c).
 * They lay out the parts differently, and are not checked in this way. */

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "api/http-internal.h"
#include "base/parse.h"
#include "gate/http/http-head.h"

#define LENIENT_BEFORE "1.0"

static const char *const not_twice[] = { MHD_HTTP_HEADER_HOST, MHD_HTTP_HEADER_CONTENT_LENGTH, MHD_HTTP_HEADER_TRANSFER_ENCODING };

typedef struct StrictHead {
        const char *next; /* where the next line must begin; NULL: places are not looked at */
        unsigned n[ELEMENTSOF(not_twice)];
        bool bad;
} StrictHead;

static bool strict_is_text(const char *text, unsigned char from) {
        for (const unsigned char *c = (const unsigned char *) text; *c; c++)
                if ((*c < from && *c != '\t') || *c == 0x7f)
                        return false;
        return true;
}

/* Called before MHD splits the query. It only records properties of the target. Its result becomes the
 * context of the request, which must begin as NULL. */
void *http_strict_on_target(void *cls, const char *target, struct MHD_Connection *mhd) {
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
        HttpConnection *c = info ? info->socket_context : NULL;

        if (!c)
                return NULL;
        c->target_size = target ? strlen(target) : 0;
        c->target_bad = !target || target[0] != '/' || !strict_is_text(target, '!') || strpbrk(target, "\t#\\");
        return NULL;
}

/* MHD may leave blanks at the end of a value; they have no meaning. */
static bool strict_is_host(const char *value) {
        size_t n = strcspn(value, " \t/\\@?#,");

        return n < 256 && value[n + strspn(value + n, " \t")] == '\0';
}

/* Only blanks may stand between the colon, at the end of the name, and the value. */
static bool strict_is_in_place(StrictHead *h, const char *name, const char *value) {
        const char *p = name + strlen(name) + 1;

        if (!h->next)
                return true;
        if (name != h->next || value < p)
                return false;
        p += strspn(p, " \t");
        h->next = value + strlen(value) + 2;
        return p == value && h->next[-1] == '\0';
}

static enum MHD_Result strict_field(void *cls, enum MHD_ValueKind kind, const char *name, const char *value) {
        StrictHead *h = cls;

        if (!value)
                value = name + strlen(name);
        if (!http_is_token(name) || !strict_is_text(value, ' ') || !strict_is_in_place(h, name, value))
                h->bad = true;
        for (size_t i = 0; i < ELEMENTSOF(not_twice); i++)
                if (strcasecmp(name, not_twice[i]) == 0 && ++h->n[i] > 1)
                        h->bad = true;
        if (strcasecmp(name, MHD_HTTP_HEADER_HOST) == 0 && !strict_is_host(value))
                h->bad = true;
        return h->bad ? MHD_NO : MHD_YES;
}

static bool first_line_is_strict(const HttpRequest *r, const char *version) {
        const char *target = r->method + strlen(r->method) + 1;

        return r->path == target && version == target + r->connection->target_size + 1;
}

bool http_strict_head(const HttpRequest *r, const char *version) {
        const union MHD_ConnectionInfo *info =
                        MHD_get_connection_info(r->connection->mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
        bool lenient = strverscmp(MHD_get_version(), LENIENT_BEFORE) < 0;
        StrictHead h = { .next = lenient ? version + strlen(version) + 2 : NULL };

        if (r->connection->target_bad || !http_is_token(r->method) || !info)
                return false;
        if (strcmp(version, MHD_HTTP_VERSION_1_1) != 0 && strcmp(version, MHD_HTTP_VERSION_1_0) != 0)
                return false;
        if (lenient && !first_line_is_strict(r, version))
                return false;
        (void) MHD_get_connection_values(r->connection->mhd, MHD_HEADER_KIND, strict_field, &h);
        if (h.bad)
                return false;
        return !lenient || ((size_t) (h.next + 2 - r->method) == info->header_size && h.next[0] == '\0' && h.next[1] == '\0');
}

/* Determines the length of the body, which may be given only once. */
int http_strict_length(HttpRequest *r) {
        const char *coding = http_header(r, MHD_HTTP_HEADER_TRANSFER_ENCODING);
        const char *length = http_header(r, MHD_HTTP_HEADER_CONTENT_LENGTH);

        if (coding && (length || !r->is_1_1))
                return -EINVAL;
        if (length)
                return parse_uint64(length, 0, UINT64_MAX - 1, &r->length) < 0 ? -EINVAL : 0;
        if (!coding)
                return 0;
        r->length = UINT64_MAX;
        return strcasecmp(coding, "chunked") == 0 ? 0 : -EOPNOTSUPP;
}
