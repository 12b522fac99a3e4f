/* allowance.h: the most that a caller may ask for, by one rule for every surface.
 *
 * A ceiling is that of a profile: the one that the caller's key or tenant is bound to, else the one that the request names, else limits.profile
 * of cove.yaml. Where there is none, `ceilings` of cove.yaml holds, which has a number for every limit, also when nothing is configured. Who is bound
 * uses that profile and no other. A key that may loosen gets beyond a profile, up to the larger of both; an admin gets everything.
 * What the caller has named beyond the ceiling is refused; what nobody named is lowered to it. A dialect whose clients send a time by themselves says
 * so, and has that lowered as well. A profile's policy is a ceiling too, and two policies cannot be said to be tighter or looser than each other: who may not loosen
 * has that one and no other, however the sandbox comes to be. The maximum of a policy (enforce.h) holds for everybody, also for those who may loosen.
 * manager_acquire() asks for every sandbox, so that no way to one goes around it.
 * Must not know: HTTP, which surface asks. */
#pragma once

#include "core/access.h"
#include "core/profile.h"
#include "core/sandbox.h"

/* What holds for a caller without a profile: as configured, and by the machine where that is 0. */
void allowance_ceilings(const Manager *m, SandboxLimits *ret);

/* The profile that is to be applied to a request which names `named` (NULL: none); *ret NULL: none. -EPERM: the caller is bound to another one, or
 * to one that the configuration has no more. -EINVAL: there is none of that name. */
int allowance_profile(const Manager *m, const Principal *who, const char *named, const Profile **ret, Error *reterr);

/* The whole rule about limits and the policy. -EPERM: the error says which is beyond, with both values and the cure. */
int allowance_check(const Manager *m, const Principal *who, const SandboxSpec *spec, Error *reterr);

/* Limits that nobody named, of the spec's profile or of none, become what the caller may have. */
void allowance_lower(const Manager *m, const Principal *who, SandboxSpec *spec);

/* A policy that nobody named (a fork has that of its base) becomes the profile's, where the caller has to take that. */
int allowance_take_policy(const Manager *m, const Principal *who, SandboxSpec *spec);

/* Of a sandbox that is there already. -EPERM: it is not this caller's to change. */
int allowance_check_policy_change(const Manager *m, const Principal *who, const SandboxSpec *spec, Error *reterr);

typedef struct TimeAsked {
        usec_t usec; /* 0: no limit */
        bool said;   /* by the caller; else it is what such an execution has when nobody says anything */
        bool open;   /* of one that goes on by itself or waits for a person: nobody's word is no limit, and not the default of others */
        bool lower;  /* on excess: lower it, and do not refuse */
} TimeAsked;

/* By a ceiling alone; 0: there is none. whose: "profile 'small'", for the sentence. -EPERM: beyond it. */
int allowance_time(const Principal *who, const TimeAsked *asked, usec_t ceiling, const char *whose, usec_t *ret, Error *reterr);

/* Of an execution in the sandbox, by its profile, the caller's, and the sandbox's policy. -EPERM: beyond a profile; -EKEYREJECTED: beyond the policy. */
int sandbox_execution_time(Sandbox *sb, const Principal *who, const TimeAsked *asked, usec_t *ret, Error *reterr);
