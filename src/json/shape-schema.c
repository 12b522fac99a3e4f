/* shape-schema.c: makes JSON schemas from shapes, as in OpenAPI's components. */

#include <math.h>

#include "json/shape.h"

/* Takes ownership of the value; a failure is reported at the end. */
typedef struct SchemaText {
        json_t *json;
        bool failed;
} SchemaText;

static void schema_put(SchemaText *s, const char *key, json_t *value) {
        if (json_object_set_new(s->json, key, value) < 0)
                s->failed = true;
}

static json_t *schema_end(SchemaText *s) {
        if (!s->failed)
                return s->json;
        json_decref(s->json);
        return NULL;
}

static const char *schema_type(const ShapeField *f) {
        switch (f->kind) {
        case SHAPE_BOOL: return "boolean";
        case SHAPE_DOUBLE: return "number";
        case SHAPE_ENUM:
        case SHAPE_TEXT:
        case SHAPE_BORROWED:
        case SHAPE_CHARS:
        case SHAPE_BYTES: return "string";
        case SHAPE_STRV:
        case SHAPE_ARRAY:
        case SHAPE_LIST: return "array";
        case SHAPE_ENV:
        case SHAPE_JSON:
        case SHAPE_OBJECT:
        case SHAPE_POINTER: return "object";
        default: return f->unit == SHAPE_TIME ? "string" : f->unit == SHAPE_PLAIN ? "integer" : "number";
        }
}

static void schema_put_bounds(SchemaText *s, const ShapeField *f) {
        bool list = f->kind == SHAPE_STRV || f->kind == SHAPE_ARRAY || f->kind == SHAPE_LIST;
        bool text = f->kind == SHAPE_TEXT || f->kind == SHAPE_CHARS;
        double max = f->kind == SHAPE_CHARS && f->max <= 0 ? (double) f->size - 1 : f->max;

        if (f->kind == SHAPE_ENV || f->kind == SHAPE_JSON || f->kind == SHAPE_OBJECT || f->kind == SHAPE_ENUM || f->kind == SHAPE_BORROWED)
                return;
        if (f->min > 0)
                schema_put(s, list ? "minItems" : text ? "minLength" : "minimum", json_number(f->min));
        if (max > 0)
                schema_put(s, list ? "maxItems" : text ? "maxLength" : "maximum", json_number(max));
}

static json_t *schema_names(const ShapeNames *names) {
        json_t *list = json_array();

        for (int i = 0; i < names->max; i++)
                (void) json_array_append_new(list, json_string(shape_name(names, i)));
        return list;
}

/* In an answer, a missing value is null, and a value may be null if its own format leaves that open. */
static bool schema_may_be_null(const ShapeField *f, bool of_answer) {
        bool absent = f->kind == SHAPE_TEXT || f->kind == SHAPE_BORROWED || f->kind == SHAPE_CHARS || f->kind == SHAPE_POINTER || f->unit == SHAPE_TIME;
        bool open = f->kind == SHAPE_DOUBLE || (f->json && f->json->show);

        if (!of_answer)
                return f->flags & SHAPE_NULLABLE;
        if (f->flags & SHAPE_SPARSE)
                return f->flags & SHAPE_NULLABLE;
        return f->flags & (SHAPE_ZERO_NULL | SHAPE_MEASURED) || (open && f->flags & SHAPE_NULLABLE) || (absent && !(f->flags & (SHAPE_ALWAYS | SHAPE_MANDATORY)));
}

static void schema_put_kind(SchemaText *s, const ShapeField *f, bool of_answer) {
        if (f->kind == SHAPE_CUSTOM)
                return;
        if (schema_may_be_null(f, of_answer))
                schema_put(s, "type", json_pack("[s, s]", schema_type(f), "null"));
        else
                schema_put(s, "type", json_string(schema_type(f)));
        if (f->kind == SHAPE_ENUM && f->names->max > 0)
                schema_put(s, "enum", schema_names(f->names));
        if (f->unit == SHAPE_TIME)
                schema_put(s, "format", json_string("date-time"));
        if (f->kind == SHAPE_STRV)
                schema_put(s, "items", json_pack("{s:s}", "type", "string"));
        if (f->kind == SHAPE_ENV)
                schema_put(s, "additionalProperties", json_pack("{s:s}", "type", "string"));
        if ((f->kind == SHAPE_ARRAY || f->kind == SHAPE_LIST) && f->shape)
                schema_put(s, "items", shape_schema(f->shape, of_answer));
        if (!of_answer)
                schema_put_bounds(s, f);
}

/* An object that may be null has the type null beside its own. */
static json_t *schema_of_object(const ShapeField *f, bool of_answer) {
        json_t *of = shape_schema(f->shape, of_answer);

        if (of && schema_may_be_null(f, of_answer))
                (void) json_object_set_new(of, "type", json_pack("[s, s]", "object", "null"));
        return of;
}

static json_t *schema_of_field(const ShapeField *f, bool of_answer) {
        SchemaText s = { 0 };

        if ((f->kind == SHAPE_OBJECT || f->kind == SHAPE_POINTER) && f->shape)
                s.json = schema_of_object(f, of_answer);
        else {
                s.json = json_object();
                schema_put_kind(&s, f, of_answer);
        }
        if (f->help)
                schema_put(&s, "description", json_string(f->help));
        if (f->example)
                schema_put(&s, "example", json_string(f->example));
        return schema_end(&s);
}

static void schema_put_fields(SchemaText *properties, json_t *mandatory, const Shape *shape, bool of_answer) {
        unsigned hidden = of_answer ? SHAPE_WRITE_ONLY | SHAPE_SECRET | SHAPE_ALIAS : SHAPE_READ_ONLY;

        for (size_t i = 0; i < shape->n_fields; i++) {
                const ShapeField *f = shape->fields + i;

                if (f->flags & SHAPE_BEARER)
                        schema_put_fields(properties, mandatory, f->shape, of_answer);
                else if (f->name && !(f->flags & hidden)) {
                        bool again = json_object_get(properties->json, f->name); /* the later one counts */

                        schema_put(properties, f->name, schema_of_field(f, of_answer));
                        if (!again && (of_answer ? !(f->flags & SHAPE_SPARSE) : (f->flags & SHAPE_MANDATORY) != 0))
                                (void) json_array_append_new(mandatory, json_string(f->name));
                }
        }
}

json_t *shape_schema(const Shape *shape, bool of_answer) {
        SchemaText s = { .json = json_object() }, properties = { .json = json_object() };
        json_t *mandatory = json_array();

        schema_put_fields(&properties, mandatory, shape, of_answer);
        schema_put(&s, "type", json_string("object"));
        schema_put(&s, "properties", schema_end(&properties));
        if (json_array_size(mandatory) > 0)
                schema_put(&s, "required", mandatory);
        else
                json_decref(mandatory);
        return schema_end(&s);
}
