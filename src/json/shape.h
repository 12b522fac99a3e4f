/* shape.h: objects as JSON, described by base/shape.h: parses requests and collects every complaint, shows answers, and
 * makes the schemas that document both.
 *
 * Must not know: routes, sandboxes, HTTP. */
#pragma once

#include "base/shape.h"
#include "base/strv.h"
#include "json/json.h"

/* parse: `value` is never NULL; complaints go to c, by the full name of the field ("limits.memoryMB"). Returns a
 * negative errno for the daemon's own failures only. show: NULL means out of memory. Each may be NULL: then the kind of
 * the field decides. The schema always documents the kind, also for a field with a form of its own. */
typedef struct ShapeJson {
        int (*parse)(const ShapeField *field, json_t *value, const char *name, void *object, JsonComplaints *c);
        json_t *(*show)(const ShapeField *field, const void *object);
} ShapeJson;

#define SHAPE_PARSE(function) &(const ShapeJson) { .parse = (function) }
#define SHAPE_SHOW(function)  &(const ShapeJson) { .show = (function) }
#define SHAPE_MADE            &(const ShapeJson) { .show = shape_show_made } /* the member is a json_t *, which the answer shares; NULL: null */

/* A show function of one expression over the object. */
#define SHAPE_SHOWN(function, type, it, expression)                             \
        static json_t *function(const ShapeField *f, const void *object) {      \
                const type *it = object;                                        \
                (void) it;                                                      \
                return (expression);                                            \
        }                                                                       \
        _Static_assert(sizeof(type) > 0, "")

json_t *shape_show_made(const ShapeField *f, const void *object);

/* Parses and checks a whole document, which must be one object; empty input counts as {}. Returns 0 also when there are
 * complaints. -EBADMSG: not JSON (the error's text says where), not an object, or more than JSON_VALUES_MAX values. */
int json_read(const char *text, size_t size, const Shape *shape, void *object, JsonComplaints *c, Error *reterr);
/* The same for a parsed value. prefix: stands before the names of fields in complaints. */
int shape_read(json_t *value, const char *prefix, const Shape *shape, void *object, JsonComplaints *c);

/* Parses one value by the kind of its field: for parse functions that check something first. */
int shape_parse(const ShapeField *f, json_t *value, const char *name, void *object, JsonComplaints *c);

/* Fields in their order, without the write-only, secret and unnamed ones. A later field of the same name replaces the
 * value. NULL: out of memory. */
json_t *shape_show(const Shape *shape, const void *object);
/* Adds the fields to an existing object. */
int shape_show_into(json_t *into, const Shape *shape, const void *object);

/* Numbers as callers see them: integers without a fraction, others rounded to thousandths. */
json_t *json_number(double value);
json_t *json_rounded(double value, double digits); /* digits: 100 for two decimal places */
json_t *json_megabytes(uint64_t bytes);
json_t *json_milliseconds(uint64_t usec);
json_t *json_env(const Strv *env); /* NAME=value as a map; a NAME alone is "" */
json_t *json_strings(const Strv *list);

/* The JSON schema of the object, as in OpenAPI's components, for requests or for answers. */
json_t *shape_schema(const Shape *shape, bool of_answer);
