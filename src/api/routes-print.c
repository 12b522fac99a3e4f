/* routes-print.c: the tables of routes as JSON, for the contract test. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/surface.h"

/* What the ready-made parsers take. Others have a form of their own, which a table cannot tell. */
static const struct {
        JsonFieldParse parse;
        const char *type;
} types[] = {
        { json_field_string,    "string"  },
        { json_field_bool,      "boolean" },
        { json_field_uint64,    "integer" },
        { json_field_uint32,    "integer" },
        { json_field_uint16,    "integer" },
        { json_field_megabytes, "number"  },
        { json_field_seconds,   "number"  },
        { json_field_object,    "object"  },
        { json_field_env,       "object"  },
        { json_field_strings,   "array"   },
        { json_field_text,      "object"  },
};

static json_t *type_json(const JsonField *f) {
        for (size_t i = 0; i < ELEMENTSOF(types); i++)
                if (types[i].parse == f->parse)
                        return json_string(types[i].type);
        return json_null();
}

static json_t *fields_json(const JsonField *fields, size_t n) {
        json_t *list = json_array();

        for (size_t i = 0; i < n; i++) {
                json_t *o = json_pack("{s:s,s:o,s:b,s:b}",
                                "name", fields[i].name,
                                "type", type_json(fields + i),
                                "mandatory", (fields[i].flags & JSON_MANDATORY) != 0,
                                "nullable", (fields[i].flags & JSON_NULLABLE) != 0);

                if (fields[i].fields)
                        (void) json_object_set_new(o, "fields", fields_json(fields[i].fields, fields[i].n_fields));
                (void) json_array_append_new(list, o);
        }
        return list;
}

static json_t *queries_json(const ApiRoute *route) {
        json_t *list = json_array();

        for (const char *const *p = route->queries; p && *p; p++)
                (void) json_array_append_new(list, json_string(*p));
        return list;
}

static json_t *route_json(const ApiRoute *route) {
        static const char *const bodies[] = {
                [HTTP_BODY_NONE] = "none",
                [HTTP_BODY_COLLECT] = "json",
                [HTTP_BODY_STREAM] = "bytes",
        };
        json_t *o = json_pack("{s:s,s:s,s:s,s:b,s:b,s:s,s:o}",
                        "method", route->method,
                        "path", route->path,
                        "scope", scope_name(route->scope),
                        "open", route->open,
                        "whileRecovering", route->while_recovering,
                        "body", bodies[route->body],
                        "queries", queries_json(route));

        if (route->fields)
                (void) json_object_set_new(o, "fields", fields_json(route->fields, *route->n_fields));
        return o;
}

static size_t routes_json(const ApiRoute *const *table, json_t *list) {
        size_t n = 0;

        for (; table && *table; table++)
                for (const ApiRoute *route = *table; route->method; route++) {
                        if (route->refuse)
                                continue; /* of a dialect: what it looks like is said elsewhere */
                        n++;
                        (void) json_array_append_new(list, route_json(route));
                }
        return n;
}

int api_print_routes(const ApiSurface *const *surfaces, FILE *to) {
        _cleanup_json_ json_t *list = json_array();
        size_t n = 0;

        for (; *surfaces; surfaces++)
                n += routes_json((*surfaces)->tables, list);
        if (json_array_size(list) != n)
                return -ENOMEM;
        if (json_dumpf(list, to, JSON_INDENT(1)) < 0 || fputc('\n', to) < 0 || fflush(to) < 0)
                return -EIO;
        return 0;
}
