#include "client/option.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"

#define QUERIES_MAX  128
#define ASSIGN_MAX   1024
#define ENV_FILE_MAX (4 << 20)

OPTION_KIND(option_duration) {
        return value_duration(o->name, value, option_field(o, target), reterr);
}

/* The body. The option's offset is 0, because the value is no field of the target. */

static JsonBuilder *option_body(void *target) {
        return &((Common *) target)->body;
}

OPTION_KIND(body_text) {
        json_put_text(option_body(target), o->key, value);
        return 0;
}

OPTION_KIND(body_true) {
        json_put_true(option_body(target), o->key);
        return 0;
}

OPTION_KIND(body_seconds) {
        usec_t usec;
        int r = option_duration(o, &usec, value, reterr);

        if (r >= 0)
                json_put_number(option_body(target), o->key, (double) usec / USEC_PER_SEC);
        return r;
}

/* A number alone is probably meant as megabytes, as other tools take it. */
static int body_refuse_small(const Option *o, const char *value, uint64_t bytes, Error *reterr) {
        bool alone = value[strspn(value, "0123456789")] == '\0' && bytes << 20 >= o->min;

        return error_set(reterr, -ERANGE, "--%s: %llu bytes is below the minimum of %lluM%s%s%s", o->name, (unsigned long long) bytes,
                        (unsigned long long) (o->min >> 20), alone ? "; did you mean " : "", alone ? value : "", alone ? "M?" : "");
}

static int body_put_size(const Option *o, void *target, const char *value, double unit, Error *reterr) {
        uint64_t bytes;
        int r = parse_size(value, &bytes);

        if (r < 0 || bytes > INT64_MAX)
                return error_set(reterr, r < 0 ? r : -ERANGE,
                                "--%s: '%s' is no size; write a number with K, M, G or T, as in 512M",
                                o->name, value);
        if (bytes < o->min)
                return body_refuse_small(o, value, bytes, reterr);
        json_put_number(option_body(target), o->key, (double) bytes / unit);
        return 0;
}

OPTION_KIND(body_megabytes) {
        return body_put_size(o, target, value, 1048576, reterr);
}

OPTION_KIND(body_bytes) {
        return body_put_size(o, target, value, 1, reterr);
}

OPTION_KIND(body_number) {
        uint64_t n;
        int r = option_number(o, &n, value, reterr);

        if (r >= 0)
                json_put_integer(option_body(target), o->key, (int64_t) n);
        return r;
}

OPTION_KIND(body_cpus) {
        uint32_t milli;
        int r = parse_cpus(value, &milli);

        if (r < 0)
                return error_set(reterr, r, "--%s: '%s' is not a number of cores, as in 0.5", o->name, value);
        json_put_number(option_body(target), o->key, milli / 1000.0);
        return 0;
}

OPTION_KIND(body_words) {
        if (json_add_text(option_body(target), o->key, value) > o->max)
                return error_set(reterr, -E2BIG, "--%s: more than %llu of them", o->name, (unsigned long long) o->max);
        return 0;
}

/* NAME=VALUE; a later one replaces an earlier one. */
OPTION_KIND(body_pair) {
        char *assignment = (char *) value;

        if (value[0] == '=' || !strchr(value, '='))
                return error_set(reterr, -EINVAL, "--%s: '%s' is not NAME=VALUE", o->name, value);
        return json_put_assignments(option_body(target), o->key, &assignment, 1) > ASSIGN_MAX
                ? error_set(reterr, -E2BIG, "--%s: more than %d of them", o->name, ASSIGN_MAX)
                : 0;
}

OPTION_KIND(body_env) {
        const char *own = strchr(value, '=') ? NULL : getenv(value);
        _cleanup_free_ char *assignment = NULL;

        if (!own && !strchr(value, '='))
                return error_set(reterr, -EINVAL, "--%s: '%s' is not set here; write %s=VALUE", o->name, value, value);
        if (own && asprintf(&assignment, "%s=%s", value, own) < 0) {
                assignment = NULL;
                return error_set(reterr, -ENOMEM, "out of memory");
        }
        return body_pair(o, target, own ? assignment : value, reterr);
}

static int body_take_line(const Option *o, void *target, const OptionLine *line, Error *reterr) {
        int r = body_pair(o, target, line->text, reterr);

        return r < 0 ? error_prefix(reterr, r, "%s line %u", line->path, line->number) : 0;
}

OPTION_KIND(body_env_file) {
        return option_each_line(o, value, ENV_FILE_MAX, body_take_line, target, reterr);
}

static int option_keep(Strv *list, const char *name, const char *value, Error *reterr) {
        _cleanup_free_ char *assignment = NULL;
        int r;

        if (asprintf(&assignment, "%s=%s", name, value) < 0) {
                assignment = NULL;
                return error_set(reterr, -ENOMEM, "out of memory");
        }
        list->max = QUERIES_MAX;
        r = strv_set_env(list, assignment);
        return r < 0 ? error_set(reterr, r, "out of memory") : 0;
}

OPTION_KIND(option_own) {
        return option_keep(&((Common *) target)->own, o->name, value ? value : "", reterr);
}

const char *common_said(const Common *c, const char *option) {
        return strv_get_env(&c->own, option);
}

/* The query. */

const char *common_query(const Common *c, const char *parameter) {
        return strv_get_env(&c->queries, parameter);
}

static int query_put(const Option *o, void *target, const char *value, Error *reterr) {
        return option_keep(&((Common *) target)->queries, o->key, value, reterr);
}

static int query_put_number(const Option *o, void *target, uint64_t n, Error *reterr) {
        char text[24];

        (void) snprintf(text, sizeof(text), "%llu", (unsigned long long) n);
        return query_put(o, target, text, reterr);
}

OPTION_KIND(query_text) {
        return query_put(o, target, value, reterr);
}

OPTION_KIND(query_true) {
        return query_put(o, target, "true", reterr);
}

OPTION_KIND(query_number) {
        uint64_t n;
        int r = option_number(o, &n, value, reterr);

        return r < 0 ? r : query_put_number(o, target, n, reterr);
}

static int query_put_duration(const Option *o, void *target, const char *value, usec_t unit, Error *reterr) {
        usec_t usec;
        int r = option_duration(o, &usec, value, reterr);

        return r < 0 ? r : query_put_number(o, target, usec / unit, reterr);
}

OPTION_KIND(query_seconds) {
        return query_put_duration(o, target, value, USEC_PER_SEC, reterr);
}

OPTION_KIND(query_milliseconds) {
        return query_put_duration(o, target, value, USEC_PER_MSEC, reterr);
}

OPTION_KIND(query_ago) {
        usec_t usec;

        return parse_duration(value, &usec) >= 0 ? query_put_number(o, target, usec / USEC_PER_SEC, reterr) : query_put(o, target, value, reterr);
}

OPTION_KIND(query_pair) {
        Strv *queries = &((Common *) target)->queries;
        _cleanup_free_ char *query = NULL;
        size_t n = 0;

        if (value[0] == '=' || !strchr(value, '='))
                return error_set(reterr, -EINVAL, "--%s: '%s' is not KEY=VALUE", o->name, value);
        for (size_t i = 0; i < queries->n; i++)
                n += strncmp(queries->items[i], o->key, strlen(o->key)) == 0 && queries->items[i][strlen(o->key)] == '.';
        if (n >= o->max)
                return error_set(reterr, -E2BIG, "--%s: more than %llu of them", o->name, (unsigned long long) o->max);
        queries->max = QUERIES_MAX;
        if (asprintf(&query, "%s.%s", o->key, value) < 0) {
                query = NULL;
                return error_set(reterr, -ENOMEM, "out of memory");
        }
        return strv_push(queries, query) < 0 ? error_set(reterr, -ENOMEM, "out of memory") : 0;
}
