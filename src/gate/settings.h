/* settings.h: what coved wants of one sandbox, read from JSON and checked, not yet in force.
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
void gate_settings_done(GateSettings *s);
size_t gate_settings_size(const GateSettings *s); /* that they take of the gate's memory, where it is much */

/* A list that a message may have; null is one, too. */
int gate_list_check(json_t *list, const char *name, const char *items, size_t max, Error *reterr);
/* One more rule, object or text, to allow. */
int gate_grant_add(EgressGrants *grants, json_t *rule, Error *reterr);
int gate_names_check(json_t *names, Error *reterr);
