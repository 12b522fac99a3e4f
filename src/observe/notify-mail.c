/* notify-mail.c: a message as mail: plain text, RFC 5322.
 *
 * Text from outside cannot begin a header or a line of its own: control characters become spaces, and non-ASCII text is
 * encoded (RFC 2047 in headers, base64 for the text). libcurl escapes dots at the beginning of lines. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "observe/notify-format.h"

#define MAIL_MAX    ((size_t) 256 << 10)
#define ROW_MAX     900 /* 998 are allowed */
#define WORD_MAX    45  /* bytes in an encoded word, so that it has 75 characters at most */
#define BASE64_LINE 57  /* bytes, 76 characters */
#define SUBJECT_MAX 400

static bool is_ascii(const char *s, size_t n) {
        for (size_t i = 0; i < n; i++)
                if ((unsigned char) s[i] >= 0x80)
                        return false;
        return true;
}

static void put_base64(Text *t, const void *data, size_t size) {
        char *to = text_extend(t, BASE64_SIZE(size));

        if (to)
                base64_encode(data, size, to);
}

/* Always one line: control characters become spaces. */
static void notify_mail_put_plain(Text *t, const char *s) {
        for (; *s; s++) {
                char c = (unsigned char) *s < ' ' || *s == 0x7f ? ' ' : *s;

                text_put(t, &c, 1);
        }
}

static void notify_mail_put_encoded(Text *t, const char *s, size_t size) {
        for (size_t done = 0, n; done < size; done += n) {
                bool cut;

                n = utf8_prefix(s + done, MIN_OF(size - done, (size_t) WORD_MAX), &cut);
                if (n == 0)
                        n = 1; /* not UTF-8: as it is */
                text_put_string(t, done > 0 ? "\r\n =?UTF-8?B?" : "=?UTF-8?B?");
                put_base64(t, s + done, n);
                text_put_string(t, "?=");
        }
}

static void notify_mail_put_header(Text *t, const char *name, const char *value) {
        _cleanup_text_ Text clean = TEXT_INIT(MAIL_MAX);
        size_t n;

        notify_mail_put_plain(&clean, value);
        n = MIN_OF(clean.size, (size_t) SUBJECT_MAX);
        text_put_string(t, name);
        text_put_string(t, ": ");
        if (clean.data && is_ascii(clean.data, n))
                text_put(t, clean.data, n);
        else if (clean.data)
                notify_mail_put_encoded(t, clean.data, n);
        text_put_string(t, "\r\n");
}

/* In English, whatever the locale. */
static void put_date(Text *t) {
        static const char days[][4] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
        static const char months[][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
        time_t now = time(NULL);
        struct tm tm;

        if (!gmtime_r(&now, &tm))
                return;
        text_format(t, "Date: %s, %02d %s %d %02d:%02d:%02d +0000\r\n", days[tm.tm_wday % 7], tm.tm_mday, months[tm.tm_mon % 12],
                        tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

static void put_domain(Text *t) {
        char host[256] = "";

        (void) gethostname(host, sizeof(host) - 1);
        for (char *c = host; *c; c++)
                if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-", *c))
                        *c = '-';
        text_put_string(t, host[0] ? host : "localhost");
}

/* All messages of an alert refer to the first one, so that mail programs show them as a thread. */
static void put_thread(Text *t, json_t *message, uint64_t number) {
        const char *id = notify_get(message, "id");

        text_put_string(t, "Message-ID: <");
        notify_mail_put_plain(t, id);
        text_format(t, ".%llu.%llx@", (unsigned long long) number, (unsigned long long) time(NULL));
        put_domain(t);
        text_put_string(t, ">\r\nReferences: <");
        notify_mail_put_plain(t, id);
        text_put_string(t, "@");
        put_domain(t);
        text_put_string(t, ">\r\n");
}

static void put_receivers(Text *t, const Strv *to) {
        text_put_string(t, "To: ");
        for (size_t i = 0; i < to->n; i++) {
                text_put_string(t, i > 0 ? ",\r\n " : "");
                notify_mail_put_plain(t, to->items[i]);
        }
        text_put_string(t, "\r\n");
}

static void notify_mail_put_line(Text *t, const char *name, const char *value) {
        if (!*value)
                return;
        text_put_string(t, name);
        notify_mail_put_plain(t, value);
        text_put_string(t, "\r\n");
}

static void put_words(Text *t, json_t *message) {
        json_t *context = json_object_get(json_object_get(message, "alert"), "context");
        _cleanup_free_ char *details = json_is_object(context) ? json_dumps(context, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
        _cleanup_free_ char *headline = notify_headline(message);
        const char *source = json_string_value(json_object_get(message, "source"));

        notify_mail_put_line(t, "", headline ? headline : "");
        text_put_string(t, "\r\n");
        notify_mail_put_line(t, "", notify_get(message, "message"));
        notify_mail_put_line(t, "", notify_get(message, "description"));
        text_put_string(t, "\r\n");
        notify_mail_put_line(t, "Alert:    ", notify_get(message, "name"));
        notify_mail_put_line(t, "Id:       ", notify_get(message, "id"));
        notify_mail_put_line(t, "Host:     ", source ? source : "");
        notify_mail_put_line(t, "Fired:    ", notify_get(message, "firedAt"));
        notify_mail_put_line(t, "Resolved: ", notify_get(message, "resolvedAt"));
        notify_mail_put_line(t, "Context:  ", details ? details : "");
        notify_mail_put_line(t, "Runbook:  ", notify_get(message, "runbook"));
        text_put_string(t, "\r\nTo acknowledge it: cove alerts ack ");
        notify_mail_put_line(t, "", notify_get(message, "id"));
}

static bool needs_encoding(const Text *words) {
        size_t line = 0;

        for (size_t i = 0; i < words->size; i++) {
                line = words->data[i] == '\n' ? 0 : line + 1;
                if (line > ROW_MAX)
                        return true;
        }
        return !is_ascii(words->data, words->size);
}

static void notify_mail_put_text(Text *t, const Text *words) {
        bool encode = needs_encoding(words);

        text_format(t, "Content-Transfer-Encoding: %s\r\n\r\n", encode ? "base64" : "7bit");
        if (!encode) {
                text_put(t, words->data, words->size);
                return;
        }
        for (size_t done = 0; done < words->size; done += BASE64_LINE) {
                put_base64(t, words->data + done, MIN_OF(words->size - done, (size_t) BASE64_LINE));
                text_put_string(t, "\r\n");
        }
}

char *notify_mail(const ChannelConfig *channel, json_t *message, uint64_t number, size_t *ret_size) {
        _cleanup_free_ char *headline = notify_headline(message);
        _cleanup_text_ Text t = TEXT_INIT(MAIL_MAX), words = TEXT_INIT(MAIL_MAX);

        put_words(&words, message);
        notify_mail_put_header(&t, "From", channel->from ? channel->from : "");
        put_receivers(&t, &channel->to);
        notify_mail_put_header(&t, "Subject", headline ? headline : "cove");
        put_date(&t);
        put_thread(&t, message, number);
        text_put_string(&t, "Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n");
        if (words.error < 0 || !headline)
                return NULL;
        notify_mail_put_text(&t, &words);
        if (t.error < 0)
                return NULL;
        *ret_size = t.size;
        return TAKE_PTR(t.data);
}
