#include "api/e2b/host.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "api/router.h"

#define SHARED "sandbox."

bool e2b_id_is_possible(const char *text, size_t n) {
        if (n == 0 || n > API_TARGET_ID_MAX)
                return false;
        for (size_t i = 0; i < n; i++)
                if (!(text[i] >= 'a' && text[i] <= 'z') && !(text[i] >= '0' && text[i] <= '9'))
                        return false;
        return true;
}

/* An IP address has dots and digits too, but no dash before its first dot. */
int e2b_host_read(const char *host, ApiTarget *ret) {
        size_t label = strcspn(host, ".:"), number = strspn(host, "0123456789"), n;
        ApiTarget t = { .by_host = true };
        const char *id;

        if (number == 0 || number >= label || host[number] != '-')
                return 0;
        if (host[label] != '.')
                return -ENXIO;
        id = host + number + 1;
        n = strcspn(id, "-.");
        if (!e2b_id_is_possible(id, n))
                return -EINVAL;
        memcpy(t.id, id, n);
        if (router_port(host, number, &t.port) < 0)
                return -ERANGE;
        *ret = t;
        return 1;
}

/* Copies the name without brackets and port. False: it is too long to be one of ours. */
static bool host_take_name(const char *host, char *ret, size_t size) {
        bool bracket = host[0] == '[';
        size_t n = bracket ? strcspn(++host, "]") : strcspn(host, ":");

        if (n >= size)
                return false;
        memcpy(ret, host, n);
        ret[n] = '\0';
        return true;
}

bool e2b_host_is_shared(const char *host) {
        char name[256];
        uint8_t address[sizeof(struct in6_addr)];

        if (!host_take_name(host, name, sizeof(name)))
                return false;
        if (strcasecmp(name, "localhost") == 0 || (strncasecmp(name, SHARED, strlen(SHARED)) == 0 && name[strlen(SHARED)]))
                return true;
        return inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1;
}

bool e2b_host_is_below(const char *host, const char *domain) {
        size_t label = strcspn(host, "."), n = strlen(domain);
        const char *rest = host + label + 1;

        return host[label] == '.' && strncasecmp(rest, domain, n) == 0 && (rest[n] == '\0' || rest[n] == ':');
}
