/* path-set.h: the path patterns of a list of rules, made ready: one walk along a path says which rules have a pattern that matches it.
 *
 * Patterns are a tenant's, paths a guest's, and whoever asks does so for everybody: no two of them may make this slow. A pattern is what it begins
 * with, what it ends with, and parts between stars. Beginnings and ends are compared; all parts of all patterns are one automaton (Aho and
 * Corasick's), in which a pattern waits for its next part. So a path is walked along once, at as many looks a byte as parts end each other, whatever
 * the number of patterns; and at most twice more where servers could read it differently, for rules that deny.
 *
 * Pure. Must not know: hosts, methods, decisions. Not for two threads at once: a set keeps its notes of a walk. */
#pragma once

#include "policy/egress.h"

/* Of what somebody brings. One that was stored before there were limits works on (egress_policy_check_given()): the size of a policy bounds it. */
#define PATH_PATTERNS_MAX 1024        /* of all rules of a list together */
#define PATH_BYTES_MAX    (32 * 1024) /* likewise */
#define PATH_NESTED_MAX   16          /* parts that end each other: "in", "min", "admin" */

typedef struct PathSet PathSet;

typedef struct PathHits {
        uint64_t words[EGRESS_RULES_ALL / 64]; /* a bit for each rule of the list */
} PathHits;

int path_set_new(const EgressRule *rules, size_t n, PathSet **ret); /* NULL into *ret: no rule has paths */
/* -E2BIG: beyond one of the limits, in words that follow the name of the list. */
int path_set_check(const EgressRule *rules, size_t n, const PathSet *s, Error *reterr);
PathSet *path_set_free(PathSet *s);
size_t path_set_size(const PathSet *s); /* bytes that it takes; NULL: none */

/* path: normalised. A rule that denies is hit by the path in whatever way a server may be made to understand it; and by one so long and odd
 * that nobody can say. */
void path_set_find(const PathSet *s, const char *path, PathHits *ret);

static inline bool path_hits_has(const PathHits *h, size_t rule) {
        return h->words[rule / 64] >> rule % 64 & 1;
}
