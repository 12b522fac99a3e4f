/* policy-credentials.c: credentials: secrets that stay outside, and the hosts they are for. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "policy/policy-internal.h"

#define NAME_MAX_BYTES 128
#define LETTERS        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS         "0123456789"

typedef struct CredentialReader {
        WholeReader *whole;
        const char *position;
        PolicyCredential credential;
        bool bad;
} CredentialReader;

static char *copy_of(CredentialReader *r, const char *text) {
        char *copy = strdup(text);

        if (!copy)
                r->whole->reader.error = -ENOMEM;
        return copy;
}

/* Marks the credential as bad, and returns the reader to complain to. */
static PolicyReader *spoil(CredentialReader *r) {
        r->bad = true;
        return &r->whole->reader;
}

static bool is_secret(const char *text) {
        return *text && strlen(text) <= NAME_MAX_BYTES && text[0] != '.' && text[0] != '-' && strspn(text, LETTERS DIGITS "._-") == strlen(text);
}

static bool policy_credentials_is_variable(const char *text) {
        return *text && strlen(text) <= NAME_MAX_BYTES && !strchr(DIGITS, text[0]) && strspn(text, LETTERS DIGITS "_") == strlen(text);
}

static void policy_credentials_read_secret(CredentialReader *r, const char *position, const char *text) {
        if (is_secret(text))
                r->credential.secret = copy_of(r, text);
        else
                policy_complain(spoil(r), position, "'%.128s' is no name of a secret: letters, digits, '.', '_', '-'", text);
}

static void policy_credentials_read_domain(CredentialReader *r, const char *position, const char *text) {
        char name[EGRESS_DOMAIN_MAX];
        Error error = { 0 };

        if (strcmp(text, "*") == 0)
                policy_complain(spoil(r), position, "'%s' would give the secret to every host: name one, or \"*.example.org\"", text);
        else if (egress_pattern_normalise(text, strlen(text), name, &error) < 0)
                policy_complain(spoil(r), position, "%s", error.text);
        else
                r->credential.domain = copy_of(r, name);
}

static void read_variable(CredentialReader *r, const char *position, const char *text) {
        if (policy_credentials_is_variable(text))
                r->credential.env = copy_of(r, text);
        else
                policy_complain(spoil(r), position, "'%.128s' is no name of a variable, as in GITHUB_TOKEN", text);
}

static bool policy_credentials_is_header(const char *text) {
        return *text && strlen(text) <= NAME_MAX_BYTES && strspn(text, LETTERS DIGITS "-_") == strlen(text);
}

static void policy_credentials_read_headers(CredentialReader *r, const char *position, json_t *v) {
        char at[EGRESS_POSITION_MAX];
        json_t *item;
        size_t i;

        if (!json_is_array(v) || json_array_size(v) == 0 || json_array_size(v) > POLICY_HEADERS_MAX) {
                policy_complain(spoil(r), position, "must be a list of up to %d names of headers, as in [\"Authorization\"]", POLICY_HEADERS_MAX);
                return;
        }
        json_array_foreach(v, i, item) {
                const char *text = json_string_value(item);

                if (!text || !policy_credentials_is_header(text))
                        policy_complain(spoil(r), policy_position(at, "%s[%zu]", position, i), "is no name of a header, as in \"Authorization\"");
                else if (strv_push(&r->credential.headers, text) < 0)
                        r->whole->reader.error = -ENOMEM;
        }
}

static void policy_credentials_read_places(CredentialReader *r, const char *position, json_t *v) {
        static const struct {
                const char *name;
                unsigned place;
        } places[] = { { "header", CREDENTIAL_IN_HEADER }, { "query", CREDENTIAL_IN_QUERY }, { "body", CREDENTIAL_IN_BODY } };
        char at[EGRESS_POSITION_MAX];
        json_t *item;
        size_t i;

        if (!json_is_array(v) || json_array_size(v) == 0) {
                policy_complain(spoil(r), position, "must be a list of \"header\", \"query\" and \"body\"");
                return;
        }
        json_array_foreach(v, i, item) {
                unsigned found = 0;

                for (size_t k = 0; k < ELEMENTSOF(places) && json_is_string(item); k++)
                        if (strcmp(places[k].name, json_string_value(item)) == 0)
                                found = places[k].place;
                if (!found)
                        policy_complain(spoil(r), policy_position(at, "%s[%zu]", position, i), "must be \"header\", \"query\" or \"body\"");
                r->credential.where |= found;
        }
}

static void policy_credentials_read_field(CredentialReader *r, const char *key, json_t *v) {
        static const struct {
                const char *name;
                void (*read)(CredentialReader *r, const char *position, const char *text);
        } fields[] = { { "secret", policy_credentials_read_secret }, { "domain", policy_credentials_read_domain }, { "env", read_variable } };
        char at[EGRESS_POSITION_MAX];
        const char *text;

        (void) policy_position(at, "%s.%.64s", r->position, key);
        if (strcmp(key, "in") == 0) {
                policy_credentials_read_places(r, at, v);
                return;
        }
        if (strcmp(key, "headers") == 0) {
                policy_credentials_read_headers(r, at, v);
                return;
        }
        for (size_t i = 0; i < ELEMENTSOF(fields); i++)
                if (strcmp(fields[i].name, key) == 0) {
                        text = policy_read_string(&r->whole->reader, at, v);
                        if (text)
                                fields[i].read(r, at, text);
                        else
                                r->bad = true;
                        return;
                }
        r->bad = true;
        policy_complain_unknown(&r->whole->reader, at, key, (const char *const[]) { "secret", "domain", "env", "in", "headers", NULL });
}

static void check_whole(CredentialReader *r) {
        const PolicyCredential *c = &r->credential;
        const struct {
                const char *name, *value;
        } wanted[] = { { "secret", c->secret }, { "domain", c->domain }, { "env", c->env } };

        for (size_t i = 0; i < ELEMENTSOF(wanted); i++)
                if (!wanted[i].value && !r->bad)
                        policy_complain(spoil(r), r->position, "must say \"%s\"", wanted[i].name);
}

static void policy_credentials_add(CredentialReader *r) {
        Policy *p = &r->whole->policy;

        if (ARRAY_EXTEND(p->credentials, p->n_credentials) < 0) {
                r->whole->reader.error = -ENOMEM;
                return;
        }
        if (r->credential.where == 0)
                r->credential.where = CREDENTIAL_IN_HEADER;
        if (r->credential.headers.n == 0 && strv_push(&r->credential.headers, "Authorization") < 0)
                r->whole->reader.error = -ENOMEM;
        p->credentials[p->n_credentials++] = r->credential;
        r->credential = (PolicyCredential) { 0 };
}

static void policy_credentials_read_one(WholeReader *w, const char *position, json_t *v) {
        CredentialReader r = { .whole = w, .position = position, .credential.headers = STRV_INIT(POLICY_HEADERS_MAX) };
        const char *key;
        json_t *item;

        if (!json_is_object(v)) {
                policy_complain_type(&w->reader, position, "an object with \"secret\", \"domain\" and \"env\"", v);
                return;
        }
        json_object_foreach(v, key, item)
                policy_credentials_read_field(&r, key, item);
        check_whole(&r);
        if (!r.bad && w->reader.error >= 0)
                policy_credentials_add(&r);
        free(r.credential.secret);
        free(r.credential.domain);
        free(r.credential.env);
        strv_done(&r.credential.headers);
}

void policy_read_credentials(void *reader, const char *position, json_t *v) {
        WholeReader *w = reader;
        char at[EGRESS_POSITION_MAX];
        json_t *item;
        size_t i;

        if (!policy_is_list(&w->reader, position, v, "a list", "entries", POLICY_CREDENTIALS_MAX))
                return;
        json_array_foreach(v, i, item)
                policy_credentials_read_one(w, policy_position(at, "%s[%zu]", position, i), item);
}

/* Whether the policy lets anything be sent there over TLS. */
static bool is_reached(const EgressPolicy *p, const char *domain) {
        for (size_t i = 0; i < p->n_rules; i++) {
                const EgressRule *r = p->rules + i;

                if (r->action != EGRESS_DENY && r->domain && r->protocols & EGRESS_HTTPS &&
                                (egress_pattern_covers(r->domain, domain) || egress_pattern_covers(domain, r->domain)))
                        return true;
        }
        return p->mode == NETWORK_OPEN || p->learn;
}

void policy_check_credentials(WholeReader *w) {
        const Policy *p = &w->policy;
        char at[EGRESS_POSITION_MAX];

        for (size_t i = 0; i < p->n_credentials; i++) {
                const PolicyCredential *c = p->credentials + i;

                (void) policy_position(at, "%s.credentials[%zu]", w->prefix, i);
                if (!is_reached(&p->network, c->domain))
                        policy_complain(&w->reader, at, "no rule lets https to \"%s\" out: add \"https://%s\" to network.allow", c->domain, c->domain);
                for (size_t k = 0; k < i; k++)
                        if (strcmp(p->credentials[k].env, c->env) == 0)
                                policy_complain(&w->reader, at, "the variable %s is that of credentials[%zu] already", c->env, k);
        }
}
