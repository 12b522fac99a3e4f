/* host.c: normalises host names for comparison. The only user of libidn2. */

#include <errno.h>
#include <idn2.h>
#include <stdlib.h>
#include <string.h>

#include "policy/internal.h"

#define LABEL_MAX      63
#define UNICODE_MAX    1024 /* bytes of UTF-8 that may become one name */

static char host_lower(char c) {
        return c >= 'A' && c <= 'Z' ? (char) (c | 0x20) : c;
}

static bool host_is_digit(char c) {
        return c >= '0' && c <= '9';
}

/* "_" occurs in real names, though the RFC does not allow it. */
static bool is_label_character(char c) {
        return (c >= 'a' && c <= 'z') || host_is_digit(c) || c == '-' || c == '_';
}

static bool is_label(const char *label, size_t n) {
        if (n == 0 || n > LABEL_MAX || label[0] == '-' || label[n - 1] == '-')
                return false;
        for (size_t i = 0; i < n; i++)
                if (!is_label_character(label[i]))
                        return false;
        return true;
}

/* 10.1, 0x7f000001, 1.2.3.04: programs take a text that ends in a number for an address, so it is never a
 * name. */
static bool is_numeric(const char *label, size_t n) {
        size_t i = 0;

        if (n >= 2 && label[0] == '0' && label[1] == 'x')
                return strspn(label + 2, "0123456789abcdef") >= n - 2;
        while (i < n && host_is_digit(label[i]))
                i++;
        return i == n;
}

static int check_labels(const char *name) {
        const char *label = name, *end;

        for (;; label = end + 1) {
                end = strchrnul(label, '.');
                if (!is_label(label, (size_t) (end - label)))
                        return -EINVAL;
                if (!*end)
                        return is_numeric(label, (size_t) (end - label)) ? -EINVAL : 0;
        }
}

static int normalise_ascii(const char *text, size_t size, char ret[static EGRESS_DOMAIN_MAX]) {
        char name[EGRESS_DOMAIN_MAX];

        if (size > 0 && text[size - 1] == '.')
                size--;
        if (size == 0 || size >= sizeof(name))
                return -EINVAL;
        for (size_t i = 0; i < size; i++)
                name[i] = host_lower(text[i]);
        name[size] = '\0';
        if (strlen(name) != size || check_labels(name) < 0)
                return -EINVAL;
        memcpy(ret, name, size + 1);
        return 0;
}

static int normalise_unicode(const char *text, size_t size, char ret[static EGRESS_DOMAIN_MAX]) {
        char copy[UNICODE_MAX + 1];
        char *ascii = NULL;
        int r;

        if (size > UNICODE_MAX || memchr(text, '\0', size))
                return -EINVAL;
        memcpy(copy, text, size);
        copy[size] = '\0';
        r = idn2_to_ascii_8z(copy, &ascii, IDN2_NONTRANSITIONAL | IDN2_NFC_INPUT);
        if (r == IDN2_MALLOC)
                return -ENOMEM;
        if (r != IDN2_OK)
                return -EINVAL;
        r = normalise_ascii(ascii, strlen(ascii), ret);
        idn2_free(ascii);
        return r;
}

int egress_host_normalise(const char *text, size_t size, char ret[static EGRESS_DOMAIN_MAX]) {
        for (size_t i = 0; i < size; i++)
                if ((unsigned char) text[i] >= 0x80)
                        return normalise_unicode(text, size, ret);
        return normalise_ascii(text, size, ret);
}

static int explain_name(const char *text, size_t size, Error *reterr) {
        int n = size > 100 ? 100 : (int) size;

        if (memchr(text, '*', size))
                return error_set(reterr, -EINVAL, "'%.*s' is no name: a wildcard is \"*\" or stands alone in front, as in \"*.example.org\"", n,
                                text);
        if (memchr(text, '/', size))
                return error_set(reterr, -EINVAL, "'%.*s' is neither a name nor a range of addresses; with a path it begins with https://",
                                n, text);
        return error_set(reterr, -EINVAL,
                        "'%.*s' is no name of a host: labels of up to 63 letters, digits and '-', with dots between them, as in \"api.example.org\"",
                        n, text);
}

/* The name means the guest itself; no packet would ever reach the gate. */
static bool is_localhost(const char *name) {
        size_t n = strlen(name);

        return strcmp(name, "localhost") == 0 || (n > 10 && strcmp(name + n - 10, ".localhost") == 0);
}

int egress_pattern_normalise(const char *text, size_t size, char ret[static EGRESS_DOMAIN_MAX], Error *reterr) {
        size_t skip = size > 2 && text[0] == '*' && text[1] == '.' ? 2 : 0;
        char name[EGRESS_DOMAIN_MAX];
        int r;

        if (size == 1 && text[0] == '*') {
                memcpy(ret, "*", 2);
                return 0;
        }
        r = egress_host_normalise(text + skip, size - skip, name);
        if (r == -ENOMEM)
                return error_set(reterr, r, "out of memory");
        if (r < 0 || strlen(name) + skip >= EGRESS_DOMAIN_MAX)
                return explain_name(text, size, reterr);
        if (is_localhost(name))
                return error_set(reterr, -EINVAL, "'%s' is the sandbox itself, which it reaches without any rule", name);
        memcpy(ret, "*.", skip);
        memcpy(ret + skip, name, strlen(name) + 1);
        return 0;
}

/* suffix with its dot: ".example.org" */
static bool host_is_below(const char *name, const char *suffix) {
        size_t n = strlen(name), m = strlen(suffix);

        return n > m && memcmp(name + n - m, suffix, m) == 0;
}

bool egress_pattern_names(const char *pattern, const char *host) {
        if (pattern[0] != '*')
                return strcmp(pattern, host) == 0;
        return !pattern[1] || host_is_below(host, pattern + 1);
}

bool egress_pattern_covers(const char *outer, const char *inner) {
        if (strcmp(outer, inner) == 0 || strcmp(outer, "*") == 0)
                return true;
        if (outer[0] != '*' || strcmp(inner, "*") == 0)
                return false;
        return host_is_below(inner[0] == '*' ? inner + 1 : inner, outer + 1);
}

bool egress_rule_names(const EgressRule *r, const char *host) {
        return r->domain && host && egress_pattern_names(r->domain, host);
}
