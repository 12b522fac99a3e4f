/* schema.h: which keys cove.yaml has, as tables; the config room's own.
 *
 * A field is a key of a map: its name, its type, where it goes, its bounds, one line of help. The same table reads the file, prints
 * it, writes the commented example and is what the manual page is compared with. Reading collects every complaint. A table ends
 * with a line without a name.
 * Bare numbers: times are seconds (pools: milliseconds, as everybody who has configured one writes them), sizes are bytes. */
#pragma once

#include "config/config.h"
#include "config/yaml.h"
#include "json/json.h"

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

typedef struct Field Field;

/* parse: complaints name the field and `where` ("profile X"); an older value is freed. show: NULL means that there is no value. */
typedef struct FieldType {
        const char *words; /* "a time, as in 90s, 5m, 24h" */
        void (*parse)(Reader *r, const Field *f, const YamlNode *v, const char *where, void *target);
        json_t *(*show)(const Field *f, const void *target);
        void (*bound)(double bound, char *ret, size_t size); /* as a person writes it */
} FieldType;

typedef enum FieldFlags {
        FIELD_ALIAS = 1 << 0, /* another way to write the field of the same offset; not printed */
        FIELD_ITEMS = 1 << 1, /* its fields are those of each item, whose names are free */
        FIELD_LIST = 1 << 2,  /* its fields are those of each item of a list */
        FIELD_DERIVED = 1 << 3, /* when not said, it follows from other fields */
} FieldFlags;

struct Field {
        const char *name;
        const FieldType *type;
        size_t offset;
        const char *help;
        double min, max; /* seconds, bytes, numbers; max 0: none */
        unsigned flags;
        const char *example;      /* for the commented file, where there is no default */
        const char *const *words; /* of a type_word, NULL-terminated, by value */
        size_t room;              /* of a type_name: of the array */
        size_t told;              /* offset of a bool that becomes true when the key is there; 0: none */
        const Field *fields;      /* of what is within */
        const void *(*fresh)(void); /* of items: one that says nothing */
};

extern const FieldType type_bool, type_uint, type_uint64, type_number, type_cores, type_megabytes;
extern const FieldType type_duration, type_milliseconds, type_size; /* usec_t, usec_t, uint64_t */
extern const FieldType type_text, type_url, type_secret;            /* char * */
extern const FieldType type_path;                                   /* char *, absolute */
extern const FieldType type_name;                                   /* char[room] */
extern const FieldType type_word, type_choice;                      /* an enum; a bool that is one of two words */
extern const FieldType type_strings, type_env, type_headers;        /* Strv */
extern const FieldType type_section;                                /* by its fields */
extern const FieldType type_profiles, type_pools, type_zygotes, type_channels, type_routes, type_rules, type_daemon, type_policy;

extern const Field schema_fields[], profile_fields[], pool_fields[], zygote_fields[], alerts_fields[], network_fields[];
const void *profile_fresh(void);
const void *pool_fresh(void);
const void *zygote_fresh(void);
void zygotes_free(Config *c);

/* A map by its fields: unknown keys, keys that say the same twice. */
void read_fields(Reader *r, const Field *fields, const YamlNode *map, const char *where, void *target);
json_t *show_fields(const Field *fields, const void *target);

/* Complains unless it is of that kind; an empty one is as good as an empty map or list, and gives false. */
bool read_is(Reader *r, const YamlNode *v, YamlKind kind, const char *where);
/* A scalar; complains and gives NULL otherwise. */
const char *read_text(Reader *r, const Field *f, const YamlNode *v, const char *where);
/* file:/path and env:NAME looked up. NULL: complained. The caller frees. */
char *read_secret(Reader *r, const Field *f, const YamlNode *v, const char *where);
bool name_is_good(const char *text); /* letters, digits, '_', '-', '.'; begins with a letter or digit */

static inline void *field_at(const Field *f, const void *target) {
        return (char *) (uintptr_t) target + f->offset;
}

void format_duration(usec_t usec, char ret[static 32]);
void format_size(uint64_t bytes, char ret[static 32]);

/* What is left when everything is read: what depends on something else. */
void network_finish(Reader *r, Config *c);
void policy_finish(Reader *r, Profile *p);
void profiles_finish(Reader *r, Config *c, const YamlNode *root);
void pools_finish(Reader *r, Config *c, const YamlNode *root);
void zygotes_finish(Reader *r, Config *c, const YamlNode *root);
void alerts_finish(Reader *r, Config *c, const YamlNode *root);
int alerts_route_defaults(AlertsConfig *a, const bool told[static _SEVERITY_MAX]);

/* "(did you mean 'x'?)" */
typedef struct Guess {
        const char *word, *found;
        unsigned best;
} Guess;

Guess guess_new(const char *word);
void guess_look(Guess *g, const char *candidate);
const char *guess_text(const Guess *g, char ret[static 128]); /* "" when nothing is near */
