/* internal.h: shared by the files of this room. Private to them. */
#pragma once

#include "policy/egress.h"

#define EGRESS_PORTS_MAX    64 /* of one rule, before joining */
#define EGRESS_METHODS_MAX  32
#define EGRESS_PATHS_MAX    64
#define EGRESS_PATH_MAX     1024
#define EGRESS_JSON_MAX     (96 * 1024) /* of the whole normalised object: it must fit into one message to the gate */
#define EGRESS_POSITION_MAX 256

#define EGRESS_ALL_PROTOCOLS (EGRESS_TCP | EGRESS_UDP | EGRESS_HTTP | EGRESS_HTTPS)
#define EGRESS_WEB           (EGRESS_HTTP | EGRESS_HTTPS)

/* Collects the complaints about one document; an internal failure is kept in error. */
typedef struct PolicyReader {
        JsonComplaints *complaints;
        const EgressSite *site; /* never NULL */
        int error;
} PolicyReader;

/* Adds a complaint. policy_position() formats the position. */
void policy_complain(PolicyReader *r, const char *position, const char *format, ...) _printf_(3, 4);
void policy_complain_type(PolicyReader *r, const char *position, const char *wanted, json_t *found);
/* "unknown field; did you mean …", or the list of known fields. names is NULL-terminated. */
void policy_complain_unknown(PolicyReader *r, const char *position, const char *field, const char *const *names);
const char *policy_position(char buffer[static EGRESS_POSITION_MAX], const char *format, ...) _printf_(2, 3);
const char *policy_nearest(const char *word, const char *const *names); /* NULL: no close match */

/* A string without NUL. NULL: a complaint was added. */
const char *policy_read_string(PolicyReader *r, const char *position, json_t *v);
void policy_read_bool(PolicyReader *r, const char *position, json_t *v, bool *ret);
void policy_read_size(PolicyReader *r, const char *position, json_t *v, uint64_t *ret);  /* 10485760, "10MB" */
void policy_read_whole(PolicyReader *r, const char *position, json_t *v, uint64_t min, uint64_t max, uint64_t *ret);
/* A number in the unit, e.g. USEC_PER_SEC; fractions are allowed. */
void policy_read_time(PolicyReader *r, const char *position, json_t *v, usec_t unit, double min, double max, usec_t *ret);
/* False: a complaint was added. */
bool policy_read_number(PolicyReader *r, const char *position, json_t *v, double min, double max, double *ret);

/* Whether v is a list within the limit. False: v is null, or a complaint was added. what: "a list of paths";
 * items: "paths". */
bool policy_is_list(PolicyReader *r, const char *position, json_t *v, const char *what, const char *items, size_t max);

/* The fields of an object. Most fields are a value that is stored at an offset; the others have a function. */
typedef enum PolicyKind {
        POLICY_OTHER,
        POLICY_BOOL,
        POLICY_SIZE,
        POLICY_WHOLE, /* uint64_t */
        POLICY_TIME,  /* of the unit */
} PolicyKind;

typedef struct PolicyField {
        const char *name;
        void (*read)(void *reader, const char *position, json_t *v); /* POLICY_OTHER */
        PolicyKind kind;
        size_t offset; /* from the beginning of the reader, which is its PolicyReader */
        usec_t unit;
        double min, max;
} PolicyField;

void policy_read_field(const PolicyField *f, void *reader, const char *position, json_t *v);
void policy_check_fields(PolicyReader *r, const char *prefix, const PolicyField *fields, size_t n, json_t *object); /* complains about others */

/* Names: "*", "*.x", "x". */
int egress_pattern_normalise(const char *text, size_t size, char ret[static EGRESS_DOMAIN_MAX], Error *reterr);
bool egress_pattern_names(const char *pattern, const char *host);
bool egress_pattern_covers(const char *outer, const char *inner);

/* Rules. */
typedef struct RuleParts { /* which parts were given, before defaults */
        bool has_ports, has_protocols;
} RuleParts;

int egress_rule_defaults(EgressRule *r, const RuleParts *parts, Error *reterr);
int egress_rule_finish(EgressRule *r, Error *reterr); /* sets text and inspect, when the other members are complete */
int egress_ports_parse(const char *text, size_t size, EgressPorts *ret);
int egress_rule_add_ports(EgressRule *r, EgressPorts ports);
void egress_ports_join(EgressRule *r); /* sorts, removes overlaps */
int egress_path_check(const char *path, Error *reterr);

/* For deny rules: the path as a lenient server may read it. */
bool egress_path_is_plain(const char *path);
int egress_path_loosen(const char *path, bool cut, char *ret, size_t room);
bool egress_rule_equal(const EgressRule *a, const EgressRule *b);
bool egress_ports_cover(const EgressRule *outer, const EgressRule *inner);
bool egress_rule_has_port(const EgressRule *r, uint16_t port);
bool egress_rule_is_conditional(const EgressRule *r); /* has methods or paths */
/* The short form. 0: it has none. */
int egress_rule_short(const EgressRule *r, char *ret, size_t size);
json_t *egress_rule_object(const EgressRule *r);
void egress_rule_read(PolicyReader *reader, const char *position, json_t *v, EgressAction action, EgressRule *ret, bool *ret_good);

bool egress_is_packages(const json_t *item);

const char *egress_protocol_to_string(unsigned protocol); /* one bit */
const char *egress_action_list(EgressAction a); /* "allow" */
size_t egress_rule_place(const EgressPolicy *p, size_t index); /* its index within its list */

typedef enum EgressTold { TOLD_MODE = 1 << 0, TOLD_TLS = 1 << 1, TOLD_RULES = 1 << 2 } EgressTold;

/* The position of each rule in its list: rules with complaints are missing from the policy. */
typedef struct EgressPlaces {
        uint16_t at[EGRESS_RULES_ALL];
} EgressPlaces;

void egress_policy_check(PolicyReader *r, const char *prefix, const EgressPolicy *p, const EgressPlaces *places);

const char *policy_preset_text(const char *name); /* JSON; NULL: no such preset */
