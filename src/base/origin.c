#include "base/origin.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/parse.h"

#define LOCALHOST "localhost"

typedef struct Origin {
        bool secure, below; /* below: any name below the host */
        char host[256];     /* with its brackets */
        uint64_t port;
} Origin;

static const char *origin_read_scheme(const char *text, bool *ret_secure) {
        static const char *const schemes[] = { "http://", "https://" };

        for (size_t i = 0; i < 2; i++)
                if (strncasecmp(text, schemes[i], strlen(schemes[i])) == 0) {
                        *ret_secure = i == 1;
                        return text + strlen(schemes[i]);
                }
        return NULL;
}

static size_t origin_host_size(const char *text) {
        static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";
        size_t n;

        if (text[0] != '[')
                return strspn(text, letters);
        n = 1 + strspn(text + 1, "0123456789abcdefABCDEF:.");
        return text[n] == ']' ? n + 1 : 0;
}

/* may_be_below: accept "*." before the host. */
static bool origin_read(const char *text, bool may_be_below, Origin *ret) {
        Origin o = { 0 };
        size_t n;

        if (strlen(text) > ORIGIN_MAX)
                return false;
        text = origin_read_scheme(text, &o.secure);
        if (!text)
                return false;
        if (may_be_below && strncmp(text, "*.", 2) == 0) {
                o.below = true;
                text += 2;
        }
        n = origin_host_size(text);
        if (n == 0 || n >= sizeof(o.host))
                return false;
        memcpy(o.host, text, n);
        text += n;
        o.port = o.secure ? 443 : 80;
        if (*text == ':' ? parse_uint64(text + 1, 1, UINT16_MAX, &o.port) < 0 : *text != '\0')
                return false;
        *ret = o;
        return true;
}

bool origin_pattern_is_valid(const char *pattern) {
        Origin o;

        return strcmp(pattern, "*") == 0 || origin_read(pattern, /* may_be_below= */ true, &o);
}

/* The host must have something before the dot. */
static bool origin_is_below(const char *host, const char *domain) {
        size_t n = strlen(host), m = strlen(domain);

        return n > m + 1 && host[n - m - 1] == '.' && strcasecmp(host + n - m, domain) == 0;
}

bool origin_matches(const char *pattern, const char *origin) {
        Origin p, o;

        if (!origin_read(origin, /* may_be_below= */ false, &o))
                return false;
        if (strcmp(pattern, "*") == 0)
                return true;
        if (!origin_read(pattern, /* may_be_below= */ true, &p) || p.secure != o.secure || p.port != o.port)
                return false;
        return p.below ? origin_is_below(o.host, p.host) : strcasecmp(o.host, p.host) == 0;
}

static bool origin_is_port_of_sandbox(const char *host) {
        size_t n = strspn(host, "0123456789");

        return n > 0 && host[n] == '-';
}

bool origin_is_loopback(const char *origin) {
        struct in_addr address;
        Origin o;

        if (!origin_read(origin, /* may_be_below= */ false, &o))
                return false;
        if (strcasecmp(o.host, LOCALHOST) == 0 || strcmp(o.host, "[::1]") == 0)
                return true;
        if (inet_pton(AF_INET, o.host, &address) == 1)
                return ntohl(address.s_addr) >> 24 == 127;
        return origin_is_below(o.host, LOCALHOST) && !origin_is_port_of_sandbox(o.host);
}
