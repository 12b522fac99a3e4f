#include "core/allowance.h"

#include <errno.h>
#include <stdio.h>

#include "core/enforce.h"
#include "core/manager.h"
#include "core/observer.h"
#include "core/profile.h"
#include "core/settings.h"

static double allowance_seconds(usec_t usec) {
        return (double) usec / (double) USEC_PER_SEC;
}

static bool allowance_is_within(usec_t wanted, usec_t ceiling) {
        return ceiling == 0 || (wanted > 0 && wanted <= ceiling);
}

int allowance_time(const Principal *who, const TimeAsked *asked, usec_t ceiling, const char *whose, usec_t *ret, Error *reterr) {
        char wanted[40] = "no limit";

        if (principal_may_loosen(who) || allowance_is_within(asked->usec, ceiling)) {
                *ret = asked->usec;
                return 0;
        }
        if (!asked->said || asked->lower) {
                *ret = ceiling;
                return 0;
        }
        if (asked->usec > 0)
                (void) snprintf(wanted, sizeof(wanted), "%.15g s", allowance_seconds(asked->usec));
        return error_set(reterr, -EPERM, "%s is more than the %.15g s that %s allows: request that or less, or use a key with the right to loosen limits", wanted,
                        allowance_seconds(ceiling), whose);
}

/* The longest time that one execution in the sandbox may be asked to run; 0: no limit. It is what the profile
 * allows, or what the sandbox was made with if that is longer. */
static usec_t allowance_ceiling(const Sandbox *sb) {
        const Profile *p = sb->spec.profile && *sb->spec.profile ? profile_find(sb->manager->settings, sb->spec.profile) : NULL;
        usec_t own = sb->spec.limits.exec_timeout_usec, everybody;

        if (own == 0)
                return 0;
        if (p)
                return p->limits.exec_timeout_usec == 0 ? 0 : MAX_OF(p->limits.exec_timeout_usec, own);
        everybody = core_settings(sb->manager->settings).ceilings->exec_timeout_usec;
        return everybody == 0 ? 0 : MAX_OF(everybody, own);
}

/* The limit of the caller's own profile counts in every sandbox, also in one that another caller made. */
static usec_t allowance_bound(const Sandbox *sb, const Principal *who, usec_t ceiling) {
        const Profile *p = who->profile ? profile_find(sb->manager->settings, who->profile) : NULL;
        usec_t own = p ? p->limits.exec_timeout_usec : 0;

        return own > 0 && (ceiling == 0 || own < ceiling) ? own : ceiling;
}

/* Without a readable policy nothing runs; the start of the execution reports that. */
static int allowance_policy(Sandbox *sb, const TimeAsked *asked, usec_t *time, Error *reterr) {
        const Enforce *e = sandbox_enforce(sb);
        Error error = { 0 };
        int r;

        if (!e || allowance_is_within(*time, e->execution_time_max))
                return 0;
        if (!asked->said || asked->lower) {
                *time = e->execution_time_max;
                return 0;
        }
        r = enforce_check_time(e, *time, &error);
        observe_security(sb->manager, "policy", sb, "%s", error.text);
        return error_set(reterr, r, "%s", error.text);
}

/* A limit that the creator has set holds; the built-in default is for a command that a caller waits for. */
static usec_t allowance_open(const Sandbox *sb) {
        usec_t own = sb->spec.limits.exec_timeout_usec;

        return own == SANDBOX_EXEC_TIMEOUT_DEFAULT ? 0 : own;
}

int sandbox_execution_time(Sandbox *sb, const Principal *who, const TimeAsked *asked, usec_t *ret, Error *reterr) {
        const TimeAsked open = { .usec = allowance_open(sb) };
        usec_t time, of_sandbox = allowance_ceiling(sb), ceiling = allowance_bound(sb, who, of_sandbox);
        const char *profile = ceiling != of_sandbox ? who->profile : sb->spec.profile;
        char whose[PROFILE_NAME_MAX + sizeof("profile ''")] = "ceilings.executionTime of cove.yaml";
        int r;

        if (asked->open && !asked->said)
                asked = &open;
        if (profile && *profile)
                (void) snprintf(whose, sizeof(whose), "profile '%.*s'", PROFILE_NAME_MAX, profile);
        r = allowance_time(who, asked, ceiling, whose, &time, reterr);
        if (r >= 0)
                r = allowance_policy(sb, asked, &time, reterr);
        if (r >= 0)
                *ret = time;
        return r;
}
