/* path-set.h: the path patterns of a list of rules, compiled: one walk along a path tells which rules have a
 * matching pattern.
 *
 * Patterns come from a tenant, paths from a guest, and the gate matches them in a thread that serves all
 * sandboxes: no combination of both may make this slow. A pattern consists of a head, a tail, and parts
 * between stars. Heads and tails are compared directly. All parts of all patterns form one Aho-Corasick
 * automaton, in which a pattern waits for its next part. So a path is walked once, at a cost per byte that
 * depends on how many parts are suffixes of each other, not on the number of patterns. For deny rules there
 * are at most two more walks, if servers could read the path differently.
 *
 * Pure. Must not know: hosts, methods, decisions. Not thread-safe: a set keeps the state of a walk. */
#pragma once

#include "policy/egress.h"

/* Limits for newly set policies. A policy that was stored before they existed still applies
 * (egress_policy_check_given()); it is bounded by the policy's size. */
#define PATH_PATTERNS_MAX 1024        /* of all rules of a list */
#define PATH_BYTES_MAX    (32 * 1024) /* likewise */
#define PATH_NESTED_MAX   16          /* parts that are suffixes of each other: "in", "min", "admin" */

typedef struct PathSet PathSet;

typedef struct PathHits {
        uint64_t words[EGRESS_RULES_ALL / 64]; /* a bit for each rule of the list */
} PathHits;

int path_set_new(const EgressRule *rules, size_t n, PathSet **ret); /* *ret NULL: no rule has paths */
/* -E2BIG: a limit is exceeded; the message follows the name of the list. */
int path_set_check(const EgressRule *rules, size_t n, const PathSet *s, Error *reterr);
PathSet *path_set_free(PathSet *s);
size_t path_set_size(const PathSet *s); /* bytes of memory; NULL: 0 */

/* path: normalised. A deny rule matches if the path matches in any form that a server could read it in. It
 * also matches a path that is too long and unusual to tell. */
void path_set_find(const PathSet *s, const char *path, PathHits *ret);

static inline bool path_hits_has(const PathHits *h, size_t rule) {
        return h->words[rule / 64] >> rule % 64 & 1;
}
