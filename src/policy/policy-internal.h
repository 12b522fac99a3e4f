/* policy-internal.h: what the readers of the whole object share. */
#pragma once

#include "policy/internal.h"
#include "policy/policy.h"

typedef struct WholeReader {
        PolicyReader reader;
        const char *prefix;
        bool stored; /* policy_parse_stored() */
        Policy policy;
} WholeReader;

/* The seeds' words for the network, as the "network" object that they mean; NULL: none of them is there. Complaints are about their own
 * places. */
json_t *policy_aliases_to_network(WholeReader *w, json_t *object);
bool policy_is_network_alias(const char *key);
/* What complains about the object that was made of them, is about them. */
int policy_aliases_translate(WholeReader *w, json_t *object, JsonComplaints *from);

void policy_read_credentials(void *reader, const char *position, json_t *v);
void policy_check_credentials(WholeReader *w);
void policy_read_paths(WholeReader *w, const char *position, json_t *v, Strv *ret);
void policy_check_paths(WholeReader *w, const char *writable);
