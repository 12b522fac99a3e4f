/* allowance.h: the most that a caller may request; one rule for every surface.
 *
 * The ceiling is a profile: the one that the caller's key or tenant is bound to, else the one that the request
 * names, else limits.profile of cove.yaml. Without a profile, `ceilings` of cove.yaml applies, which has a number
 * for every limit, also when nothing is configured. A bound caller can use no other profile. A key that may loosen
 * can exceed the profile, up to the larger of profile and `ceilings`; an admin may request everything.
 * A value above the ceiling is refused if the caller named it, and lowered to the ceiling if not. A dialect whose
 * clients send a timeout on their own says so, and has it lowered as well.
 * A profile's policy is a ceiling too. Two policies cannot be compared, so a caller that may not loosen gets
 * exactly this policy, however its sandbox is made. The maximum of a policy (enforce.h) applies to every caller,
 * also to those that may loosen.
 * manager_acquire() checks every sandbox, so no way to a sandbox bypasses this.
 * Must not know: HTTP, which surface asks. */
#pragma once

#include "core/access.h"
#include "core/profile.h"
#include "core/sandbox.h"

/* The ceilings of a caller without a profile: as configured; memory and CPUs that are 0 there are the machine's. */
void allowance_ceilings(const Manager *m, SandboxLimits *ret);

/* The profile to apply to a request that names `named` (NULL: none); *ret NULL: none. -EPERM: the caller is bound
 * to another profile, or to one that the configuration no longer has. -EINVAL: there is no such profile. */
int allowance_profile(const Manager *m, const Principal *who, const char *named, const Profile **ret, Error *reterr);

/* Checks the limits and the policy of the spec. -EPERM: the error names the limit, both values and the cure. */
int allowance_check(const Manager *m, const Principal *who, const SandboxSpec *spec, Error *reterr);

/* Lowers limits that the caller has not named, of the spec's profile or of none, to what the caller may have. */
void allowance_lower(const Manager *m, const Principal *who, SandboxSpec *spec);

/* The size of a disk or volume that the caller has not named: `usual`, but a quarter of the tenant's disk quota at most, which counts limits. */
uint64_t allowance_disk(const Manager *m, const Principal *who, uint64_t usual);

/* Replaces a policy that the caller has not named (a fork has its base's) by the profile's, if the caller must use
 * that. */
int allowance_take_policy(const Manager *m, const Principal *who, SandboxSpec *spec);

/* For an existing sandbox. -EPERM: this caller may not change the policy. */
int allowance_check_policy_change(const Manager *m, const Principal *who, const SandboxSpec *spec, Error *reterr);

typedef struct TimeAsked {
        usec_t usec; /* 0: no limit */
        bool said;   /* the caller has named it; else it is the default of such an execution */
        bool open;   /* of an execution that runs on its own or waits for a person: unless named, it has no limit instead of the built-in default */
        bool lower;  /* on excess: lower it instead of refusing */
} TimeAsked;

/* Checks against one ceiling; 0: none. whose: "profile 'small'", for the error. -EPERM: above it. */
int allowance_time(const Principal *who, const TimeAsked *asked, usec_t ceiling, const char *whose, usec_t *ret, Error *reterr);

/* The timeout of an execution in the sandbox, by the sandbox's profile, the caller's profile, and the sandbox's
 * policy. -EPERM: above a profile's; -EKEYREJECTED: above the policy's. */
int sandbox_execution_time(Sandbox *sb, const Principal *who, const TimeAsked *asked, usec_t *ret, Error *reterr);
