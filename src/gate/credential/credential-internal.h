/* credential-internal.h: one credential, as credential.c (which there are), credential-filter.c (finding them) and credential-field.c (in
 * headers) share it. Nobody else's. */
#pragma once

#include "gate/credential/credential.h"
#include "policy/egress.h"

#define CREDENTIAL_SHADOWS 3 /* base64, by where among three bytes it begins */

typedef struct Credential {
        char name[128];
        char placeholder[CREDENTIAL_PLACEHOLDER_MAX + 1];
        char domain[EGRESS_DOMAIN_MAX];
        unsigned places;
        char *forms[_CREDENTIAL_FORM_MAX]; /* the value */
        char *shadows[CREDENTIAL_SHADOWS]; /* the letters of its base64 that depend on it alone */
} Credential;

struct Credentials {
        unsigned n_refs;
        size_t n;
        Credential items[CREDENTIALS_MAX];
};

/* credential-form.c */
int credential_make_forms(Credential *c, const char *value, size_t size);
void credential_wipe_forms(Credential *c);

bool credential_is_for(const Credential *c, const char *host);
/* This placeholder, or another credential's that is the same. */
bool credentials_belong(const Credentials *c, const char *placeholder, const char *host);
