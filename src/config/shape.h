/* shape.h: the YAML driver of base/shape.h: reads objects, fills in defaults, and shows objects.
 *
 * A field's name is a key of a map. Its kind and unit determine how a value is written: SHAPE_SECONDS as in 90s, 5m,
 * 24h or as a number of seconds, SHAPE_SIZE as in 64MB, 1G or as a number of bytes, an enum or a bool with names as one
 * of its words, a text with SHAPE_SECRET as itself, file:/PATH or env:NAME. SHAPE_STRV and SHAPE_ENV grow up to the
 * field's max. A field's `initial` is read like a value of the file. Every complaint has its line and column. One table
 * serves reading, printing, the commented example and the check of the manual page.
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
        struct Complaint *complaints; /* unsorted; reader_tell() puts them in the order of the file */
        unsigned n_complaints;
        int error; /* of the reader itself (no memory); the first one stays */
} Reader;

/* Reports all complaints in the order of the file. 0: there are none. -EINVAL: the error has the first. */
int reader_tell(Reader *r, Error *reterr);
void reader_complain(Reader *r, YamlPlace place, const char *format, ...) _printf_(3, 4);
void reader_fail(Reader *r, int error);

/* A value of the file, and the member that it is for. */
typedef struct YamlValue {
        Reader *reader;
        const ShapeField *field;
        const YamlNode *node;
        const char *where; /* "section limits", "profile X" */
        void *object;
} YamlValue;

/* Special treatment of a field. Where a member is NULL, kind and unit decide. */
typedef struct ShapeYaml {
        const char *words;                         /* "a list of addresses" */
        void (*parse)(const YamlValue *v);         /* complains; an older value is freed */
        json_t *(*show)(const ShapeField *f, const void *object); /* NULL: there is no value */
        /* Of a SHAPE_LIST: */
        const char *item;                          /* "pool" */
        bool (*accepts)(const YamlValue *v);       /* checks an item's name, which is the node's key; complains */
        void (*fresh)(void *item);                 /* sets defaults that no `initial` can express */
        void (*check)(const YamlValue *v);         /* checks an item that was read: `object` */
} ShapeYaml;

/* Complains with "'NAME' in WHERE", followed by the text. */
void yaml_complain_at(const YamlValue *v, YamlPlace place, const char *format, ...) _printf_(3, 4);
#define yaml_complain(v, ...) yaml_complain_at((v), (v)->node->place, __VA_ARGS__)

/* Reads a map into an object. Complains about unknown keys, and about two keys that set the same member. */
void yaml_read(Reader *r, const Shape *shape, const YamlNode *map, const char *where, void *object);
void yaml_read_value(const YamlValue *v);
/* Sets every field to its default, and each list's capacity. The object must be zeroed. */
int yaml_defaults(const Shape *shape, void *object);
int yaml_fresh(const ShapeField *f, void *item); /* the same for an item of a list */
json_t *yaml_show(const Shape *shape, const void *object);
json_t *yaml_show_fresh(const ShapeField *f); /* an item with its defaults */

/* The expected value, in words. */
const char *yaml_words(const ShapeField *f);
/* A bound as a person writes it; false: the field has none. */
bool yaml_bound(const ShapeField *f, double bound, char ret[static BOUND_MAX]);

/* For custom parsers (ShapeYaml.parse). */

/* True if the node is of that kind. Otherwise complains, unless it is empty, which counts as an empty map or list. */
bool yaml_is(Reader *r, const YamlNode *node, YamlKind kind, const char *where);
/* The text of a scalar; anything else is a complaint and NULL. */
const char *yaml_text(const YamlValue *v);
char *yaml_secret(const YamlValue *v); /* resolves file:/path and env:NAME. NULL: complained. The caller frees */
/* Calls entry for each entry of a list of texts, or for the one text; an older list is freed. */
void yaml_read_entries(const YamlValue *v, void (*entry)(const YamlValue *v, Strv *list));
void yaml_push(const YamlValue *v, Strv *list, const char *text, const char *full); /* full: "has more than" */
/* True for letters, digits, '_', '-', '.', up to the size of the items' name. */
bool yaml_accepts_name(const YamlValue *v);
/* The place of a key's value, or of the map if it lacks the key. */
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
