/* settings.h: what coved wants of one sandbox, read from JSON and checked, not yet in force.
 *
 * Must not know: sockets, the loop. */
#pragma once

#include "gate/gate.h"

typedef struct GateSettings {
        EgressPolicy policy;
        EgressRule *grants;
        size_t n_grants;
        json_t *names;
        struct Credentials *credentials;
        uint64_t used_bytes;
} GateSettings;

int gate_settings_read(const Gate *g, json_t *message, GateSettings *ret, Error *reterr);
void gate_settings_done(GateSettings *s);

/* A list of rules, objects or text, all to allow. */
/* A list that a message may have; null is one, too. */
int gate_list_check(json_t *list, const char *name, const char *items, size_t max, Error *reterr);
int gate_rules_read(json_t *list, EgressRule **ret, size_t *ret_n, Error *reterr);
void gate_rules_free(EgressRule *rules, size_t n);
int gate_names_check(json_t *names, Error *reterr);
