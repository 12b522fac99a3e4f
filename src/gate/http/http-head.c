#include "gate/http/http-head.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/macro.h"

#define SNIFF_MAX 4096 /* a first line that is longer, and clean so far, counts as HTTP; the strict parser decides later */

static bool is_token_byte(uint8_t c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c != 0 && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_value_byte(uint8_t c) {
        return c == '\t' || (c >= ' ' && c != 0x7f);
}

static bool is_target_byte(uint8_t c) {
        return c > ' ' && c < 0x7f && c != '#' && c != '\\';
}

bool http_is_token(const char *text) {
        if (!*text)
                return false;
        for (; *text; text++)
                if (!is_token_byte((uint8_t) *text))
                        return false;
        return true;
}

void http_head_done(HttpHead *h) {
        if (!h)
                return;
        free(h->text);
        *h = (HttpHead) { 0 };
}

const char *http_head_field(const HttpHead *h, const char *name) {
        for (size_t i = 0; i < h->n_fields; i++)
                if (strcasecmp(h->fields[i].name, name) == 0)
                        return h->fields[i].value;
        return NULL;
}

size_t http_head_count(const HttpHead *h, const char *name) {
        size_t n = 0;

        for (size_t i = 0; i < h->n_fields; i++)
                n += strcasecmp(h->fields[i].name, name) == 0;
        return n;
}

bool http_list_has_word(const char *list, const char *word) {
        size_t want = strlen(word);

        for (const char *p = list; *p;) {
                size_t n;

                p += strspn(p, ", \t");
                n = strcspn(p, ",");
                while (n > 0 && (p[n - 1] == ' ' || p[n - 1] == '\t'))
                        n--;
                if (n == want && strncasecmp(p, word, n) == 0)
                        return true;
                p += strcspn(p, ",");
        }
        return false;
}

bool http_head_has_word(const HttpHead *h, const char *name, const char *word) {
        for (size_t i = 0; i < h->n_fields; i++)
                if (strcasecmp(h->fields[i].name, name) == 0 && http_list_has_word(h->fields[i].value, word))
                        return true;
        return false;
}

/* Finds the empty line, and rejects lines that do not end in CRLF. Returns 1 and the size of the head. */
static int head_find_end(const uint8_t *data, size_t size, size_t *scanned, size_t *ret) {
        size_t at = *scanned; /* always the beginning of a line */

        for (;;) {
                const uint8_t *end = at < size ? memchr(data + at, '\n', MIN_OF(size, (size_t) HEAD_MAX) - at) : NULL;
                size_t next;

                if (!end)
                        break;
                next = (size_t) (end - data) + 1;
                if (next - at < 2 || end[-1] != '\r')
                        return -EBADMSG;
                if (next - at == 2) {
                        *ret = next;
                        return at == 0 ? -EBADMSG : 1;
                }
                at = next;
                if (at >= HEAD_MAX)
                        break;
        }
        *scanned = at;
        return size >= HEAD_MAX ? -EMSGSIZE : 0;
}

int http_field_read(char *line, size_t size, HttpField *ret) {
        char *colon = memchr(line, ':', size), *value, *end = line + size;

        if (!colon)
                return -EBADMSG;
        for (value = colon + 1; value < end; value++)
                if (!is_value_byte((uint8_t) *value))
                        return -EBADMSG;
        *colon = '\0';
        if (strlen(line) != (size_t) (colon - line) || !http_is_token(line))
                return -EBADMSG;
        for (value = colon + 1; value < end && (*value == ' ' || *value == '\t');)
                value++;
        while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
                end--;
        *end = '\0';
        *ret = (HttpField) { .name = line, .value = value };
        return 0;
}

/* "HTTP/1.0" or "HTTP/1.1"; HTTP/1 has no other. */
static int head_read_version(const char *text, unsigned *ret) {
        if (strncmp(text, "HTTP/1.", 7) != 0 || (text[7] != '0' && text[7] != '1') || text[8] != '\0')
                return -EBADMSG;
        *ret = (unsigned) (text[7] - '0');
        return 0;
}

static int head_read_request_line(char *line, HttpHead *h) {
        char *target = strchr(line, ' '), *version = target ? strchr(target + 1, ' ') : NULL;

        if (!version)
                return -EBADMSG;
        *target++ = '\0';
        *version++ = '\0';
        if (!http_is_token(line) || strlen(line) > HEAD_METHOD_MAX || !*target)
                return -EBADMSG;
        for (const char *p = target; *p; p++)
                if (!is_target_byte((uint8_t) *p))
                        return -EBADMSG;
        h->method = line;
        h->target = target;
        return head_read_version(version, &h->minor);
}

static int head_read_status_line(char *line, HttpHead *h) {
        char *status = strchr(line, ' ');

        if (!status)
                return -EBADMSG;
        *status++ = '\0';
        if (strspn(status, "0123456789") != 3 || (status[3] != ' ' && status[3] != '\0') || status[0] < '1' || status[0] > '5')
                return -EBADMSG;
        h->status = (unsigned) (status[0] - '0') * 100 + (unsigned) (status[1] - '0') * 10 + (unsigned) (status[2] - '0');
        h->phrase = status[3] ? status + 4 : "";
        for (const char *p = h->phrase; *p; p++)
                if (!is_value_byte((uint8_t) *p))
                        return -EBADMSG;
        return head_read_version(line, &h->minor);
}

/* Cuts the text into its first line and fields. */
static int head_cut(HttpHead *h, int (*read_first)(char *line, HttpHead *h)) {
        char *end = h->text + h->size - 2;
        bool first = true;
        int r;

        for (char *line = h->text; line < end; first = false) {
                char *next = memchr(line, '\n', (size_t) (end - line));
                size_t n = (size_t) (next - line) - 1;

                line[n] = '\0';
                if (memchr(line, '\r', n) || strlen(line) != n)
                        return -EBADMSG;
                if (first)
                        r = read_first(line, h);
                else if (h->n_fields == HEAD_FIELDS_MAX)
                        return -EMSGSIZE;
                else
                        r = http_field_read(line, n, &h->fields[h->n_fields++]);
                if (r < 0)
                        return r;
                line = next + 1;
        }
        return 0;
}

static int head_read_length(HttpHead *h) {
        for (size_t i = 0; i < h->n_fields; i++) {
                const char *value = h->fields[i].value;
                size_t n = strlen(value);
                uint64_t length = 0;

                if (strcasecmp(h->fields[i].name, "Content-Length") != 0)
                        continue;
                if (n == 0 || n > 18 || strspn(value, "0123456789") != n)
                        return -EBADMSG;
                for (size_t k = 0; k < n; k++)
                        length = length * 10 + (uint64_t) (value[k] - '0');
                if (h->has_length && length != h->length)
                        return -EBADMSG;
                h->length = length;
                h->has_length = true;
        }
        return 0;
}

/* For requests and responses: the only transfer coding is chunked, and not together with a length. */
static int head_read_framing(HttpHead *h) {
        const char *coding = http_head_field(h, "Transfer-Encoding");
        int r = head_read_length(h);

        if (r < 0)
                return r;
        h->persistent = h->minor >= 1 ? !http_head_has_word(h, "Connection", "close") : http_head_has_word(h, "Connection", "keep-alive");
        h->framing = h->has_length && h->length > 0 ? FRAMING_LENGTH : FRAMING_NONE;
        if (!coding)
                return 0;
        if (h->has_length || h->minor == 0 || http_head_count(h, "Transfer-Encoding") != 1 || strcasecmp(coding, "chunked") != 0)
                return -EBADMSG;
        h->framing = FRAMING_CHUNKED;
        return 0;
}

static int head_read(const uint8_t *data, size_t size, size_t *scanned, int (*read_first)(char *line, HttpHead *h), HttpHead *ret) {
        HttpHead h = { 0 };
        int r;

        assert(data || size == 0);
        assert(scanned);
        assert(ret);

        r = head_find_end(data, size, scanned, &h.size);
        if (r <= 0)
                return r;
        h.text = malloc(h.size);
        if (!h.text)
                return -ENOMEM;
        memcpy(h.text, data, h.size);
        r = head_cut(&h, read_first);
        if (r >= 0)
                r = head_read_framing(&h);
        if (r < 0) {
                http_head_done(&h);
                return r;
        }
        *ret = h;
        return 1;
}

int http_head_read_request(const uint8_t *data, size_t size, size_t *scanned, HttpHead *ret) {
        int r = head_read(data, size, scanned, head_read_request_line, ret);

        if (r <= 0)
                return r;
        if (http_head_count(ret, "Host") > 1) {
                http_head_done(ret);
                return -EBADMSG;
        }
        return 1;
}

int http_head_read_response(const uint8_t *data, size_t size, size_t *scanned, bool bodyless, HttpHead *ret) {
        int r = head_read(data, size, scanned, head_read_status_line, ret);

        if (r <= 0)
                return r;
        if (bodyless || ret->status < 200 || ret->status == 204 || ret->status == 304)
                ret->framing = FRAMING_NONE;
        else if (ret->framing == FRAMING_NONE && !ret->has_length) {
                ret->framing = FRAMING_CLOSE;
                ret->persistent = false;
        }
        return 1;
}

static bool http_head_is_blank(uint8_t c) {
        return c == ' ' || c == '\t';
}

/* GET "/path" without a version: a request from before there were versions, which some servers still answer. */
static bool is_ancient(const uint8_t *data, size_t size, const uint8_t *method, size_t n_method) {
        return size > 0 && data[0] == '/' && n_method == 3 && memcmp(method, "GET", 3) == 0;
}

/* Servers tolerate odd bytes around these words. So does the sniffer; the strict parser refuses them. */
static bool has_version(const uint8_t *data, size_t size) {
        const uint8_t *found = memmem(data, size, "HTTP/", 5);

        return found && found > data && http_head_is_blank(found[-1]);
}

/* Checks the rest of a first line, as far as it has arrived: a target, then the version. */
static int sniff_target(const uint8_t *data, size_t size, const uint8_t *method, size_t n_method) {
        const uint8_t *end = memchr(data, '\n', size);
        size_t n = end ? (size_t) (end - data) : size;

        if (!end) {
                for (size_t i = 0; i < n; i++)
                        if (data[i] != '\r' && !is_value_byte(data[i]))
                                return -EBADMSG;
                return size >= SNIFF_MAX ? 1 : 0;
        }
        if (!has_version(data, n) && !is_ancient(data, n, method, n_method))
                return -EBADMSG;
        return n >= 10 && memcmp(data, "* HTTP/2.0", 10) == 0 ? -EPROTO : 1;
}

int http_sniff(const uint8_t *data, size_t size) {
        size_t begin = 0, n = 0;

        assert(data || size == 0);

        while (begin < size && (http_head_is_blank(data[begin]) || data[begin] == '\r' || data[begin] == '\n'))
                begin++;
        data += begin;
        size -= begin;
        while (n < size && n <= HEAD_METHOD_MAX && is_token_byte(data[n]))
                n++;
        if (n > HEAD_METHOD_MAX)
                return -EBADMSG;
        if (n == size)
                return 0;
        if (n == 0 || !http_head_is_blank(data[n]))
                return -EBADMSG;
        for (begin = n; begin < size && http_head_is_blank(data[begin]);)
                begin++;
        return sniff_target(data + begin, size - begin, data, n);
}
