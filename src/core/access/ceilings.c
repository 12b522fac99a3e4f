#include "core/allowance.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "core/admission.h"
#include "core/limits.h"
#include "core/settings.h"

#define DISK_SHARE 4 /* that many disks of the default size fit into a quota */

static uint32_t machine_cpu_milli(void) {
        long n = sysconf(_SC_NPROCESSORS_ONLN);

        return n > 0 ? (uint32_t) n * 1000 : 1000;
}

void allowance_ceilings(const Manager *m, SandboxLimits *ret) {
        *ret = *core_settings(m->settings).ceilings;
        if (ret->memory_bytes == 0)
                ret->memory_bytes = machine_memory_bytes();
        if (ret->cpu_milli == 0)
                ret->cpu_milli = machine_cpu_milli();
}

/* The profile whose limits hold for the spec; NULL: none. */
static const Profile *ceilings_profile(const Manager *m, const Principal *who, const SandboxSpec *spec) {
        bool is_named = spec->profile && *spec->profile;
        const char *name = is_named ? spec->profile : who->profile ? who->profile : core_settings(m->settings).limits->profile;

        return *name ? profile_find(m->settings, name) : NULL;
}

/* A limit of all cores of the machine counts as no limit on cores. */
static void ceilings_of(const Manager *m, const Principal *who, const SandboxSpec *spec, const Profile *p, SandboxLimits *ret) {
        if (p && !principal_may_loosen(who))
                *ret = p->limits;
        else
                allowance_ceilings(m, ret);
        if (p)
                limits_raise(ret, &p->limits);
        if (spec->limits.cpu_milli == 0 && ret->cpu_milli >= machine_cpu_milli())
                ret->cpu_milli = 0;
}

static int ceilings_refuse_other(const Principal *who, const char *named, Error *reterr) {
        return error_set(reterr, -EPERM, "this key is bound to profile '%s' and cannot use profile '%.*s': omit the profile, or use a key with the right to loosen limits",
                        who->profile, PROFILE_NAME_MAX, named && *named ? named : "none");
}

static int ceilings_refuse_gone(const char *name, Error *reterr) {
        return error_set(reterr, -EPERM, "the configuration has no profile '%s', to which this key is bound: ask the operator", name);
}

static bool ceilings_is_bound(const Principal *who) {
        return who->profile && !principal_may_loosen(who);
}

/* The profile whose policy the caller has to take; NULL: any policy is allowed. If the sandbox's profile has no
 * policy, the policy of the profile that the caller is bound to holds. */
static const Profile *ceilings_policy(const Manager *m, const Principal *who, const SandboxSpec *spec) {
        const Profile *p = ceilings_profile(m, who, spec);

        if (principal_may_loosen(who))
                return NULL;
        if (!(p && p->policy) && who->profile)
                p = profile_find(m->settings, who->profile);
        return p && p->policy ? p : NULL;
}

int allowance_profile(const Manager *m, const Principal *who, const char *named, const Profile **ret, Error *reterr) {
        const char *fallback = principal_may(who, MAY_ADMIN) ? "" : core_settings(m->settings).limits->profile;
        const char *name = named && *named ? named : who->profile ? who->profile : fallback;
        const Profile *p = *name ? profile_find(m->settings, name) : NULL;

        if (ceilings_is_bound(who) && strcasecmp(name, who->profile) != 0)
                return ceilings_refuse_other(who, named, reterr);
        if (*name && !p && !(named && *named))
                return ceilings_refuse_gone(name, reterr);
        if (*name && !p)
                return profile_unknown(m->settings, name, reterr);
        *ret = p;
        return 0;
}

static int ceilings_check_policy(const Manager *m, const Principal *who, const SandboxSpec *spec, Error *reterr) {
        const Profile *p = ceilings_policy(m, who, spec);

        if (!p || (spec->policy && strcmp(spec->policy, p->policy) == 0))
                return 0;
        return error_set(reterr, -EPERM, "policy: profile '%s' has one, and the sandbox would have %s: omit the policy, or use a key with the right to loosen limits", p->name,
                        spec->policy ? "another" : "none");
}

int allowance_take_policy(const Manager *m, const Principal *who, SandboxSpec *spec) {
        const Profile *p = ceilings_policy(m, who, spec);

        return p ? profile_take_policy(p, spec) : 0;
}

int allowance_check_policy_change(const Manager *m, const Principal *who, const SandboxSpec *spec, Error *reterr) {
        const Profile *p = ceilings_policy(m, who, spec);

        if (ceilings_is_bound(who) && !profile_find(m->settings, who->profile))
                return ceilings_refuse_gone(who->profile, reterr);
        if (!p)
                return 0;
        return error_set(reterr, -EPERM, "the policy is that of profile '%s': only a key with the right to loosen limits can change it", p->name);
}

int allowance_check(const Manager *m, const Principal *who, const SandboxSpec *spec, Error *reterr) {
        const Profile *p = ceilings_profile(m, who, spec);
        SandboxLimits ceiling;
        int r;

        if (principal_may(who, MAY_ADMIN))
                return 0;
        if (ceilings_is_bound(who) && (!spec->profile || strcasecmp(spec->profile, who->profile) != 0))
                return ceilings_refuse_other(who, spec->profile, reterr);
        if (ceilings_is_bound(who) && !p)
                return ceilings_refuse_gone(who->profile, reterr);
        r = ceilings_check_policy(m, who, spec, reterr);
        if (r < 0)
                return r;
        ceilings_of(m, who, spec, p, &ceiling);
        r = limits_check(&spec->limits, &ceiling, reterr);
        if (r >= 0)
                return 0;
        if (p && !principal_may_loosen(who))
                return error_suffix(reterr, r, ", which is what profile '%s' allows: request that or less, choose another profile, or use a key with the right to loosen limits",
                                p->name);
        return error_suffix(reterr, r, ", which is the most that a key may ask for here: request that or less, or raise 'ceilings' in cove.yaml");
}

uint64_t allowance_disk(const Manager *m, const Principal *who, uint64_t usual) {
        const Tenant *t = who->tenant ? access_tenant(m->access, who->tenant) : NULL;
        uint64_t share = t ? t->disk_bytes_max / DISK_SHARE : 0;

        return share > 0 ? MIN_OF(usual, share) : usual;
}

void allowance_lower(const Manager *m, const Principal *who, SandboxSpec *spec) {
        SandboxLimits ceiling;

        if (principal_may(who, MAY_ADMIN))
                return;
        ceilings_of(m, who, spec, ceilings_profile(m, who, spec), &ceiling);
        limits_lower(&spec->limits, &ceiling);
}
