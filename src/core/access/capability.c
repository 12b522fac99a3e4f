/* capability.c: the capabilities of each kind of principal, in the only table; routes and the core check it.
 * docs/SECURITY.md shows it, and test/api/principals tries every route with every kind. */

#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "core/access.h"

static const char *const capabilities[_CAPABILITY_MAX] = {
        [MAY_UNSAID]  = "unsaid",
        [MAY_PING]    = "ping",
        [MAY_SEE]     = "see",
        [MAY_OVERSEE] = "oversee",
        [MAY_READ]    = "read",
        [MAY_PORTS]   = "ports",
        [MAY_SEND]    = "send",
        [MAY_WRITE]   = "write",
        [MAY_EXEC]    = "exec",
        [MAY_MANAGE]  = "manage",
        [MAY_NAMES]   = "names",
        [MAY_SECRETS] = "secrets",
        [MAY_ADMIN]   = "admin",
};
const ShapeNames capability_names = SHAPE_WORDS(capabilities);
SHAPE_NAMED(capability_name, capability_from_name, Capability, capability_names);

static const char *const kinds[_PRINCIPAL_MAX] = {
        [PRINCIPAL_NOBODY]   = "nobody",
        [PRINCIPAL_VISITOR]  = "visitor",
        [PRINCIPAL_DOWNLOAD] = "download",
        [PRINCIPAL_UPLOAD]   = "upload",
        [PRINCIPAL_VOLUME]   = "volume",
        [PRINCIPAL_SANDBOX]  = "sandbox",
        [PRINCIPAL_READ_KEY] = "read",
        [PRINCIPAL_USE_KEY]  = "use",
        [PRINCIPAL_ADMIN]    = "admin",
        [PRINCIPAL_DAEMON]   = "daemon",
};

#define BIT(c)    (UINT32_C(1) << (c))
#define LOOK      (BIT(MAY_SEE) | BIT(MAY_READ) | BIT(MAY_PORTS))
#define ALL       ((BIT(_CAPABILITY_MAX) - 1) & ~BIT(MAY_UNSAID))
#define WORK      (BIT(MAY_SEND) | BIT(MAY_WRITE) | BIT(MAY_EXEC))

static const uint32_t may[_PRINCIPAL_MAX] = {
        [PRINCIPAL_NOBODY]   = BIT(MAY_PING),
        [PRINCIPAL_VISITOR]  = BIT(MAY_PING) | BIT(MAY_PORTS) | BIT(MAY_SEND),
        [PRINCIPAL_DOWNLOAD] = BIT(MAY_PING) | BIT(MAY_READ),
        [PRINCIPAL_UPLOAD]   = BIT(MAY_PING) | BIT(MAY_WRITE),
        [PRINCIPAL_VOLUME]   = BIT(MAY_PING) | BIT(MAY_READ) | BIT(MAY_WRITE),
        [PRINCIPAL_SANDBOX]  = BIT(MAY_PING) | LOOK | WORK,
        [PRINCIPAL_READ_KEY] = BIT(MAY_PING) | LOOK | BIT(MAY_OVERSEE) | BIT(MAY_NAMES),
        [PRINCIPAL_USE_KEY]  = BIT(MAY_PING) | LOOK | BIT(MAY_OVERSEE) | BIT(MAY_NAMES) | WORK | BIT(MAY_MANAGE) | BIT(MAY_SECRETS),
        [PRINCIPAL_ADMIN]    = ALL,
        [PRINCIPAL_DAEMON]   = ALL & ~BIT(MAY_SECRETS),
};

const Principal principal_daemon = { .kind = PRINCIPAL_DAEMON };

const char *principal_kind_name(PrincipalKind k) {
        return k >= 0 && k < _PRINCIPAL_MAX ? kinds[k] : NULL;
}

bool principal_may(const Principal *who, Capability c) {
        if (c == MAY_OVERSEE && who->tenant)
                return false;
        return who->kind >= 0 && who->kind < _PRINCIPAL_MAX && c >= 0 && c < _CAPABILITY_MAX && (may[who->kind] & BIT(c));
}

int principal_check(const Principal *who, Capability c, Error *reterr) {
        static const char *const words[_PRINCIPAL_MAX] = {
                [PRINCIPAL_NOBODY]   = "a request without a credential",
                [PRINCIPAL_VISITOR]  = "a link to a port",
                [PRINCIPAL_DOWNLOAD] = "a signature for a file",
                [PRINCIPAL_UPLOAD]   = "a signature for an upload",
                [PRINCIPAL_VOLUME]   = "a volume's token",
                [PRINCIPAL_SANDBOX]  = "a sandbox's own token",
                [PRINCIPAL_READ_KEY] = "a key of scope 'read'",
                [PRINCIPAL_USE_KEY]  = "a key of scope 'use'",
                [PRINCIPAL_DAEMON]   = "a text of a template, a build or a task's name",
        };

        if (principal_may(who, c))
                return 0;
        return error_set(reterr, -EPERM, "%s does not have the right '%s': use a key of scope '%s'", words[who->kind] ? words[who->kind] : "this", capability_name(c),
                        scope_name(capability_scope(c)));
}

bool principal_sees(const Principal *who, const char *tenant) {
        if (who->sandbox || who->kind < PRINCIPAL_READ_KEY)
                return false;
        return !who->tenant || strcmp(who->tenant, tenant ? tenant : "") == 0;
}

Scope capability_scope(Capability c) {
        Scope s = SCOPE_READ;

        while (s < SCOPE_ADMIN && !principal_may(&(Principal) { .kind = principal_of_scope(s) }, c))
                s++;
        return s;
}
