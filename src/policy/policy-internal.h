/* policy-internal.h: shared by the files that read the whole policy object. */
#pragma once

#include "policy/internal.h"
#include "policy/policy.h"

typedef struct WholeReader {
        PolicyReader reader;
        const char *prefix;
        bool stored; /* policy_parse_stored() */
        Policy policy;
} WholeReader;

/* Translates the alias fields for the network to the "network" object that they mean. NULL: none is present.
 * Complaints refer to the alias fields. */
json_t *policy_aliases_to_network(WholeReader *w, json_t *object);
bool policy_is_network_alias(const char *key);
/* Errors in the translated object are reported against the alias that the caller wrote. */
int policy_aliases_translate(WholeReader *w, json_t *object, JsonComplaints *from);

void policy_read_credentials(void *reader, const char *position, json_t *v);
void policy_check_credentials(WholeReader *w);
void policy_read_paths(WholeReader *w, const char *position, json_t *v, Strv *ret);
void policy_check_paths(WholeReader *w, const char *writable);
