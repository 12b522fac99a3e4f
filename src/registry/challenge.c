#include "registry/challenge.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/macro.h"

#define BLANK " \t"

/* "…" with backslashes, or a bare word. Returns what follows, or NULL. */
static const char *challenge_read_value(const char *p, char *ret, size_t room) {
        bool quoted = *p == '"';
        size_t n = 0;

        for (p += quoted; *p && (quoted ? *p != '"' : !strchr(BLANK ",", *p)); p++) {
                if (quoted && *p == '\\' && p[1])
                        p++;
                if (n + 1 >= room)
                        return NULL;
                ret[n++] = *p;
        }
        ret[n] = 0;
        if (quoted && *p != '"')
                return NULL;
        return p + quoted;
}

static const char *read_parameter(const char *p, Challenge *ret) {
        const struct {
                const char *name;
                char *to;
                size_t room;
        } known[] = {
                { "realm",   ret->realm,   sizeof(ret->realm)   },
                { "service", ret->service, sizeof(ret->service) },
                { "scope",   ret->scope,   sizeof(ret->scope)   },
        };
        char ignored[1024];
        size_t n = strcspn(p, "=," BLANK);
        const char *value = p + n + strspn(p + n, BLANK);

        if (n == 0 || *value != '=')
                return NULL;
        value++;
        value += strspn(value, BLANK);
        for (size_t i = 0; i < ELEMENTSOF(known); i++)
                if (strlen(known[i].name) == n && strncasecmp(p, known[i].name, n) == 0)
                        return challenge_read_value(value, known[i].to, known[i].room);
        return challenge_read_value(value, ignored, sizeof(ignored));
}

int challenge_parse(const char *text, Challenge *ret) {
        static const struct {
                const char *name;
                ChallengeScheme scheme;
        } schemes[] = { { "Basic", CHALLENGE_BASIC }, { "Bearer", CHALLENGE_BEARER } };
        const char *p = text + strspn(text, BLANK);
        size_t n = strcspn(p, BLANK);

        *ret = (Challenge) { 0 };
        for (size_t i = 0; i < ELEMENTSOF(schemes); i++)
                if (strlen(schemes[i].name) == n && strncasecmp(p, schemes[i].name, n) == 0)
                        ret->scheme = schemes[i].scheme;
        if (ret->scheme == CHALLENGE_UNKNOWN)
                return n == 0 ? -EBADMSG : 0;
        for (p += n; p && *(p += strspn(p, BLANK ","));)
                p = read_parameter(p, ret);
        return p ? 0 : -EBADMSG;
}
