#include "registry/reference.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"

#define DEFAULT_HOST "docker.io"
#define DEFAULT_TAG  "latest"

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGIT "0123456789"

static int reference_take(char *to, size_t max, const char *from, size_t size) {
        if (size > max)
                return -ENAMETOOLONG;
        memcpy(to, from, size);
        to[size] = 0;
        return 0;
}

/* The part before the first slash is a host if it cannot be a component of a name. */
static bool looks_like_host(const char *text, size_t size) {
        for (size_t i = 0; i < size; i++)
                if (text[i] == '.' || text[i] == ':' || text[i] == '[' || isupper((unsigned char) text[i]))
                        return true;
        return size == 9 && memcmp(text, "localhost", 9) == 0;
}

/* Length of the address in brackets, or 0. */
static size_t bracketed(const char *host) {
        struct in6_addr address;
        char text[INET6_ADDRSTRLEN];
        const char *end = strchr(host, ']');

        if (host[0] != '[' || !end || reference_take(text, sizeof(text) - 1, host + 1, (size_t) (end - host - 1)) < 0)
                return 0;
        return inet_pton(AF_INET6, text, &address) == 1 ? (size_t) (end - host) + 1 : 0;
}

static bool host_is_valid(const char *host) {
        size_t n = host[0] == '[' ? bracketed(host) : strspn(host, LOWER UPPER DIGIT "-.");
        uint64_t port;

        if (n == 0 || n > 255 || host[0] == '-' || host[0] == '.' || host[n - 1] == '-' || host[n - 1] == '.')
                return false;
        if (host[0] != '[' && memmem(host, n, "..", 2))
                return false;
        return host[n] == 0 || (host[n] == ':' && parse_uint64(host + n + 1, 1, 65535, &port) >= 0);
}

/* A component: letters and digits, with one of ". _ __ - -- …" between them. */
static size_t component_length(const char *p) {
        size_t n = strspn(p, LOWER DIGIT);

        for (size_t gap = n > 0 ? 1 : 0; gap > 0;) {
                const char *q = p + n;

                gap = *q == '.' ? 1 : *q == '_' ? 1 + (q[1] == '_') : strspn(q, "-");
                if (gap == 0 || strspn(q + gap, LOWER DIGIT) == 0)
                        break;
                n += gap + strspn(q + gap, LOWER DIGIT);
        }
        return n;
}

static bool reference_name_is_valid(const char *name) {
        for (;;) {
                size_t n = component_length(name);

                if (n == 0)
                        return false;
                if (name[n] == 0)
                        return true;
                if (name[n] != '/')
                        return false;
                name += n + 1;
        }
}

static bool reference_tag_is_valid(const char *tag) {
        size_t n = strspn(tag, LOWER UPPER DIGIT "_.-");

        return n > 0 && tag[n] == 0 && tag[0] != '.' && tag[0] != '-';
}

/* Removes the end first, because the host may contain a colon as well: first @DIGEST, then :TAG after the
 * last slash. */
static int split_end(char *text, const char *whole, Reference *ret, Error *reterr) {
        char *at = strchr(text, '@'), *slash, *colon;

        if (at) {
                *at = 0;
                if (!digest_is_valid(at + 1))
                        return error_set(reterr, -EINVAL, "'%.200s': '%.80s' is no digest; one is sha256: and 64 hexadecimal digits", whole, at + 1);
                memcpy(ret->digest.text, at + 1, DIGEST_SIZE + 1);
        }
        slash = strrchr(text, '/');
        colon = strrchr(slash ? slash : text, ':');
        if (colon) {
                *colon = 0;
                if (!reference_tag_is_valid(colon + 1) || reference_take(ret->tag, REFERENCE_TAG_MAX, colon + 1, strlen(colon + 1)) < 0)
                        return error_set(reterr, -EINVAL, "'%.200s': '%.140s' is no tag; one has letters, digits, '_', '.' and '-', at most %d", whole, colon + 1,
                                         REFERENCE_TAG_MAX);
        } else if (!at)
                (void) strcpy(ret->tag, DEFAULT_TAG);
        return 0;
}

static int split_host(const char *text, const char *whole, Reference *ret, Error *reterr) {
        const char *slash = strchr(text, '/'), *name = text, *prefix;
        bool folder = slash;

        (void) strcpy(ret->host, DEFAULT_HOST);
        if (slash && looks_like_host(text, (size_t) (slash - text))) {
                if (reference_take(ret->host, REFERENCE_HOST_MAX, text, (size_t) (slash - text)) < 0 || !host_is_valid(ret->host))
                        return error_set(reterr, -EINVAL, "'%.200s': what stands before the first '/' is no host with or without a port", whole);
                name = slash + 1;
                folder = strchr(name, '/');
                if (strcmp(ret->host, "index.docker.io") == 0) {
                        memset(ret->host, 0, sizeof(ret->host)); /* so that equal hosts are equal byte by byte */
                        (void) strcpy(ret->host, DEFAULT_HOST);
                }
        }
        prefix = !folder && strcmp(ret->host, DEFAULT_HOST) == 0 ? "library/" : "";
        if (!reference_name_is_valid(name) || strlen(prefix) + strlen(name) > REFERENCE_NAME_MAX)
                return error_set(reterr, -EINVAL,
                                 "'%.200s' is no name of an image: small letters and digits, with '.', '_' or '-' between them, in parts with '/' between them, as in "
                                 "'python:3.12' or 'registry.example.com/team/app:1'",
                                 whole);
        (void) strcat(strcpy(ret->name, prefix), name);
        return 0;
}

int reference_parse(const char *text, Reference *ret, Error *reterr) {
        char copy[REFERENCE_TEXT_MAX + 1];
        Reference found = { 0 };
        int r;

        if (reference_take(copy, REFERENCE_TEXT_MAX, text, strlen(text)) < 0)
                return error_set(reterr, -EINVAL, "'%.60s…' is too long for the name of an image", text);
        r = split_end(copy, text, &found, reterr);
        if (r >= 0)
                r = split_host(copy, text, &found, reterr);
        if (r < 0)
                return r;
        *ret = found;
        return 0;
}

const char *reference_print(const Reference *r, char ret[static REFERENCE_TEXT_MAX + 1]) {
        (void) snprintf(ret, REFERENCE_TEXT_MAX + 1, "%s/%s%s%s%s%s", r->host, r->name, r->tag[0] ? ":" : "", r->tag, r->digest.text[0] ? "@" : "",
                        r->digest.text);
        return ret;
}

const char *reference_manifest(const Reference *r) {
        return r->digest.text[0] ? r->digest.text : r->tag;
}

const char *reference_api_host(const Reference *r) {
        return strcmp(r->host, DEFAULT_HOST) == 0 ? "registry-1.docker.io" : r->host;
}

bool reference_is_loopback(const Reference *r) {
        char host[sizeof(r->host)];
        struct in_addr address;

        if (strncmp(r->host, "[::1]", 5) == 0)
                return true;
        (void) strcpy(host, r->host);
        host[strcspn(host, ":")] = 0;
        return strcasecmp(host, "localhost") == 0 || (inet_pton(AF_INET, host, &address) == 1 && ntohl(address.s_addr) >> 24 == 127);
}
