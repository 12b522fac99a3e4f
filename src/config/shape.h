/* shape.h: objects as YAML, by base/shape.h: read with every complaint by line and column, filled with their defaults, shown.
 *
 * A field's name is a key of a map. Its kind and unit say how a value is written: SHAPE_SECONDS as in 90s, 5m, 24h or as a number of
 * seconds, SHAPE_SIZE as in 64MB, 1G or as a number of bytes, an enum or a bool with names as one of its words, a text with
 * SHAPE_SECRET as itself, file:/PATH or env:NAME. SHAPE_STRV and SHAPE_ENV grow up to the field's max. A field's `initial` is read
 * like a value of the file. The same table reads, prints, writes the commented example, and is compared with the manual page.
 * Must not know: which keys there are. */
#pragma once

#include "base/shape.h"
#include "base/strv.h"
#include "config/config.h"
#include "config/yaml.h"
#include "json/json.h"

#define YAML_FILE   "the file" /* where sections are */
#define WHERE_MAX   256
#define BOUND_MAX   32
#define SECRET_SHOWN "(set)"

typedef struct Reader {
        const char *file;
        ConfigComplain complain;
        void *userdata;
        const ConfigHooks *hooks; /* never NULL */
        const Config *config; /* what is being filled */
        struct Complaint *complaints; /* in the order of the file only when all are told */
        unsigned n_complaints;
        int error; /* of our own: no memory. Sticks */
} Reader;

/* 0: nothing to complain about. -EINVAL: all of it was told, by the line; the error has the first. */
int reader_tell(Reader *r, Error *reterr);
void reader_complain(Reader *r, YamlPlace place, const char *format, ...) _printf_(3, 4);
void reader_fail(Reader *r, int error);

/* A value on its way from the file into a member. */
typedef struct YamlValue {
        Reader *reader;
        const ShapeField *field;
        const YamlNode *node;
        const char *where; /* "section limits", "profile X" */
        void *object;
} YamlValue;

/* What kind and unit cannot say. Every member may be NULL: then they do. */
typedef struct ShapeYaml {
        const char *words;                         /* "a list of addresses" */
        void (*parse)(const YamlValue *v);         /* complains; an older value is freed */
        json_t *(*show)(const ShapeField *f, const void *object); /* NULL: there is no value */
        /* Of a SHAPE_LIST: */
        const char *item;                          /* "pool" */
        bool (*accepts)(const YamlValue *v);       /* an item's name, the node's key; complains */
        void (*fresh)(void *item);                 /* what no `initial` says */
        void (*check)(const YamlValue *v);         /* an item that was read: `object` */
} ShapeYaml;

/* "'NAME' in WHERE", and what is wrong. */
void yaml_complain_at(const YamlValue *v, YamlPlace place, const char *format, ...) _printf_(3, 4);
#define yaml_complain(v, ...) yaml_complain_at((v), (v)->node->place, __VA_ARGS__)

/* A map by its fields: unknown keys, keys that say the same twice. */
void yaml_read(Reader *r, const Shape *shape, const YamlNode *map, const char *where, void *object);
void yaml_read_value(const YamlValue *v);
/* The default of every field; of lists the ceiling. The object is zero. */
int yaml_defaults(const Shape *shape, void *object);
int yaml_fresh(const ShapeField *f, void *item); /* likewise, an item of a list */
json_t *yaml_show(const Shape *shape, const void *object);
json_t *yaml_show_fresh(const ShapeField *f); /* such an item */

/* What is wanted, in words. */
const char *yaml_words(const ShapeField *f);
/* A bound as a person writes it; false: the field has none. */
bool yaml_bound(const ShapeField *f, double bound, char ret[static BOUND_MAX]);

/* For parsers of their own. */

/* Complains unless it is of that kind; an empty one is as good as an empty map or list, and gives false. */
bool yaml_is(Reader *r, const YamlNode *node, YamlKind kind, const char *where);
/* A scalar; complains and gives NULL otherwise. */
const char *yaml_text(const YamlValue *v);
char *yaml_secret(const YamlValue *v); /* file:/path and env:NAME looked up. NULL: complained. The caller frees */
/* Each entry of a list of texts, or the one text; an older list is freed. */
void yaml_read_entries(const YamlValue *v, void (*entry)(const YamlValue *v, Strv *list));
void yaml_push(const YamlValue *v, Strv *list, const char *text, const char *full); /* full: "has more than" */
/* Letters, digits, '_', '-', '.', as many as the items' name has room for. */
bool yaml_accepts_name(const YamlValue *v);
/* Of the value of a key, or of the map that has it not. */
YamlPlace yaml_key_place(const YamlNode *map, const char *key);

extern const ShapeYaml yaml_path, yaml_url, yaml_headers;

void format_duration(usec_t usec, char ret[static BOUND_MAX]);
void format_size(uint64_t bytes, char ret[static BOUND_MAX]);

/* "(did you mean 'x'?)" */
typedef struct Guess {
        const char *word, *found;
        unsigned best;
} Guess;

Guess guess_new(const char *word);
void guess_look(Guess *g, const char *candidate);
const char *guess_text(const Guess *g, char ret[static 128]); /* "" when nothing is near */
