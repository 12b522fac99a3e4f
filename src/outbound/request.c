/* request.c: one request as options of libcurl. */

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "outbound/internal.h"

#define TIMEOUT_DEFAULT (10 * USEC_PER_SEC)
#define ANSWER_DEFAULT  ((size_t) 64 << 10)
#define CONNECT_MAX     (30 * USEC_PER_SEC)
#define HEAD_MAX        ((size_t) 256 << 10) /* also the limit of a redirect's body */
#define LINE_MAX_BYTES  8192
#define PROTOCOLS       "http,https,smtp,smtps"

/* Checks before anything is allocated: invalid requests never reach libcurl. */

static bool has_control(const char *text) {
        for (; *text; text++)
                if ((unsigned char) *text < ' ' || *text == 0x7f)
                        return true;
        return false;
}

static bool is_scheme(const char *url, const char *scheme) {
        size_t n = strlen(scheme);

        return strncasecmp(url, scheme, n) == 0 && strncmp(url + n, "://", 3) == 0;
}

static bool is_mail(const char *url) {
        return is_scheme(url, "smtp") || is_scheme(url, "smtps");
}

/* A line break would begin a header or an SMTP command of its own. */
static int check_address(const char *address, Error *reterr) {
        if (!address || !*address || has_control(address) || strpbrk(address, "<> "))
                return error_set(reterr, -EINVAL, "'%s' is not a mail address", address ? address : "");
        return 0;
}

static int check_mail(const OutboundSpec *spec, Error *reterr) {
        int r = check_address(spec->mail_from, reterr);

        if (r < 0)
                return r;
        if (!spec->mail_to || spec->mail_to->n == 0)
                return error_set(reterr, -EINVAL, "mail without a recipient");
        for (size_t i = 0; i < spec->mail_to->n && r >= 0; i++)
                r = check_address(spec->mail_to->items[i], reterr);
        return r;
}

static int outbound_request_check(const OutboundSpec *spec, Error *reterr) {
        if (!spec->url || (!is_mail(spec->url) && !is_scheme(spec->url, "http") && !is_scheme(spec->url, "https")))
                return error_set(reterr, -EINVAL, "the URL must begin with http://, https://, smtp:// or smtps://");
        for (const char *const *h = spec->headers; h && *h; h++)
                if (has_control(*h) || !strchr(*h, ':') || **h == ':')
                        return error_set(reterr, -EINVAL, "'%.40s' is not a header", *h);
        for (const char *m = spec->method; m && *m; m++)
                if (*m < 'A' || *m > 'Z')
                        return error_set(reterr, -EINVAL, "'%s' is not a method", spec->method);
        return is_mail(spec->url) ? check_mail(spec, reterr) : 0;
}

/* libcurl asks. */

static size_t outbound_request_on_read(char *buffer, size_t size, size_t n, void *userdata) {
        OutboundRequest *q = userdata;
        size_t room = MIN_OF(size * n, q->size - q->sent);

        q->moved_at = clock_usec();
        if (q->body_fd >= 0) {
                ssize_t got = pread(q->body_fd, buffer, room, (off_t) q->sent);

                if (got < 0 || (got == 0 && room > 0)) /* the file is shorter than the announced size */
                        return CURL_READFUNC_ABORT;
                room = (size_t) got;
        } else if (room > 0)
                memcpy(buffer, q->body + q->sent, room);
        q->sent += room;
        return room;
}

static int outbound_request_on_seek(void *userdata, curl_off_t offset, int origin) {
        OutboundRequest *q = userdata;

        if (origin != SEEK_SET || offset < 0 || (uint64_t) offset > q->size)
                return CURL_SEEKFUNC_CANTSEEK;
        q->sent = (size_t) offset;
        return CURL_SEEKFUNC_OK;
}

static int answer_reserve(OutboundRequest *q, size_t size) {
        size_t room = MAX_OF(q->answer_size + size, MIN_OF(q->answer_room * 2, q->answer_max));
        char *grown;

        if (q->answer_size + size <= q->answer_room)
                return 0;
        grown = realloc(q->answer, room + 1);
        if (!grown)
                return -ENOMEM;
        q->answer = grown;
        q->answer_room = room;
        return 0;
}

static void request_tell_header(OutboundRequest *q, const char *data, size_t size) {
        char line[LINE_MAX_BYTES], *value;

        while (size > 0 && isspace((unsigned char) data[size - 1]))
                size--;
        if (size >= sizeof(line))
                return;
        memcpy(line, data, size);
        line[size] = 0;
        if (strncmp(line, "HTTP/", 5) == 0) {
                q->on_header(NULL, NULL, q->userdata); /* a response begins: void the earlier headers */
                return;
        }
        value = strchr(line, ':');
        if (!value)
                return;
        *value++ = 0;
        q->on_header(line, value + strspn(value, " \t"), q->userdata);
}

static size_t request_on_header(char *data, size_t one, size_t size, void *userdata) {
        OutboundRequest *q = userdata;

        q->moved_at = clock_usec();
        q->head_size += size;
        if (q->head_size > HEAD_MAX) {
                (void) request_refuse(q, -EMSGSIZE, "its answer has a head of more than 256 KiB");
                return 0;
        }
        if (q->on_header)
                request_tell_header(q, data, size);
        return size;
}

/* Stops at a maximum: otherwise an endless response would run until the time limit. */
static size_t on_write(char *data, size_t one, size_t size, void *userdata) {
        OutboundRequest *q = userdata;
        size_t take = MIN_OF(size, q->answer_max - q->answer_size);
        long status = 0;

        q->moved_at = clock_usec();
        if (request_will_follow(q)) {
                q->skipped += size;
                return q->skipped <= HEAD_MAX || request_refuse(q, -EMSGSIZE, "its redirect has a body of more than 256 KiB") == 0 ? size : 0;
        }
        if (q->on_data) {
                (void) curl_easy_getinfo(q->easy, CURLINFO_RESPONSE_CODE, &status);
                q->error = q->on_data((unsigned) status, data, size, q->userdata);
                return q->error < 0 ? 0 : size;
        }
        if (answer_reserve(q, take) < 0)
                return 0;
        if (take > 0)
                memcpy(q->answer + q->answer_size, data, take);
        q->answer_size += take;
        q->cut = take < size;
        return take;
}

/* libcurl is told. */

static long to_msec(usec_t usec) {
        return (long) MIN_OF(usec / USEC_PER_MSEC + (usec % USEC_PER_MSEC > 0), (usec_t) INT32_MAX);
}

static CURLcode set_common(OutboundRequest *q, const OutboundSpec *spec) {
        usec_t timeout = spec->timeout_usec > 0 ? spec->timeout_usec : TIMEOUT_DEFAULT;
        usec_t connect = spec->stall_usec > 0 ? MIN_OF(spec->stall_usec, CONNECT_MAX) : CONNECT_MAX;
        CURLcode rc = request_guard(q);

        SET(rc, q, CURLOPT_PRIVATE, q);
        SET(rc, q, CURLOPT_ERRORBUFFER, q->words);
        SET(rc, q, CURLOPT_NOSIGNAL, 1L);
        SET(rc, q, CURLOPT_QUICK_EXIT, 1L); /* else cancelling waits for the resolver thread, and blocks the loop */
        SET(rc, q, CURLOPT_PROTOCOLS_STR, PROTOCOLS);
        SET(rc, q, CURLOPT_TIMEOUT_MS, timeout == USEC_INFINITY ? 0 : to_msec(timeout));
        SET(rc, q, CURLOPT_CONNECTTIMEOUT_MS, to_msec(MIN_OF(timeout, connect)));
        SET(rc, q, CURLOPT_SSL_VERIFYPEER, spec->unchecked ? 0L : 1L);
        SET(rc, q, CURLOPT_SSL_VERIFYHOST, spec->unchecked ? 0L : 2L);
        SET(rc, q, CURLOPT_SSLVERSION, (long) CURL_SSLVERSION_TLSv1_2);
        if (spec->ca)
                SET(rc, q, CURLOPT_CAINFO, spec->ca);
        else
                SET(rc, q, CURLOPT_CAPATH, NULL); /* the single file is read once, not for each connection */
        SET(rc, q, CURLOPT_HEADERFUNCTION, request_on_header);
        SET(rc, q, CURLOPT_HEADERDATA, q);
        SET(rc, q, CURLOPT_READFUNCTION, outbound_request_on_read);
        SET(rc, q, CURLOPT_READDATA, q);
        SET(rc, q, CURLOPT_SEEKFUNCTION, outbound_request_on_seek);
        SET(rc, q, CURLOPT_SEEKDATA, q);
        SET(rc, q, CURLOPT_WRITEFUNCTION, on_write);
        SET(rc, q, CURLOPT_WRITEDATA, q);
        return rc;
}

static CURLcode set_mail(OutboundRequest *q, const OutboundSpec *spec) {
        bool tls = spec->starttls > 0 || spec->user;
        CURLcode rc = CURLE_OK;

        SET(rc, q, CURLOPT_MAIL_FROM, spec->mail_from);
        SET(rc, q, CURLOPT_MAIL_RCPT, q->recipients);
        SET(rc, q, CURLOPT_UPLOAD, 1L);
        SET(rc, q, CURLOPT_INFILESIZE_LARGE, (curl_off_t) q->size);
        SET(rc, q, CURLOPT_USE_SSL, tls ? (long) CURLUSESSL_ALL : (long) CURLUSESSL_NONE);
        SET(rc, q, CURLOPT_FORBID_REUSE, 1L); /* mail servers soon drop idle connections; QUIT is more polite */
        if (spec->user) {
                SET(rc, q, CURLOPT_USERNAME, spec->user);
                SET(rc, q, CURLOPT_PASSWORD, spec->password ? spec->password : "");
        }
        return rc;
}

static CURLcode set_http_body(OutboundRequest *q, const char *method) {
        CURLcode rc = CURLE_OK;

        if (q->body_fd >= 0) {
                SET(rc, q, CURLOPT_UPLOAD, 1L);
                SET(rc, q, CURLOPT_INFILESIZE_LARGE, (curl_off_t) q->size);
        } else if (q->body || strcmp(method, "POST") == 0) {
                SET(rc, q, CURLOPT_POST, 1L);
                SET(rc, q, CURLOPT_POSTFIELDS, q->body ? q->body : "");
                SET(rc, q, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t) q->size);
        } else if (strcmp(method, "HEAD") == 0)
                SET(rc, q, CURLOPT_NOBODY, 1L);
        else
                SET(rc, q, CURLOPT_HTTPGET, 1L);
        SET(rc, q, CURLOPT_CUSTOMREQUEST, method);
        return rc;
}

static CURLcode set_http(OutboundRequest *q, const OutboundSpec *spec) {
        CURLcode rc = set_http_body(q, spec->method ? spec->method : "POST");

        SET(rc, q, CURLOPT_HTTPHEADER, q->headers);
        if (spec->sigv4) {
                SET(rc, q, CURLOPT_AWS_SIGV4, spec->sigv4);
                SET(rc, q, CURLOPT_USERNAME, spec->access_key ? spec->access_key : "");
                SET(rc, q, CURLOPT_PASSWORD, spec->secret_key ? spec->secret_key : "");
        }
        return rc;
}

static int list_push(struct curl_slist **list, const char *text) {
        struct curl_slist *grown = curl_slist_append(*list, text);

        if (!grown)
                return -ENOMEM;
        *list = grown;
        return 0;
}

static bool has_header(const OutboundSpec *spec, const char *name) {
        size_t n = strlen(name);

        for (const char *const *h = spec->headers; h && *h; h++)
                if (strncasecmp(*h, name, n) == 0 && (*h)[n] == ':')
                        return true;
        return false;
}

static int make_lists(OutboundRequest *q, const OutboundSpec *spec) {
        int r = 0;

        for (const char *const *h = spec->headers; h && *h && r >= 0; h++)
                r = list_push(&q->headers, *h);
        /* Otherwise libcurl would set the type of a form. */
        if (r >= 0 && (q->body || q->body_fd >= 0) && !has_header(spec, "Content-Type"))
                r = list_push(&q->headers, "Content-Type: application/octet-stream");
        if (r >= 0 && !has_header(spec, "User-Agent"))
                r = list_push(&q->headers, "User-Agent: cove");
        for (size_t i = 0; q->mail && i < spec->mail_to->n && r >= 0; i++)
                r = list_push(&q->recipients, spec->mail_to->items[i]);
        return r;
}

static int outbound_request_take_body(OutboundRequest *q, const OutboundSpec *spec, Error *reterr) {
        struct stat st;

        if (q->body_fd >= 0) {
                if (fstat(q->body_fd, &st) < 0)
                        return error_set(reterr, -errno, "the body's file: %m");
                if (!S_ISREG(st.st_mode))
                        return error_set(reterr, -EINVAL, "the body is not a regular file");
                q->size = (size_t) st.st_size;
                return 0;
        }
        if (!spec->body)
                return 0;
        q->body = malloc(spec->size + 1);
        if (!q->body)
                return error_set(reterr, -ENOMEM, "out of memory");
        memcpy(q->body, spec->body, spec->size);
        q->body[spec->size] = 0;
        q->size = spec->size;
        return 0;
}

static void request_take_rules(OutboundRequest *q, const OutboundSpec *spec) {
        bool rereads = !spec->method || (strcmp(spec->method, "GET") != 0 && strcmp(spec->method, "HEAD") != 0);

        q->reach = spec->reach;
        q->reach_elsewhere = spec->reach_elsewhere;
        q->redirects_max = rereads || spec->sigv4 ? 0 : spec->redirects_max;
        q->may_proxy = spec->proxy;
        q->stall_usec = spec->stall_usec;
        q->on_header = spec->on_header;
        q->on_data = spec->on_data;
        q->moved_at = clock_usec();
}

static int request_fill(OutboundRequest *q, const OutboundSpec *spec, Error *reterr) {
        CURLcode rc;
        int r;

        r = outbound_request_check(spec, reterr);
        if (r < 0)
                return r;
        q->mail = is_mail(spec->url);
        request_take_rules(q, spec);
        q->answer_max = spec->answer_max > 0 ? spec->answer_max : ANSWER_DEFAULT;
        r = outbound_request_take_body(q, spec, reterr);
        if (r < 0)
                return r;
        q->easy = curl_easy_init();
        if (!q->easy || make_lists(q, spec) < 0)
                return error_set(reterr, -ENOMEM, "out of memory");
        rc = set_common(q, spec);
        if (rc == CURLE_OK)
                rc = q->mail ? set_mail(q, spec) : set_http(q, spec);
        return rc == CURLE_OK ? request_aim(q, spec->url, reterr) : error_set(reterr, -EINVAL, "libcurl: %s", curl_easy_strerror(rc));
}

int request_new(const OutboundSpec *spec, OutboundRequest **ret, Error *reterr) {
        OutboundRequest *q = calloc(1, sizeof(*q));
        int r;

        if (!q) {
                (void) fd_close(spec->body_fd);
                return error_set(reterr, -ENOMEM, "out of memory");
        }
        q->body_fd = spec->body_fd;
        r = request_fill(q, spec, reterr);
        if (r < 0) {
                request_free(q);
                return r;
        }
        *ret = q;
        return 0;
}

OutboundRequest *request_free(OutboundRequest *q) {
        if (!q)
                return NULL;
        curl_easy_cleanup(q->easy);
        sd_event_source_disable_unref(q->stall);
        for (struct curl_slist *s = q->headers; s; s = s->next)
                explicit_bzero(s->data, strlen(s->data)); /* one of them may be a password */
        curl_slist_free_all(q->headers);
        curl_slist_free_all(q->recipients);
        free(q->url);
        (void) fd_close(q->body_fd);
        if (q->body)
                explicit_bzero(q->body, q->size);
        free(q->body);
        free(q->answer);
        free(q);
        return NULL;
}
