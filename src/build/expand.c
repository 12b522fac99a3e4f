#include "build/expand.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define NAME_BYTES 256

typedef struct Expander {
        const char *p; /* what is left */
        char escape;
        bool plain;    /* quotes are ordinary characters */
        ExpandLookup lookup;
        const void *userdata;
        unsigned depth;
        Error *reterr;
} Expander;

static int out_add(Text *o, const char *data, size_t n) {
        text_put(o, data, n);
        return o->error;
}

static bool expand_is_name(char c) {
        return isalnum((unsigned char) c) || c == '_';
}

/* $1, $12 and $@ are variables too, but never set. */
static size_t expand_name_length(const char *p) {
        size_t n = 0;

        if (isdigit((unsigned char) *p))
                while (isdigit((unsigned char) p[n]))
                        n++;
        else if (*p != '\0' && strchr("@*#?-$!0", *p))
                n = 1;
        else
                while (expand_is_name(p[n]))
                        n++;
        return n;
}

static int expand_take_name(Expander *e, char ret[static NAME_BYTES]) {
        size_t n = expand_name_length(e->p);

        if (n >= NAME_BYTES)
                return error_set(e->reterr, -EINVAL, "the name of a variable is too long: '%.40s…'", e->p);
        memcpy(ret, e->p, n);
        ret[n] = '\0';
        e->p += n;
        return 0;
}

static int expand_until(Expander *e, char end, Text *o);

/* Reads the operand of an operator up to the brace, whether or not it is used. */
static int take_operand(Expander *e, Text *o) {
        int r;

        if (++e->depth > EXPAND_DEPTH)
                return error_set(e->reterr, -EINVAL, "variables within variables go deeper than %d", EXPAND_DEPTH);
        r = expand_until(e, '}', o);
        e->depth--;
        if (r < 0)
                return r;
        if (*e->p != '}')
                return error_set(e->reterr, -EINVAL, "'${' without its '}'");
        e->p++;
        return 0;
}

static int apply_operator(Expander *e, const char *name, const char *value, char operator, bool colon, Text *o) {
        _cleanup_text_ Text word = TEXT_INIT(EXPAND_MAX);
        bool set = value && (!colon || *value != '\0');
        const char *text;
        int r = take_operand(e, &word);

        if (r >= 0)
                r = out_add(&word, "", 1);
        if (r < 0)
                return r;
        text = word.data;
        switch (operator) {
        case '-': text = set ? value : text; break;
        case '+': text = set ? text : ""; break;
        default:
                if (!set)
                        return error_set(e->reterr, -EINVAL, "%.100s: %.200s", name, *text ? text : "is not set");
                text = value;
        }
        return out_add(o, text, strlen(text));
}

static int expand_braces(Expander *e, Text *o) {
        char name[NAME_BYTES];
        const char *value;
        bool colon;
        int r;

        r = expand_take_name(e, name);
        if (r < 0)
                return r;
        if (name[0] == '\0')
                return error_set(e->reterr, -EINVAL, *e->p == '\0' ? "'${' without its '}'" : "'${' needs the name of a variable");
        value = e->lookup(name, e->userdata);
        if (*e->p == '}') {
                e->p++;
                return value ? out_add(o, value, strlen(value)) : 0;
        }
        colon = *e->p == ':';
        if (colon)
                e->p++;
        if (*e->p == '\0')
                return error_set(e->reterr, -EINVAL, "'${%.100s' without its '}'", name);
        if (!strchr("-+?", *e->p))
                return error_set(e->reterr, -EINVAL, "'${%.100s%s%c…': only ':-', ':+', ':?' and the same without the colon are supported", name,
                                colon ? ":" : "", *e->p);
        return apply_operator(e, name, value, *e->p++, colon, o);
}

static int expand_dollar(Expander *e, Text *o) {
        char name[NAME_BYTES];
        const char *value;
        int r;

        e->p++;
        if (*e->p == '{') {
                e->p++;
                return expand_braces(e, o);
        }
        if (expand_name_length(e->p) == 0)
                return out_add(o, "$", 1);
        r = expand_take_name(e, name);
        if (r < 0)
                return r;
        value = e->lookup(name, e->userdata);
        return value ? out_add(o, value, strlen(value)) : 0;
}

static int expand_single(Expander *e, Text *o) {
        size_t n = strcspn(++e->p, "'");
        int r;

        if (e->p[n] == '\0')
                return error_set(e->reterr, -EINVAL, "a ' without its second");
        r = out_add(o, e->p, n);
        e->p += n + 1;
        return r;
}

/* Within double quotes, the escape applies only to characters that would be special there. */
static int expand_double(Expander *e, Text *o) {
        for (e->p++; *e->p != '"';) {
                int r;

                if (*e->p == '\0')
                        return error_set(e->reterr, -EINVAL, "a \" without its second");
                if (*e->p == '$') {
                        r = expand_dollar(e, o);
                        if (r < 0)
                                return r;
                        continue;
                }
                if (*e->p == e->escape && (e->p[1] == '"' || e->p[1] == '$' || e->p[1] == e->escape))
                        e->p++;
                r = out_add(o, e->p++, 1);
                if (r < 0)
                        return r;
        }
        e->p++;
        return 0;
}

static int expand_escape(Expander *e, Text *o) {
        e->p++;
        if (*e->p == '\0')
                return e->plain ? out_add(o, &e->escape, 1) : 0;
        /* In plain mode only a variable and the escape itself can be escaped. */
        if (e->plain && *e->p != '$' && *e->p != e->escape)
                return out_add(o, &e->escape, 1);
        return out_add(o, e->p++, 1);
}

static int expand_until(Expander *e, char end, Text *o) {
        while (*e->p != '\0' && *e->p != end) {
                int r;

                if (*e->p == e->escape)
                        r = expand_escape(e, o);
                else if (*e->p == '$')
                        r = expand_dollar(e, o);
                else if (*e->p == '\'' && !e->plain)
                        r = expand_single(e, o);
                else if (*e->p == '"' && !e->plain)
                        r = expand_double(e, o);
                else
                        r = out_add(o, e->p++, 1);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int expand_refuse(Error *reterr) {
        return error_set(reterr, -E2BIG, "more than %d bytes come out of its variables", EXPAND_MAX);
}

int expand_spend(const char *value, size_t *left, Error *reterr) {
        size_t n = strlen(value) + 1; /* an empty value counts as well */

        if (n > *left)
                return expand_refuse(reterr);
        *left -= n;
        return 0;
}

static int build_expand(Expander *e, char **ret) {
        _cleanup_text_ Text o = TEXT_INIT(EXPAND_MAX);
        int r = expand_until(e, '\0', &o);

        if (r >= 0)
                r = out_add(&o, "", 1);
        if (r == -EFBIG)
                return expand_refuse(e->reterr);
        if (r == -ENOMEM)
                return error_set(e->reterr, r, "out of memory");
        if (r < 0)
                return r;
        *ret = TAKE_PTR(o.data);
        return 0;
}

int expand_word(const char *word, char escape, ExpandLookup lookup, const void *userdata, char **ret, Error *reterr) {
        Expander e = { .p = word, .escape = escape, .lookup = lookup, .userdata = userdata, .reterr = reterr };

        return build_expand(&e, ret);
}

int expand_text(const char *text, char escape, ExpandLookup lookup, const void *userdata, char **ret, Error *reterr) {
        Expander e = { .p = text, .escape = escape, .plain = true, .lookup = lookup, .userdata = userdata, .reterr = reterr };

        return build_expand(&e, ret);
}
