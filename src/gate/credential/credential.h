/* credential.h: secrets that stay outside: the guest has a placeholder, the host it is for gets the value.
 *
 * Values go into a request only where TLS to a host of the credential's domain was opened and that host's certificate is good; and they are
 * taken out again of what comes back. A placeholder on its way elsewhere is an attempt to use it there, and is found here too.
 * Values are wiped when freed and appear in no log, event or error.
 * What this cannot do: a host that stores a value and shows it in another form (or to another host) has shown it. Values are found in what
 * comes back in the spellings of credential-spell.h, and in no other: not enciphered, not backwards, not letter by letter.
 * Must not know: sockets, OpenSSL, policy. */
#pragma once

#include "gate/http/http-head.h"
#include "json/json.h"

#define CREDENTIALS_MAX           64
#define CREDENTIAL_PLACEHOLDER_MIN 12 /* so that nobody writes one by chance */
#define CREDENTIAL_PLACEHOLDER_MAX 128

typedef struct Credentials Credentials;

int credentials_parse(json_t *list, Credentials **ret, Error *reterr); /* control.h's "credentials"; wipes the values in the list */
Credentials *credentials_ref(Credentials *c);
Credentials *credentials_free(Credentials *c); /* one who had it has it no more */
size_t credentials_size(const Credentials *c); /* that they take; NULL: none */
bool credentials_want(const Credentials *c, const char *host); /* so TLS to it is opened */

typedef enum CredentialPlace {
        CREDENTIAL_HEADER = 1 << 0,
        CREDENTIAL_QUERY = 1 << 1,
        CREDENTIAL_BODY = 1 << 2,
} CredentialPlace;

bool credentials_want_in(const Credentials *c, const char *host, CredentialPlace place);

/* How a value is written. */
typedef enum CredentialForm {
        CREDENTIAL_PLAIN,
        CREDENTIAL_PERCENT,
        CREDENTIAL_JSON,
        _CREDENTIAL_FORM_MAX,
} CredentialForm;
CredentialForm credential_form_of(const char *content_type); /* of a body; NULL: plain */

/* A filter goes through bytes in portions of any size and looks for words that may be cut anywhere. */
typedef struct CredentialFilter CredentialFilter;

/* Placeholders that do not belong to the host (NULL: none does). */
int credential_filter_new_find(Credentials *c, const char *host, CredentialFilter **ret);
/* Placeholders of the host become values. */
int credential_filter_new_fill(Credentials *c, const char *host, CredentialPlace place, CredentialForm form, CredentialFilter **ret);
/* Values of the host become placeholders; or, where the length must stay, stars. */
int credential_filter_new_mask(Credentials *c, const char *host, bool same_length, CredentialFilter **ret);
CredentialFilter *credential_filter_free(CredentialFilter *f);
size_t credential_filter_size(const CredentialFilter *f); /* that it takes now; NULL: none */

/* What can be told goes to out; what may be the beginning of a word is kept until the next call. last: nothing more comes, nothing is
 * kept. A failure sticks to the text. */
int credential_filter_feed(CredentialFilter *f, const void *data, size_t size, bool last, Text *out);
/* Which credential was found; NULL: none so far. */
const char *credential_filter_hit(const CredentialFilter *f);
void credential_filter_forget(CredentialFilter *f); /* that something was found: for the next text */
bool credential_filter_is_idle(const CredentialFilter *f); /* it has nothing to look for */

/* Header values: also inside "Basic", where they stand in base64. With a filter that fills (plain, for headers): returns whether something was
 * replaced. -EINVAL: the value cannot stand in a header. */
int credential_fill_field(CredentialFilter *f, const HttpField *field, Text *out);
/* With one that finds: whether there is something. */
bool credential_find_field(CredentialFilter *f, const HttpField *field);
bool credential_find_text(CredentialFilter *f, const char *text);

void text_wipe(Text *t); /* and text_done() */
