/* settings.h: coved's settings for one sandbox, parsed from JSON and checked, but not in force yet.
 *
 * Must not know: sockets, the loop. */
#pragma once

#include "gate/gate.h"

typedef struct GateSettings {
        EgressPolicy policy;
        EgressGrants grants;
        json_t *names;
        struct Credentials *credentials;
        uint64_t used_bytes;
} GateSettings;

int gate_settings_read(const Gate *g, json_t *message, GateSettings *ret, Error *reterr);
/* Reads the members "network" and "packages" only. g may be NULL: no special address is reachable then. */
int gate_settings_read_policy(const Gate *g, json_t *message, EgressPolicy *ret, Error *reterr);
void gate_settings_done(GateSettings *s);
size_t gate_settings_size(const GateSettings *s); /* bytes of the gate's memory that they use, large items only */

/* Checks an optional list of a message; null is accepted. */
int gate_list_check(json_t *list, const char *name, const char *items, size_t max, Error *reterr);
/* Adds an allow rule, an object or text. */
int gate_grant_add(EgressGrants *grants, json_t *rule, Error *reterr);
int gate_names_check(json_t *names, Error *reterr);
