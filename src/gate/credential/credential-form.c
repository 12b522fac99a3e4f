/* credential-form.c: writes one value in each of its forms. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "gate/credential/credential-internal.h"

CredentialForm credential_form_of(const char *content_type) {
        size_t n = content_type ? strcspn(content_type, "; \t") : 0;

        if (n == 33 && strncasecmp(content_type, "application/x-www-form-urlencoded", n) == 0)
                return CREDENTIAL_PERCENT;
        if (n >= 4 && strncasecmp(content_type + n - 4, "json", 4) == 0) /* application/json, application/x+json */
                return CREDENTIAL_JSON;
        return CREDENTIAL_PLAIN;
}

static char *write_percent(const char *value, size_t size) {
        static const char digits[] = "0123456789ABCDEF";
        char *text = malloc(3 * size + 1), *p = text;

        if (!text)
                return NULL;
        for (size_t i = 0; i < size; i++) {
                unsigned char c = (unsigned char) value[i];

                if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("-._~", c))
                        *p++ = (char) c;
                else {
                        *p++ = '%';
                        *p++ = digits[c >> 4];
                        *p++ = digits[c & 15];
                }
        }
        *p = '\0';
        return text;
}

static char *write_json(const char *value, size_t size) {
        static const char digits[] = "0123456789abcdef", named[] = "\b\f\n\r\t\"\\", names[] = "bfnrt\"\\";
        char *text = malloc(6 * size + 1), *p = text;

        if (!text)
                return NULL;
        for (size_t i = 0; i < size; i++) {
                unsigned char c = (unsigned char) value[i];
                const char *n = strchr(named, c);

                if (n) {
                        *p++ = '\\';
                        *p++ = names[n - named];
                } else if (c < ' ') {
                        memcpy(p, "\\u00", 4);
                        p[4] = digits[c >> 4];
                        p[5] = digits[c & 15];
                        p += 6;
                } else
                        *p++ = (char) c;
        }
        *p = '\0';
        return text;
}

int credential_make_forms(Credential *c, const char *value, size_t size) {
        bool complete = true;

        c->forms[CREDENTIAL_PLAIN] = strndup(value, size);
        c->forms[CREDENTIAL_PERCENT] = write_percent(value, size);
        c->forms[CREDENTIAL_JSON] = write_json(value, size);
        for (size_t i = 0; i < _CREDENTIAL_FORM_MAX; i++)
                complete = complete && c->forms[i];
        c->spellings = spell_set_new(value, size, c->name, c->placeholder);
        return complete && c->spellings ? 0 : -ENOMEM;
}

static void credential_form_wipe(char *text) {
        if (text)
                explicit_bzero(text, strlen(text));
        free(text);
}

void credential_wipe_forms(Credential *c) {
        for (size_t i = 0; i < _CREDENTIAL_FORM_MAX; i++)
                credential_form_wipe(c->forms[i]);
        c->spellings = spell_set_free(c->spellings);
}
