/* enforce.h: what of a policy the core and its provider hold a sandbox to, as plain data.
 *
 * What is built into a sandbox (rules) holds whether the daemon lives or not. The rest is looked at when an execution is asked for: at the
 * one door that all surfaces and agents come through.
 * Who reads policies is told to the manager; a sandbox that has a policy is not made while nobody can read it.
 * Must not know: JSON, what policies look like, the network. */
#pragma once

#include "core/manager.h"
#include "wire/rules.h"

#define ENFORCE_LIST_MAX 64
#define ENFORCE_WORKDIR  "/workspace" /* of a sandbox that names none */

typedef struct Enforce {
        Rules rules;
        bool no_environment;      /* executions have the base environment, and whatever the daemon itself brings */
        Strv languages, programs; /* allowed ones, and what runs them; none: all */
        usec_t execution_time_max; /* 0: no limit of its own */
        uint64_t memory_max, total_size_max; /* 0: likewise */
        uint32_t cpu_milli_max;
} Enforce;

void enforce_done(Enforce *e);

/* text: as in SandboxSpec.policy. */
typedef int (*EnforceRead)(const char *text, Enforce *ret, Error *reterr);

/* NULL text, or one that says nothing of this: an empty one. */
int enforce_read(const Manager *m, const char *text, Enforce *ret, Error *reterr);

/* The sandbox's, read once. NULL: it cannot be read, and nothing may be done. */
const Enforce *sandbox_enforce(Sandbox *sb);
void sandbox_enforce_forget(Sandbox *sb); /* its policy is another one now */

/* Where a sandbox that names no working directory has it: somewhere writable, if anything is. */
const char *enforce_workdir(const Enforce *e);
bool enforce_is_writable(const Enforce *e, const char *path); /* by the rules */

/* What nobody asked for becomes what is allowed; a working directory is chosen. */
int enforce_settle(const Manager *m, SandboxSpec *spec, Error *reterr);

/* -EKEYREJECTED: beyond a maximum. */
int enforce_check_limits(const Enforce *e, const SandboxLimits *limits, Error *reterr);

/* Whether two policies build the same sandbox. */
bool enforce_built_alike(const Manager *m, const char *a, const char *b);

/* -EKEYREJECTED: environment or time; -ENOEXEC: a program of no language that is allowed. */
int enforce_check_execution(Sandbox *sb, const ExecutionSpec *spec, Error *reterr);
int enforce_check_program(const Enforce *e, const char *program, Error *reterr);
int enforce_check_time(const Enforce *e, usec_t timeout_usec, Error *reterr); /* 0: no limit. -EKEYREJECTED */
bool enforce_language_allowed(const Enforce *e, const char *language);
