#include "client/http/http.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"

void http_reader_init(HttpReader *h, bool bodyless, HttpBody body, void *userdata) {
        *h = (HttpReader) { .bodyless = bodyless, .body = body, .userdata = userdata };
}

void http_reader_done(HttpReader *h) {
        free(h->head);
        h->head = NULL;
        h->n_headers = 0;
}

static bool client_http_is_token(char c) {
        static const char others[] = "!#$%&'*+-.^_`|~";

        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c && strchr(others, c));
}

/* "Name: value": a name of the right letters, no folding, no control characters in the value. */
static bool is_header(const char *line) {
        const char *p = line;

        while (client_http_is_token(*p))
                p++;
        if (p == line || *p != ':')
                return false;
        for (p++; *p; p++)
                if (((unsigned char) *p < 0x20 && *p != '\t') || *p == 0x7f)
                        return false;
        return true;
}

const char *http_reader_header(const HttpReader *h, const char *name) {
        size_t n = strlen(name);

        for (size_t i = 0; i < h->n_headers; i++)
                if (strncasecmp(h->headers[i], name, n) == 0 && h->headers[i][n] == ':')
                        return h->headers[i] + n + 1 + strspn(h->headers[i] + n + 1, " \t");
        return NULL;
}

static void trim_end(char *text) {
        size_t n = strlen(text);

        while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t'))
                text[--n] = '\0';
}

/* Ends the line with NUL; returns what follows it, NULL when it is no line. */
static char *cut_line(char *line, char *end) {
        char *newline = memchr(line, '\n', (size_t) (end - line));

        if (!newline || newline == line || newline[-1] != '\r' || memchr(line, '\0', (size_t) (newline - line)))
                return NULL;
        newline[-1] = '\0';
        return newline + 1;
}

static int read_status_line(HttpReader *h, const char *line) {
        if (strncmp(line, "HTTP/1.", 7) != 0 || (line[7] != '0' && line[7] != '1') || line[8] != ' ')
                return -EBADMSG;
        h->status = 0;
        for (int i = 9; i < 12; i++) {
                if (line[i] < '0' || line[i] > '9')
                        return -EBADMSG;
                h->status = h->status * 10 + (unsigned) (line[i] - '0');
        }
        return h->status >= 100 && (line[12] == ' ' || line[12] == '\0') ? 0 : -EBADMSG;
}

static int client_http_read_headers(HttpReader *h, char *line, char *end) {
        while (line < end) {
                char *next = cut_line(line, end);

                if (!next)
                        return -EBADMSG;
                if (*line == '\0')
                        return 0;
                if (!is_header(line) || h->n_headers == HTTP_HEADERS_MAX)
                        return -EBADMSG;
                trim_end(line);
                h->headers[h->n_headers++] = line;
                line = next;
        }
        return -EBADMSG;
}

static int client_http_read_length(const HttpReader *h, const char *first, uint64_t *ret) {
        for (size_t i = 0; i < h->n_headers; i++)
                if (strncasecmp(h->headers[i], "content-length:", 15) == 0) {
                        const char *value = h->headers[i] + 15 + strspn(h->headers[i] + 15, " \t");

                        if (strcmp(value, first) != 0) /* said twice, and not the same */
                                return -EBADMSG;
                }
        return parse_uint64(first, 0, INT64_MAX, ret) < 0 ? -EBADMSG : 0;
}

/* How the body is framed, out of the headers. */
static int choose_framing(HttpReader *h) {
        const char *coding = http_reader_header(h, "Transfer-Encoding"), *length = http_reader_header(h, "Content-Length");
        int r = 0;

        if (coding && (length || strcasecmp(coding, "chunked") != 0))
                return -EBADMSG;
        if (length)
                r = client_http_read_length(h, length, &h->left);
        if (r < 0)
                return r;

        if (h->bodyless || h->status == 101 || h->status == 204 || h->status == 304)
                h->state = HTTP_OVER;
        else if (coding)
                h->state = HTTP_CHUNK_HEAD;
        else if (length)
                h->state = h->left > 0 ? HTTP_COUNTED : HTTP_OVER;
        else
                h->state = HTTP_TO_END;
        return 0;
}

static int finish_head(HttpReader *h) {
        char *end = h->head + h->head_size, *headers = cut_line(h->head, end);
        int r;

        if (!headers)
                return -EBADMSG;
        r = read_status_line(h, h->head);
        if (r < 0)
                return r;
        h->n_headers = 0;
        r = client_http_read_headers(h, headers, end);
        if (r < 0)
                return r;
        if (h->status < 200 && h->status != 101) { /* "100 Continue" and its like: the answer is still to come */
                h->n_headers = h->head_size = 0;
                return 0;
        }
        return choose_framing(h);
}

static bool head_is_whole(const HttpReader *h) {
        return h->head_size >= 4 && memcmp(h->head + h->head_size - 4, "\r\n\r\n", 4) == 0;
}

static ssize_t feed_head(HttpReader *h, const char *data, size_t size) {
        size_t used = 0;

        if (!h->head) {
                h->head = malloc(HTTP_HEAD_MAX);
                if (!h->head)
                        return -ENOMEM;
        }
        while (used < size && !head_is_whole(h)) {
                if (h->head_size == HTTP_HEAD_MAX)
                        return -EBADMSG;
                h->head[h->head_size++] = data[used++];
        }
        if (head_is_whole(h)) {
                int r = finish_head(h);
                if (r < 0)
                        return r;
        }
        return (ssize_t) used;
}

/* A line of the framing. Returns the bytes used; *ret is NULL while the line is not whole. */
static ssize_t feed_line(HttpReader *h, const char *data, size_t size, const char **ret) {
        size_t used = 0;

        *ret = NULL;
        while (used < size) {
                char c = data[used++];

                if (c == '\n') {
                        if (h->line_size == 0 || h->line[h->line_size - 1] != '\r')
                                return -EBADMSG;
                        h->line[h->line_size - 1] = '\0';
                        h->line_size = 0;
                        *ret = h->line;
                        break;
                }
                if (c == '\0' || h->line_size == sizeof(h->line) - 1)
                        return -EBADMSG;
                h->line[h->line_size++] = c;
        }
        return (ssize_t) used;
}

/* "1f40", or "1f40;extension". */
static int read_chunk_head(HttpReader *h, const char *line) {
        uint64_t n = 0;
        size_t i = 0;

        for (; hex_digit(line[i]) >= 0; i++) {
                if (i == 15) /* beyond 2^60 */
                        return -EBADMSG;
                n = n * 16 + (uint64_t) hex_digit(line[i]);
        }
        if (i == 0 || (line[i] && line[i] != ';' && line[i] != ' ' && line[i] != '\t'))
                return -EBADMSG;
        h->left = n;
        h->state = n > 0 ? HTTP_CHUNK_DATA : HTTP_TRAILER;
        return 0;
}

static int read_framing_line(HttpReader *h, const char *line) {
        switch (h->state) {
        case HTTP_CHUNK_HEAD: return read_chunk_head(h, line);
        case HTTP_CHUNK_END:
                h->state = HTTP_CHUNK_HEAD;
                return *line ? -EBADMSG : 0;
        default: /* trailers say nothing that we ask for */
                if (*line)
                        return is_header(line) ? 0 : -EBADMSG;
                h->state = HTTP_OVER;
                return 0;
        }
}

static ssize_t feed_framing(HttpReader *h, const char *data, size_t size) {
        const char *line;
        ssize_t n = feed_line(h, data, size, &line);

        if (n >= 0 && line) {
                int r = read_framing_line(h, line);
                if (r < 0)
                        return r;
        }
        return n;
}

static ssize_t feed_body(HttpReader *h, const char *data, size_t size) {
        int r;

        if (h->state != HTTP_TO_END)
                size = (size_t) MIN_OF((uint64_t) size, h->left);
        r = h->body ? h->body(h->userdata, data, size) : 0;
        if (r < 0)
                return r;
        h->body_bytes += size;
        if (h->state == HTTP_TO_END)
                return (ssize_t) size;
        h->left -= size;
        if (h->left == 0)
                h->state = h->state == HTTP_CHUNK_DATA ? HTTP_CHUNK_END : HTTP_OVER;
        return (ssize_t) size;
}

static ssize_t feed_once(HttpReader *h, const char *data, size_t size) {
        switch (h->state) {
        case HTTP_HEAD: return feed_head(h, data, size);
        case HTTP_COUNTED:
        case HTTP_TO_END:
        case HTTP_CHUNK_DATA: return feed_body(h, data, size);
        default: return feed_framing(h, data, size);
        }
}

ssize_t http_reader_feed(HttpReader *h, const void *data, size_t size) {
        size_t used = 0;

        while (used < size && h->state != HTTP_OVER) {
                ssize_t n = feed_once(h, (const char *) data + used, size - used);
                if (n < 0)
                        return n;
                used += (size_t) n;
        }
        return (ssize_t) used;
}

int http_reader_end(HttpReader *h) {
        if (h->state == HTTP_TO_END)
                h->state = HTTP_OVER;
        return h->state == HTTP_OVER ? 0 : -ECONNRESET;
}
