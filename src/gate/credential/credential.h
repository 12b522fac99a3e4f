/* credential.h: secrets that stay outside the sandbox: the guest has a placeholder, and the host that the
 * secret is for gets the value.
 *
 * Values are put into a request only if TLS to a host of the credential's domain was opened and that host's
 * certificate is valid. They are removed again from the host's responses. A placeholder in a request to
 * another host is an attempt to use it there, and is found here too.
 * Values are wiped when freed, and appear in no log, event or error.
 * Limits: a host that stores a value and returns it in another form (or through another host) discloses it.
 * Values are found in responses only in the spellings of credential-spell.h: not encrypted, not reversed, not
 * letter by letter.
 * Must not know: sockets, OpenSSL, policy. */
#pragma once

#include "gate/http/http-head.h"
#include "json/json.h"

#define CREDENTIALS_MAX           64
#define CREDENTIAL_PLACEHOLDER_MIN 12 /* so that none occurs by chance */
#define CREDENTIAL_PLACEHOLDER_MAX 128

typedef struct Credentials Credentials;

int credentials_parse(json_t *list, Credentials **ret, Error *reterr); /* list: control.h's "credentials"; its values are wiped */
Credentials *credentials_ref(Credentials *c);
Credentials *credentials_free(Credentials *c); /* drops a reference */
size_t credentials_size(const Credentials *c); /* bytes of memory; NULL: 0 */
bool credentials_want(const Credentials *c, const char *host); /* if so, TLS to the host is opened */

typedef enum CredentialPlace {
        CREDENTIAL_HEADER = 1 << 0,
        CREDENTIAL_QUERY = 1 << 1,
        CREDENTIAL_BODY = 1 << 2,
} CredentialPlace;

bool credentials_want_in(const Credentials *c, const char *host, CredentialPlace place);

/* The encoding of a value. */
typedef enum CredentialForm {
        CREDENTIAL_PLAIN,
        CREDENTIAL_PERCENT,
        CREDENTIAL_JSON,
        _CREDENTIAL_FORM_MAX,
} CredentialForm;
CredentialForm credential_form_of(const char *content_type); /* of a body; content_type NULL: plain */

/* A filter searches a stream that arrives in portions of any size; matches may span portions. */
typedef struct CredentialFilter CredentialFilter;

/* Finds placeholders that do not belong to the host (host NULL: all placeholders). */
int credential_filter_new_find(Credentials *c, const char *host, CredentialFilter **ret);
/* Replaces the host's placeholders by values. */
int credential_filter_new_fill(Credentials *c, const char *host, CredentialPlace place, CredentialForm form, CredentialFilter **ret);
/* Replaces the host's values by placeholders, or by stars if the length must stay. */
int credential_filter_new_mask(Credentials *c, const char *host, bool same_length, CredentialFilter **ret);
CredentialFilter *credential_filter_free(CredentialFilter *f);
size_t credential_filter_size(const CredentialFilter *f); /* bytes of memory, currently; NULL: 0 */

/* Appends the decided part to out; bytes that may begin a match are held until the next call. last: no more
 * input follows, and nothing is held. A failure is recorded in the Text. */
int credential_filter_feed(CredentialFilter *f, const void *data, size_t size, bool last, Text *out);
/* The name of the credential that was found. NULL: none so far. */
const char *credential_filter_hit(const CredentialFilter *f);
void credential_filter_forget(CredentialFilter *f); /* clears the hit, for the next text */
bool credential_filter_is_idle(const CredentialFilter *f); /* it searches for nothing */

/* Header values, also inside "Basic", where they are base64. f: a fill filter for headers. Returns whether
 * something was replaced. -EINVAL: the value cannot be part of a header. */
int credential_fill_field(CredentialFilter *f, const HttpField *field, Text *out);
/* f: a find filter. Returns whether something was found. */
bool credential_find_field(CredentialFilter *f, const HttpField *field);
bool credential_find_text(CredentialFilter *f, const char *text);

