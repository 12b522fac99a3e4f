/* credential-internal.h: one credential, shared by credential.c (the list), credential-filter.c (searching
 * streams) and credential-field.c (header fields). Private to them. */
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
        char headers[CREDENTIAL_HEADERS_SIZE]; /* header names in which it may occur, each followed by a space */
        char *forms[_CREDENTIAL_FORM_MAX]; /* the value, written in each form */
        SpellSet *spellings;               /* for finding the value in responses, in any spelling */
} Credential;

struct Credentials {
        unsigned n_refs;
        size_t n;
        Credential items[CREDENTIALS_MAX];
};

/* credential-form.c */
int credential_make_forms(Credential *c, const char *value, size_t size);
void credential_wipe_forms(Credential *c);

/* The next input of the filter is the value of this field: only credentials that may occur in it are filled
 * in. */
void credential_filter_in_field(CredentialFilter *f, const char *name);

bool credential_is_for(const Credential *c, const char *host);
/* Whether this placeholder belongs to the host; several credentials may share a placeholder. */
bool credentials_belong(const Credentials *c, const char *placeholder, const char *host);
