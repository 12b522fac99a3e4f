#include "build/docker-words.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/json.h"

static bool is_space(char c) {
        return isspace((unsigned char) c);
}

/* Length of the word at p. An unclosed quote extends to the end; the error is reported when the quotes are
 * removed. */
static size_t word_length(const char *p, char escape, bool quotes) {
        char quote = 0;
        size_t n = 0;

        for (; p[n] != '\0'; n++) {
                if (!quote && is_space(p[n]))
                        break;
                if (!quotes)
                        continue;
                if (p[n] == escape && quote != '\'' && p[n + 1] != '\0')
                        n++;
                else if (quote)
                        quote = p[n] == quote ? 0 : quote;
                else if (p[n] == '\'' || p[n] == '"')
                        quote = p[n];
        }
        return n;
}

static int push_part(Strv *v, const char *p, size_t n) {
        char *copy = strndup(p, n);
        int r = copy ? strv_push_take(v, copy) : -ENOMEM;

        if (r < 0)
                free(copy);
        return r;
}

int docker_split(const char *text, char escape, bool quotes, Strv *ret) {
        for (;;) {
                size_t n;
                int r;

                while (is_space(*text))
                        text++;
                if (*text == '\0')
                        return 0;
                n = word_length(text, escape, quotes);
                r = push_part(ret, text, n);
                if (r < 0)
                        return r;
                text += n;
        }
}

static void strip_quotes(char *word) {
        char *to = word, quote = 0;

        for (const char *p = word; *p; p++)
                if (quote && *p == quote)
                        quote = 0;
                else if (!quote && (*p == '\'' || *p == '"'))
                        quote = *p;
                else
                        *to++ = *p;
        *to = '\0';
}

int docker_take_flags(const char **text, char escape, Strv *ret) {
        const char *p = *text;

        for (;;) {
                size_t n;
                int r;

                while (is_space(*p))
                        p++;
                if (p[0] != '-' || p[1] != '-')
                        break;
                n = word_length(p, escape, /* quotes= */ true);
                if (n == 2) {
                        p += n;
                        while (is_space(*p))
                                p++;
                        break;
                }
                r = push_part(ret, p, n);
                if (r < 0)
                        return r;
                strip_quotes(ret->items[ret->n - 1]);
                p += n;
        }
        *text = p;
        return 0;
}

int docker_json(const char *text, Strv *ret, Error *reterr) {
        _cleanup_json_ json_t *list = NULL;
        size_t i;
        json_t *item;

        if (*text != '[')
                return 0;
        list = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
        if (!list)
                return 0;
        json_array_foreach(list, i, item) {
                int r;

                if (!json_is_string(item))
                        return error_set(reterr, -EINVAL, "a list in JSON may have nothing but strings in it");
                r = strv_push(ret, json_string_value(item));
                if (r < 0)
                        return error_set(reterr, r, "too many words");
        }
        return 1;
}

/* The old syntax: one name; the rest of the line is its value. */
static int one_pair(const char *text, Strv *ret, Error *reterr) {
        size_t n = strcspn(text, " \t");
        const char *value = text + n;
        int r;

        while (is_space(*value))
                value++;
        if (*value == '\0')
                return error_set(reterr, -EINVAL, "'%.100s' has no value: write %.100s=VALUE", text, text);
        r = push_part(ret, text, n);
        return r < 0 ? r : strv_push(ret, value);
}

int docker_pairs(const char *text, char escape, Strv *ret, Error *reterr) {
        _cleanup_(strv_done) Strv words = STRV_INIT(PLAN_WORDS_MAX);
        int r = docker_split(text, escape, /* quotes= */ true, &words);

        if (r < 0)
                return r;
        if (words.n == 0)
                return error_set(reterr, -EINVAL, "needs NAME=VALUE");
        if (!strchr(words.items[0], '='))
                return one_pair(text, ret, reterr);
        for (size_t i = 0; i < words.n; i++) {
                const char *word = words.items[i], *equals = strchr(word, '=');

                if (!equals)
                        return error_set(reterr, -EINVAL, "'%.100s' has no '=': it must be NAME=VALUE (quotes keep spaces together)", word);
                if (equals == word)
                        return error_set(reterr, -EINVAL, "'%.100s' has no name", word);
                r = push_part(ret, word, (size_t) (equals - word));
                if (r >= 0)
                        r = strv_push(ret, equals + 1);
                if (r < 0)
                        return r;
        }
        return 0;
}
