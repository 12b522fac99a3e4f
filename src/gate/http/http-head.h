/* http-head.h: heads of HTTP/1 requests and responses, and the framing of their bodies.
 *
 * Strict: anything that two parsers could read in two ways is refused (-EBADMSG): a bare CR or LF, a folded
 * line, a space before the colon, Content-Length beside Transfer-Encoding or twice with different numbers, a
 * coding other than chunked, two Hosts. Bounded: HEAD_MAX bytes, HEAD_FIELDS_MAX fields.
 * Must not know: sockets, policy, what a field means beyond framing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define HEAD_MAX        65536
#define HEAD_FIELDS_MAX 256
#define HEAD_METHOD_MAX 32

typedef enum HttpFraming {
        FRAMING_NONE,     /* no body */
        FRAMING_LENGTH,
        FRAMING_CHUNKED,
        FRAMING_CLOSE,    /* until the connection ends; responses only */
} HttpFraming;

typedef struct HttpField {
        const char *name, *value; /* value without spaces around it */
} HttpField;

typedef struct HttpHead {
        char *text;          /* all strings below point into it */
        size_t size;         /* of the head as received, with its empty line */
        unsigned minor;      /* HTTP/1.minor: 0 or 1 */
        const char *method, *target; /* of a request */
        unsigned status;     /* of a response */
        const char *phrase;
        HttpField fields[HEAD_FIELDS_MAX];
        size_t n_fields;
        HttpFraming framing;
        uint64_t length;     /* FRAMING_LENGTH; for a response without a body (HEAD, 304): its Content-Length */
        bool has_length;
        bool persistent;     /* the sender wants to keep the connection open */
} HttpHead;

void http_head_done(HttpHead *h);

/* 1: the head is complete. 0: more bytes are needed. -EBADMSG. -EMSGSIZE: larger than HEAD_MAX. scanned: how
 * far earlier calls with the same bytes have looked; 0 at first. */
int http_head_read_request(const uint8_t *data, size_t size, size_t *scanned, HttpHead *ret);
/* bodyless: the response answers a HEAD. */
int http_head_read_response(const uint8_t *data, size_t size, size_t *scanned, bool bodyless, HttpHead *ret);

/* A field's value by its name, in any case. NULL: absent. */
const char *http_head_field(const HttpHead *h, const char *name);
size_t http_head_count(const HttpHead *h, const char *name);
/* Whether a comma-separated field (which may occur several times) contains the word, in any case. */
bool http_head_has_word(const HttpHead *h, const char *name, const char *word);
bool http_list_has_word(const char *list, const char *word);

/* 1: begins like an HTTP/1 request. 0: too short to tell. -EBADMSG: not HTTP. -EPROTO: HTTP/2 by prior
 * knowledge. */
int http_sniff(const uint8_t *data, size_t size);

bool http_is_token(const char *text);
/* Parses one field line without its CRLF (name, colon, value), cutting it in place. */
int http_field_read(char *line, size_t size, HttpField *ret);
