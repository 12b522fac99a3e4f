/* shape.h: a table that describes a struct, once for all drivers.
 *
 * A shape lists the members of one struct: the name that callers use, the database column, kind, offset, unit, bounds,
 * the names of an enum, help. Drivers read and write objects by it: json/shape.h (requests, answers, OpenAPI schemas),
 * config/shape.h (YAML), store/field.h (rows), wire/shape.h (messages). The drivers that need only libc are here: copy,
 * free, compare.
 * Must not know: any object, any library. shape_copy(), shape_text_set() and shape_list_add() allocate, the others do
 * not. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macro.h"

typedef enum ShapeKind {
        SHAPE_CUSTOM, /* handled by a driver's own functions; other drivers ignore it */
        SHAPE_BOOL,
        SHAPE_INT,    /* int, int32_t */
        SHAPE_UINT8,
        SHAPE_UINT16,
        SHAPE_UINT32,
        SHAPE_UINT64, /* also usec_t */
        SHAPE_INT64,
        SHAPE_DOUBLE,
        SHAPE_ENUM,     /* an enum of the size of an int, by its names */
        SHAPE_TEXT,     /* char *, owned; NULL: nothing */
        SHAPE_BORROWED, /* const char *, not owned */
        SHAPE_CHARS,    /* char[size]; "": nothing */
        SHAPE_BYTES,    /* uint8_t[size] */
        SHAPE_VIEW,     /* const uint8_t *, not owned, and a size_t at `count` */
        SHAPE_STRV,     /* Strv */
        SHAPE_ENV,      /* Strv of NAME=value; for callers a map */
        SHAPE_JSON,     /* char *, owned: a JSON object as text */
        SHAPE_OBJECT,   /* a struct within, by `shape` */
        SHAPE_ARRAY,    /* T[N] within, by `shape`; a uint8_t at `count` says how many are used */
        SHAPE_LIST,     /* T *, owned, by `shape`; a size_t at `count` says how many */
        SHAPE_POINTER,  /* const T *, not owned, by `shape`; NULL: nothing. In answers only */
        _SHAPE_KIND_MAX,
} ShapeKind;

/* The unit in which callers write a number, where it differs from the unit in which it is kept. */
typedef enum ShapeUnit {
        SHAPE_PLAIN,
        SHAPE_MEGABYTES,    /* kept in bytes */
        SHAPE_SECONDS,      /* kept in microseconds */
        SHAPE_MILLISECONDS, /* likewise */
        SHAPE_SIZE,         /* in bytes; in YAML also 64MB, 1G */
        SHAPE_CORES,        /* kept in thousandths */
        SHAPE_TIME,         /* microseconds since 1970; callers: ISO 8601. 0: never */
        _SHAPE_UNIT_MAX,
} ShapeUnit;

typedef enum ShapeFlags {
        SHAPE_MANDATORY = 1 << 0,
        SHAPE_NULLABLE = 1 << 1,   /* callers may write null, which counts as absent */
        SHAPE_READ_ONLY = 1 << 2,  /* in answers only */
        SHAPE_WRITE_ONLY = 1 << 3, /* in requests only */
        SHAPE_ZERO_NULL = 1 << 4,  /* 0 is no value: shown as null */
        SHAPE_SECRET = 1 << 5,     /* its value appears in no listing and no log */
        SHAPE_POOL = 1 << 6,       /* a pooled sandbox serves a request only if this field is equal */
        SHAPE_ONCE = 1 << 7,       /* belongs to this one object: a copy has zero */
        SHAPE_ALIAS = 1 << 8,      /* another way to write the field of the same offset; not shown */
        SHAPE_BEARER = 1 << 9,     /* SHAPE_OBJECT, SHAPE_POINTER: its fields appear directly among those of its owner */
        SHAPE_DERIVED = 1 << 10,   /* the default follows from other fields */
        SHAPE_KEY = 1 << 11,       /* CHARS: the name of an item: callers see a list of such items as a map */
        SHAPE_ALWAYS = 1 << 12,    /* a text, a time or a pointer that every object has: never null in answers */
        SHAPE_SPARSE = 1 << 13,    /* omitted from answers if it would be null */
        SHAPE_MEASURED = 1 << 14,  /* a bool at `count` says whether the value is known; answers have null if it is not */
        /* Subsets of an object, kept elsewhere; each object defines their meaning. */
        SHAPE_SET_1 = 1 << 16,
        SHAPE_SET_2 = 1 << 17,
        SHAPE_SET_3 = 1 << 18,
} ShapeFlags;

/* The names of an enum whose values are 0 … max - 1. NULL: the value has no name and is written as nothing. */
typedef struct ShapeNames {
        const char *const *names;
        int max;
} ShapeNames;

#define SHAPE_WORDS(table) { .names = (table), .max = (int) ELEMENTSOF(table) }

const char *shape_name(const ShapeNames *names, int value); /* NULL: no name */
int shape_value(const ShapeNames *names, const char *name); /* -EINVAL: unknown name */

/* Defines const char *NAME_OF(TYPE value) and TYPE VALUE_OF(const char *name) by one table. */
#define SHAPE_NAMED(name_of, value_of, type, table)                                                               \
        const char *name_of(type value) {                                                                         \
                return shape_name(&(table), (int) value);                                                         \
        }                                                                                                         \
        type value_of(const char *name) {                                                                         \
                return (type) shape_value(&(table), name);                                                        \
        }                                                                                                         \
        _Static_assert(sizeof(type) == sizeof(int), "an enum is not as large as an int")

typedef struct Shape Shape;

typedef struct ShapeField {
        const char *name; /* for callers; NULL: hidden from them */
        ShapeKind kind;
        size_t offset;
        unsigned flags;
        double min, max; /* in the unit; of texts: bytes; of lists: entries. max 0: no maximum. Both 0 of an INT: any value */
        ShapeUnit unit;
        size_t size;        /* of the member: CHARS, BYTES, ARRAY */
        size_t count;       /* offset of the number of items: VIEW, ARRAY, LIST */
        const Shape *shape; /* OBJECT, ARRAY, LIST */
        unsigned only;      /* OBJECT: stores only columns of fields with one of these flags; 0: all */
        const ShapeNames *names;
        const char *column; /* NULL: not stored */
        const char *initial; /* the default, as a caller writes it; NULL: zero */
        const char *help;    /* one line */
        const char *example; /* where there is no default */
        /* Override a driver's handling of the kind. */
        const struct ShapeJson *json;
        const struct ShapeSql *sql;
        const struct ShapeYaml *yaml;
} ShapeField;

struct Shape {
        const char *name; /* of the object, in documentation */
        const ShapeField *fields;
        size_t n_fields;
        size_t size;       /* of the struct */
        size_t said;       /* offset of a uint64_t with a bit for each field that a caller has given, … */
        bool remembers;    /* … if the struct has one */
};

/* Offset and size of a member. */
#define SHAPE_AT(type, member)  .offset = offsetof(type, member), .size = sizeof(((type *) 0)->member)
#define SHAPE_OF(symbol, type)  { .name = #type, .fields = symbol##_fields, .n_fields = ELEMENTSOF(symbol##_fields), .size = sizeof(type) }

/* A table that describes the body of a request: no object that is copied or listed. */
#define SHAPE_BODY(table) { .fields = (table), .n_fields = ELEMENTSOF(table) }
/* The same with the fields in place. */
#define SHAPE_FIELDS(...) { .fields = (const ShapeField[]) { __VA_ARGS__ }, .n_fields = ELEMENTSOF(((const ShapeField[]) { __VA_ARGS__ })) }

static inline void *shape_at(const ShapeField *f, const void *object) {
        return (char *) (uintptr_t) object + f->offset;
}

/* SHAPE_OBJECT, SHAPE_POINTER: the object that the field contains or points to. */
static inline const void *shape_inner(const ShapeField *f, const void *object) {
        const void *at = shape_at(f, object);

        return f->kind == SHAPE_POINTER ? *(const void *const *) at : at;
}

/* The factor from a caller's number to the one that is kept. */
double shape_scale(ShapeUnit unit);

const ShapeField *shape_find(const Shape *shape, const char *name); /* also within bearers; does not add their offset */

/* Numbers, bools and enums. */
bool shape_is_number(const ShapeField *f);
int64_t shape_get(const ShapeField *f, const void *object); /* a uint64_t beyond INT64_MAX is negative */
int shape_set(const ShapeField *f, void *object, int64_t value); /* -ERANGE: does not fit */

/* Checks a value of unit SHAPE_PLAIN against the field's bounds. */
bool shape_within(const ShapeField *f, double value);

void shape_said(const Shape *shape, void *object, const ShapeField *field);
bool shape_is_said(const Shape *shape, const void *object, const ShapeField *field);

/* Leaves members alone that are not described. On failure `to` owns nothing. Fields with SHAPE_ONCE are zero in the
 * copy. */
int shape_copy(const Shape *shape, const void *from, void *to);
void shape_done(const Shape *shape, void *object); /* frees and zeroes all described members */
void shape_field_done(const ShapeField *f, void *object); /* the same for one member */
bool shape_owns(const ShapeField *f);              /* the member has memory of its own */

/* Appends a zeroed item to a SHAPE_LIST; NULL: no memory. */
void *shape_list_add(const ShapeField *f, void *object);
const ShapeField *shape_key(const Shape *shape); /* NULL: its items have no names */

/* Whether all fields with one of these flags (0: all fields) are equal; compares nested objects too. */
bool shape_equal(const Shape *shape, const void *a, const void *b, unsigned flags);

/* Replaces a text member by a copy and frees the old text; NULL: no text. */
int shape_text_set(char **at, const char *text);
