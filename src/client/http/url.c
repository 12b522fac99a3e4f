#include "client/http/url.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX 24

void url_done(Url *u) {
        free(u->text);
        *u = (Url) { 0 };
}

static void url_add(Url *u, const char *text, size_t n) {
        char *bigger = realloc(u->text, u->size + n + 1);

        if (!bigger) {
                u->error = -ENOMEM;
                return;
        }
        memcpy(bigger + u->size, text, n);
        bigger[u->size + n] = '\0';
        u->text = bigger;
        u->size += n;
}

static void url_add_encoded(Url *u, const char *text, size_t n) {
        for (const char *end = text + n; text < end; text++) {
                unsigned char c = (unsigned char) *text;
                char encoded[4];

                if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || strchr("-._~", c))
                        url_add(u, text, 1);
                else {
                        (void) snprintf(encoded, sizeof(encoded), "%%%02X", c);
                        url_add(u, encoded, 3);
                }
        }
}

static void url_add_query(Url *u, const char *name, size_t n, const char *value, size_t value_size) {
        url_add(u, u->n_queries++ == 0 ? "?" : "&", 1);
        url_add_encoded(u, name, n);
        url_add(u, "=", 1);
        url_add_encoded(u, value, value_size);
}

void url_query(Url *u, const char *name, const char *value) {
        if (value)
                url_add_query(u, name, strlen(name), value, strlen(value));
}

void url_cut(Url *u, const Url *before) {
        u->size = before->size;
        u->n_queries = before->n_queries;
        if (u->text)
                u->text[u->size] = '\0';
}

Url url_fill(const char *path, char *const *words) {
        Url u = { 0 };

        for (; *path; path++)
                if (*path == '%') {
                        url_add_encoded(&u, *words, strlen(*words));
                        words++;
                } else {
                        url_add(&u, path, 1);
                        u.n_queries += *path == '?';
                }
        return u;
}

/* Returns the text for the conversion that *format begins with, and skips the conversion. */
static const char *url_word(const char **format, va_list *words, char number[static NUMBER_MAX]) {
        bool text = strncmp(*format, "%s", 2) == 0, large = strncmp(*format, "%llu", 4) == 0;

        assert(text || large || strncmp(*format, "%u", 2) == 0);
        *format += large ? 4 : 2;
        if (text)
                return va_arg(*words, const char *);
        (void) snprintf(number, NUMBER_MAX, "%llu",
                        large ? va_arg(*words, unsigned long long) : va_arg(*words, unsigned));
        return number;
}

/* "?name=" or "&name=", and a conversion, or a literal word. Returns the rest of the format. */
static const char *url_read_query(Url *u, const char *format, va_list *words) {
        const char *name = format + 1, *value = strchr(name, '=') + 1, *end = value + strcspn(value, "&");
        size_t n = (size_t) (end - value);
        char number[NUMBER_MAX];

        if (*value == '%') {
                const char *conversion = value;

                value = url_word(&conversion, words, number);
                n = value ? strlen(value) : 0;
        }
        if (value)
                url_add_query(u, name, strcspn(name, "="), value, n);
        return end;
}

Url url_of_words(const char *format, va_list given) {
        char number[NUMBER_MAX];
        Url u = { 0 };
        va_list words;

        va_copy(words, given);
        while (*format && *format != '?') {
                size_t n = strcspn(format, "%?");

                url_add(&u, format, n);
                format += n;
                if (*format == '%') {
                        const char *word = url_word(&format, &words, number);

                        url_add_encoded(&u, word, strlen(word));
                }
        }
        while (*format)
                format = url_read_query(&u, format, &words);
        va_end(words);
        return u;
}

Url url_of(const char *format, ...) {
        va_list words;
        Url u;

        va_start(words, format);
        u = url_of_words(format, words);
        va_end(words);
        return u;
}
