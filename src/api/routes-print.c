/* routes-print.c: prints the tables of routes as JSON, for the contract test and for the table of principals. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/surface.h"

/* The schema of one field. A field with its own parser has a form that a table cannot describe; its bounds
 * still apply. */
static json_t *routes_print_schema(const ShapeField *f) {
        json_t *schema = shape_schema(&(const Shape) { .fields = f, .n_fields = 1 }, /* of_answer= */ false);
        json_t *of = json_incref(json_object_get(json_object_get(schema, "properties"), f->name));
        json_t *type = json_object_get(of, "type");

        if (f->json || !type)
                (void) json_object_set_new(of, "type", json_null());
        else if (json_is_array(type))
                (void) json_object_set(of, "type", json_array_get(type, 0));
        json_decref(schema);
        return of;
}

static void fields_json_into(json_t *list, const Shape *shape) {
        for (size_t i = 0; i < shape->n_fields; i++) {
                const ShapeField *f = shape->fields + i;
                json_t *o;

                if (f->flags & SHAPE_BEARER)
                        fields_json_into(list, f->shape);
                if (!f->name || f->flags & SHAPE_READ_ONLY)
                        continue;
                o = routes_print_schema(f);
                (void) json_object_update_new(o, json_pack("{s:s,s:b,s:b}",
                                "name", f->name,
                                "mandatory", (f->flags & SHAPE_MANDATORY) != 0,
                                "nullable", (f->flags & SHAPE_NULLABLE) != 0));
                if (f->shape) {
                        json_t *within = json_array();

                        fields_json_into(within, f->shape);
                        (void) json_object_set_new(o, "fields", within);
                }
                (void) json_array_append_new(list, o);
        }
}

static json_t *fields_json(const Shape *shape) {
        json_t *list = json_array();

        fields_json_into(list, shape);
        return list;
}

static json_t *queries_json(const ApiRoute *route) {
        json_t *list = json_array();

        for (const char *const *p = route->queries; p && *p; p++)
                (void) json_array_append_new(list, json_string(*p));
        return list;
}

static json_t *answer_json(const ApiRoute *route) {
        json_t *of = shape_schema(route->answer, /* of_answer= */ true);

        return route->answers_a_list ? json_pack("{s:s,s:o}", "type", "array", "items", of) : of;
}

/* A route of a dialect. Its bodies and answers are documented elsewhere. */
static json_t *route_json(const ApiSurface *surface, bool claimed, const ApiRoute *route) {
        static const char *const bodies[] = {
                [HTTP_BODY_NONE] = "none",
                [HTTP_BODY_COLLECT] = "json",
                [HTTP_BODY_STREAM] = "bytes",
        };
        json_t *o = json_pack("{s:s,s:b,s:s,s:s,s:s,s:s,s:b,s:b,s:s,s:o}",
                        "surface", surface->name,
                        "claimed", claimed, /* found by its address: the path alone leads to another surface */
                        "method", route->method,
                        "path", route->path,
                        "capability", capability_name(route->needs),
                        "scope", scope_name(capability_scope(route->needs)),
                        "open", route->needs == MAY_PING,
                        "whileRecovering", route->while_recovering,
                        "body", bodies[route->body],
                        "queries", queries_json(route));

        if (route->shape)
                (void) json_object_set_new(o, "fields", fields_json(route->shape));
        if (route->answer)
                (void) json_object_set_new(o, "answer", answer_json(route));
        return o;
}

static size_t routes_json(const ApiSurface *surface, bool claimed, json_t *list) {
        const ApiRoute *const *table = claimed ? surface->claimed : surface->tables;
        size_t n = 0;

        for (; table && *table; table++)
                for (const ApiRoute *route = *table; route->method; route++) {
                        n++;
                        (void) json_array_append_new(list, route_json(surface, claimed, route));
                }
        return n;
}

int api_print_routes(const ApiSurface *const *surfaces, FILE *to) {
        _cleanup_json_ json_t *list = json_array();
        size_t n = 0;

        for (; *surfaces; surfaces++)
                n += routes_json(*surfaces, /* claimed= */ false, list) + routes_json(*surfaces, /* claimed= */ true, list);
        if (json_array_size(list) != n)
                return -ENOMEM;
        if (json_dumpf(list, to, JSON_INDENT(1)) < 0 || fputc('\n', to) < 0 || fflush(to) < 0)
                return -EIO;
        return 0;
}
