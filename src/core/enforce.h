/* enforce.h: the part of a policy that the core and its provider enforce, as plain data.
 *
 * The rules are built into a sandbox and hold whether the daemon lives or not. The rest is checked when an
 * execution is requested, in the one function that all surfaces and agents call.
 * The room that reads policies registers its reader with the manager (Manager.read_policy); without a reader, no
 * sandbox with a policy is made.
 * Must not know: JSON, what policies look like, the network. */
#pragma once

#include "core/manager.h"
#include "wire/rules.h"

#define ENFORCE_LIST_MAX 64
#define ENFORCE_WORKDIR  "/workspace" /* of a sandbox that names none */

typedef struct Enforce {
        Rules rules;
        bool no_environment;      /* executions get only the base environment and the daemon's own variables */
        Strv languages, programs; /* allowed languages, and the programs that run them; empty: all */
        usec_t execution_time_max; /* 0: no limit of its own */
        uint64_t memory_max, total_size_max; /* 0: likewise */
        uint32_t cpu_milli_max;
} Enforce;

void enforce_done(Enforce *e);

/* text: as in SandboxSpec.policy. */
typedef int (*EnforceRead)(const char *text, Enforce *ret, Error *reterr);

/* Reads a policy. NULL or "" gives an empty Enforce. */
int enforce_read(const Manager *m, const char *text, Enforce *ret, Error *reterr);

/* The sandbox's, read once and kept. NULL: the policy cannot be read, so nothing may run. */
const Enforce *sandbox_enforce(Sandbox *sb);
void sandbox_enforce_forget(Sandbox *sb); /* after a change of its policy */

/* The working directory of a sandbox that names none: a writable directory, if there is one. */
const char *enforce_workdir(const Enforce *e);
bool enforce_is_writable(const Enforce *e, const char *path); /* by the rules */

/* Lowers the spec's limits to the policy's maximums, and chooses a working directory if the spec has none. */
int enforce_settle(const Manager *m, SandboxSpec *spec, Error *reterr);

/* -EKEYREJECTED: above a maximum of the policy. */
int enforce_check_limits(const Enforce *e, const SandboxLimits *limits, Error *reterr);

/* Whether two policies have the same rules built into a sandbox. */
bool enforce_built_alike(const Manager *m, const char *a, const char *b);

/* -EKEYREJECTED: environment or timeout; -ENOEXEC: the program is of no allowed language; -EIO: the policy cannot
 * be read. */
int enforce_check_execution(Sandbox *sb, const ExecutionSpec *spec, Error *reterr);
int enforce_check_program(const Enforce *e, const char *program, Error *reterr);
int enforce_check_time(const Enforce *e, usec_t timeout_usec, Error *reterr); /* 0: no limit. -EKEYREJECTED */
bool enforce_language_allowed(const Enforce *e, const char *language);
