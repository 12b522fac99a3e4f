#include "api/e2b/envd/multipart.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/macro.h"

enum {
        STATE_BODY, /* of a part, or the text before the first part */
        STATE_DELIMITER,
        STATE_DASH,
        STATE_LINE_FEED,
        STATE_HEADERS,
        STATE_ENDED,
};

/* Finds a parameter of a header: ; name=value, ; name="value". In quotes, a backslash only escapes a quote
 * or a backslash: in a file name such as C:\x it is an ordinary character. 1: found, 0: not found. */
static int find_parameter(const char *text, const char *name, char *ret, size_t size) {
        const size_t length = strlen(name);
        const char *p = text;

        while ((p = strchr(p, ';'))) {
                bool ours, quoted;
                size_t n = 0;

                p += 1 + strspn(p + 1, " \t");
                ours = strncasecmp(p, name, length) == 0 && p[length + strspn(p + length, " \t")] == '=';
                p += strcspn(p, ";=");
                if (*p != '=')
                        continue;
                p += 1 + strspn(p + 1, " \t");
                quoted = *p == '"';
                p += quoted;
                while (*p && (quoted ? *p != '"' : !strchr("; \t", *p))) {
                        if (quoted && *p == '\\' && (p[1] == '"' || p[1] == '\\'))
                                p++;
                        if (ours && n + 1 >= size)
                                return -E2BIG;
                        if (ours)
                                ret[n++] = *p;
                        p++;
                }
                if (!ours)
                        continue;
                if (quoted && *p != '"')
                        return -EBADMSG;
                ret[n] = '\0';
                return 1;
        }
        return 0;
}

int multipart_init(Multipart *m, const char *content_type) {
        char boundary[MULTIPART_BOUNDARY_MAX + 1];

        if (find_parameter(content_type, "boundary", boundary, sizeof(boundary)) <= 0 || boundary[0] == '\0' || strpbrk(boundary, "\r\n"))
                return -EINVAL;
        m->delimiter_size = (size_t) snprintf(m->delimiter, sizeof(m->delimiter), "\r\n--%s", boundary);
        m->state = STATE_BODY;
        m->matched = m->imagined = 2;
        m->owed = m->owed_from = 0;
        m->in_part = false;
        m->line_size = 0;
        return 0;
}

/* In file names, browsers encode only quotes and line ends, in this way. */
static void unescape_filename(char *text) {
        static const struct {
                const char *code;
                char byte;
        } codes[] = { { "%22", '"' }, { "%0D", '\r' }, { "%0A", '\n' } };
        char *to = text;

        for (const char *p = text; *p;) {
                size_t i = 0;

                while (i < ELEMENTSOF(codes) && strncasecmp(p, codes[i].code, 3) != 0)
                        i++;
                *to++ = i < ELEMENTSOF(codes) ? codes[i].byte : *p;
                p += i < ELEMENTSOF(codes) ? 3 : 1;
        }
        *to = '\0';
}

static int take_header(Multipart *m) {
        static const char disposition[] = "Content-Disposition:";
        int r;

        m->line[m->line_size] = '\0';
        if (memchr(m->line, 0, m->line_size) || !strchr(m->line, ':') || ++m->n_lines > MULTIPART_LINES_MAX)
                return -EBADMSG;
        if (strncasecmp(m->line, disposition, sizeof(disposition) - 1) != 0)
                return 0;
        r = find_parameter(m->line, "name", m->name, sizeof(m->name));
        if (r < 0)
                return r;
        r = find_parameter(m->line, "filename", m->filename, sizeof(m->filename));
        if (r < 0)
                return r;
        m->has_filename = r > 0;
        if (m->has_filename)
                unescape_filename(m->filename);
        return 0;
}

/* Reads one header line. Returns 1 after the empty line that ends the headers. */
static int multipart_read_headers(Multipart *m, const char *data, size_t size, size_t *used) {
        while (*used < size) {
                char c = data[(*used)++];
                int r;

                if (c != '\n') {
                        if (m->line_size + 1 >= sizeof(m->line))
                                return -E2BIG;
                        m->line[m->line_size++] = c;
                        continue;
                }
                if (m->line_size == 0 || m->line[m->line_size - 1] != '\r')
                        return -EBADMSG;
                m->line_size--;
                if (m->line_size == 0)
                        return 1;
                r = take_header(m);
                if (r < 0)
                        return r;
                m->line_size = 0;
        }
        return 0;
}

static void begin_headers(Multipart *m) {
        m->state = STATE_HEADERS;
        m->line_size = 0;
        m->n_lines = 0;
        m->name[0] = m->filename[0] = '\0';
        m->has_filename = false;
}

static int multipart_begin_part(Multipart *m) {
        m->state = STATE_BODY;
        m->in_part = true;
        m->matched = m->imagined = 2; /* the line end after the headers may begin a delimiter */
        return MULTIPART_PART;
}

/* Gives back bytes that looked like a delimiter. A delimiter begins with a CR and has no other, so no part
 * of them can begin another one. */
static void give_back(Multipart *m) {
        if (m->in_part) {
                m->owed_from = m->imagined;
                m->owed = m->matched - m->imagined;
        }
        m->matched = m->imagined = 0;
}

static int multipart_read_body(Multipart *m, const char *data, size_t size, size_t *used, MultipartPiece *piece) {
        while (*used < size || m->owed > 0) {
                if (m->owed > 0) {
                        *piece = (MultipartPiece) { m->delimiter + m->owed_from, m->owed };
                        return MULTIPART_DATA;
                }
                if (m->matched > 0 || data[*used] == '\r') {
                        if (data[*used] != m->delimiter[m->matched]) {
                                give_back(m);
                                continue;
                        }
                        (*used)++;
                        if (++m->matched < m->delimiter_size)
                                continue;
                        m->matched = m->imagined = 0;
                        m->state = STATE_DELIMITER;
                        if (!m->in_part)
                                return MULTIPART_MORE;
                        m->in_part = false;
                        return MULTIPART_PART_END;
                }
                *piece = (MultipartPiece) { .data = data + *used };
                piece->size = size - *used;
                if (memchr(piece->data, '\r', piece->size))
                        piece->size = (size_t) ((const char *) memchr(piece->data, '\r', piece->size) - piece->data);
                if (m->in_part)
                        return MULTIPART_DATA;
                *used += piece->size;
        }
        return MULTIPART_MORE;
}

/* After a delimiter: "--", or the end of the line. */
static int read_delimiter_end(Multipart *m, char c) {
        if (m->state == STATE_DASH) {
                m->state = STATE_ENDED;
                return c == '-' ? 0 : -EBADMSG;
        }
        if (m->state == STATE_LINE_FEED) {
                begin_headers(m);
                return c == '\n' ? 0 : -EBADMSG;
        }
        if (c == '-')
                m->state = STATE_DASH;
        else if (c == '\r')
                m->state = STATE_LINE_FEED;
        else if (c != ' ' && c != '\t')
                return -EBADMSG;
        return 0;
}

int multipart_next(Multipart *m, const char *data, size_t size, size_t *ret_used, MultipartPiece *ret_piece) {
        size_t used = 0;
        int r = MULTIPART_MORE;

        *ret_piece = (MultipartPiece) { 0 };
        while (r == MULTIPART_MORE && (used < size || m->owed > 0 || m->state == STATE_ENDED)) {
                if (m->state == STATE_ENDED)
                        r = MULTIPART_END;
                else if (m->state == STATE_BODY)
                        r = multipart_read_body(m, data, size, &used, ret_piece);
                else if (m->state == STATE_HEADERS) {
                        r = multipart_read_headers(m, data, size, &used);
                        if (r > 0)
                                r = multipart_begin_part(m);
                } else
                        r = read_delimiter_end(m, data[used++]);
        }
        *ret_used = used;
        return r;
}

size_t multipart_took(Multipart *m, size_t size) {
        size_t owed = MIN_OF(m->owed, size);

        if (m->owed == 0)
                return size;
        m->owed -= owed;
        m->owed_from += owed;
        return 0;
}
