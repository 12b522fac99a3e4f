#include "gate/credential/credential.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "gate/control.h"
#include "gate/credential/credential-internal.h"

static const struct {
        const char *name;
        CredentialPlace place;
} places[] = {
        { "header", CREDENTIAL_HEADER },
        { "query",  CREDENTIAL_QUERY  },
        { "body",   CREDENTIAL_BODY   },
};

Credentials *credentials_ref(Credentials *c) {
        if (c)
                c->n_refs++;
        return c;
}

Credentials *credentials_free(Credentials *c) {
        if (!c || --c->n_refs > 0)
                return NULL;
        for (size_t i = 0; i < c->n; i++)
                credential_wipe_forms(c->items + i);
        free(c);
        return NULL;
}

size_t credentials_size(const Credentials *c) {
        size_t size = c ? sizeof(*c) : 0;

        for (size_t i = 0; c && i < c->n; i++) {
                for (size_t k = 0; k < _CREDENTIAL_FORM_MAX; k++)
                        size += strlen(c->items[i].forms[k]) + 1;
                size += spell_set_size(c->items[i].spellings);
        }
        return size;
}

bool credential_is_for(const Credential *c, const char *host) {
        return host && egress_rule_names(&(EgressRule) { .domain = (char *) c->domain }, host);
}

bool credentials_belong(const Credentials *c, const char *placeholder, const char *host) {
        for (size_t i = 0; i < c->n; i++)
                if (strcmp(c->items[i].placeholder, placeholder) == 0 && credential_is_for(c->items + i, host))
                        return true;
        return false;
}

bool credentials_want_in(const Credentials *c, const char *host, CredentialPlace place) {
        for (size_t i = 0; c && i < c->n; i++)
                if ((c->items[i].places & place) && credential_is_for(c->items + i, host))
                        return true;
        return false;
}

bool credentials_want(const Credentials *c, const char *host) {
        return credentials_want_in(c, host, CREDENTIAL_HEADER | CREDENTIAL_QUERY | CREDENTIAL_BODY);
}

/* Reading them. */

static int credential_read_text(json_t *item, const char *name, size_t min, size_t max, const char **ret, size_t *ret_size, Error *reterr) {
        json_t *value = json_object_get(item, name);
        size_t n = json_string_length(value);

        if (!json_is_string(value) || n < min || n > max || strlen(json_string_value(value)) != n)
                return error_set(reterr, -EINVAL, "%s: must be a text of %zu to %zu bytes", name, min, max);
        *ret = json_string_value(value);
        *ret_size = n;
        return 0;
}

static int credential_read_places(json_t *list, unsigned *ret, Error *reterr) {
        json_t *item;
        size_t i;

        *ret = 0;
        if (!list || json_is_null(list))
                *ret = CREDENTIAL_HEADER;
        json_array_foreach(list, i, item) {
                unsigned found = 0;

                for (size_t k = 0; k < ELEMENTSOF(places); k++)
                        if (json_is_string(item) && strcmp(json_string_value(item), places[k].name) == 0)
                                found = places[k].place;
                if (found == 0)
                        return error_set(reterr, -EINVAL, "in[%zu]: must be \"header\", \"query\" or \"body\"", i);
                *ret |= found;
        }
        return *ret != 0 ? 0 : error_set(reterr, -EINVAL, "in: must say where: \"header\", \"query\", \"body\"");
}

/* Reads a name, or "*." and a name. A credential for every host would belong to none. */
static int credential_read_domain(const char *text, char ret[static EGRESS_DOMAIN_MAX], Error *reterr) {
        size_t skip = strncmp(text, "*.", 2) == 0 ? 2 : 0;
        char name[EGRESS_DOMAIN_MAX];

        if (egress_host_normalise(text + skip, strlen(text + skip), name) < 0 || strlen(name) + skip >= EGRESS_DOMAIN_MAX)
                return error_set(reterr, -EINVAL, "domain: '%.100s' is no name, and no name with \"*.\" before it", text);
        memcpy(ret, text, skip);
        strcpy(ret + skip, name);
        return 0;
}

static int credential_read_headers(json_t *list, char ret[static CREDENTIAL_HEADERS_SIZE], Error *reterr) {
        size_t i, used = 0;
        json_t *item;

        if (!list || json_is_null(list)) {
                strcpy(ret, "Authorization ");
                return 0;
        }
        if (!json_is_array(list) || json_array_size(list) == 0)
                return error_set(reterr, -EINVAL, "headers: must be a list of names");
        json_array_foreach(list, i, item) {
                size_t n = json_string_length(item);

                if (!json_is_string(item) || n == 0 || used + n + 2 > CREDENTIAL_HEADERS_SIZE || strchr(json_string_value(item), ' '))
                        return error_set(reterr, -EINVAL, "headers[%zu]: is not a header name, or there are too many", i);
                memcpy(ret + used, json_string_value(item), n);
                used += n;
                ret[used++] = ' ';
        }
        ret[used] = '\0';
        return 0;
}

static int credential_read_one(json_t *item, Credential *c, size_t *n_values, Error *reterr) {
        const char *name, *placeholder, *value, *domain;
        size_t n, n_value;
        int r;

        r = credential_read_text(item, "name", 1, sizeof(c->name) - 1, &name, &n, reterr);
        if (r >= 0)
                r = credential_read_text(item, "placeholder", CREDENTIAL_PLACEHOLDER_MIN, CREDENTIAL_PLACEHOLDER_MAX, &placeholder, &n, reterr);
        if (r >= 0)
                r = credential_read_text(item, "domain", 1, EGRESS_DOMAIN_MAX, &domain, &n, reterr);
        if (r >= 0)
                r = credential_read_domain(domain, c->domain, reterr);
        if (r >= 0)
                r = credential_read_places(json_object_get(item, "in"), &c->places, reterr);
        if (r >= 0)
                r = credential_read_text(item, "value", 0, SIZE_MAX, &value, &n_value, reterr);
        if (r >= 0)
                r = control_check_value(value, n_value, n_values, reterr);
        if (r < 0)
                return r;
        if (placeholder[strspn(placeholder, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")])
                return error_set(reterr, -EINVAL, "placeholder: must be letters, digits, '-', '_' and '.'");
        r = credential_read_headers(json_object_get(item, "headers"), c->headers, reterr);
        if (r < 0)
                return r;
        strcpy(c->name, name);
        strcpy(c->placeholder, placeholder);
        r = credential_make_forms(c, value, n_value);
        explicit_bzero((char *) value, n_value); /* jansson's memory, which would be freed with the value in it */
        return r < 0 ? error_set(reterr, r, "%m") : 0;
}

int credentials_parse(json_t *list, Credentials **ret, Error *reterr) {
        Credentials *c;
        json_t *item;
        size_t i, n_values = 0;
        int r;

        assert(ret);

        if (!list || json_is_null(list) || (json_is_array(list) && json_array_size(list) == 0)) {
                *ret = NULL;
                return 0;
        }
        if (!json_is_array(list) || json_array_size(list) > CREDENTIALS_MAX)
                return error_set(reterr, -EINVAL, "credentials: must be a list of %d at most", CREDENTIALS_MAX);
        c = calloc(1, sizeof(Credentials));
        if (!c)
                return error_set(reterr, -ENOMEM, "credentials: %m");
        c->n_refs = 1;
        json_array_foreach(list, i, item) {
                c->n = i + 1;
                r = credential_read_one(item, c->items + i, &n_values, reterr);
                if (r < 0) {
                        (void) credentials_free(c);
                        return error_prefix(reterr, r, "credentials[%zu]", i);
                }
        }
        *ret = c;
        return 0;
}
