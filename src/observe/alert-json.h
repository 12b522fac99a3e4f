/* alert-json.h: alerts and rules as the API and messages show them. */
#pragma once

#include "json/json.h"
#include "observe/alert-engine.h"

json_t *alert_json(const Alert *a);
json_t *alert_rule_json(const AlertRule *rule, double value);
int alert_list_json(AlertEngine *e, const char *status, const char *severity, size_t limit, json_t **ret, Error *reterr);

/* The sandboxId of a context, or "". */
void alert_context_subject(const char *context, char ret[static ALERT_SUBJECT_MAX + 1]);
