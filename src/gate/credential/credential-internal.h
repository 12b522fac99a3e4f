/* credential-internal.h: one credential, as credential.c (which there are), credential-filter.c (finding them) and credential-field.c (in
 * headers) share it. Nobody else's. */
#pragma once

#include "gate/credential/credential-spell.h"
#include "gate/credential/credential.h"
#include "policy/egress.h"

#define CREDENTIAL_HEADERS_SIZE 1100

typedef struct Credential {
        char name[128];
        char placeholder[CREDENTIAL_PLACEHOLDER_MAX + 1];
        char domain[EGRESS_DOMAIN_MAX];
        unsigned places;
        char headers[CREDENTIAL_HEADERS_SIZE]; /* those in which it may stand, with a space behind each */
        char *forms[_CREDENTIAL_FORM_MAX]; /* the value */
        SpellSet *spellings;               /* the same in all others */
} Credential;

struct Credentials {
        unsigned n_refs;
        size_t n;
        Credential items[CREDENTIALS_MAX];
};

/* credential-form.c */
int credential_make_forms(Credential *c, const char *value, size_t size);
void credential_wipe_forms(Credential *c);

/* What is gone through next is the value of that field: only what may stand in it is filled in. */
void credential_filter_in_field(CredentialFilter *f, const char *name);

bool credential_is_for(const Credential *c, const char *host);
/* This placeholder, or another credential's that is the same. */
bool credentials_belong(const Credentials *c, const char *placeholder, const char *host);
