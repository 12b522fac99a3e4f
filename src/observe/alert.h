/* alert.h: alerts: what is wrong now, was told to whom, and who takes care.
 *
 * Looks at the signals every alerts.interval, lets the engine decide (alert-engine.h) and notify send (notify.h). Other rooms raise
 * what no signal says with alerts_raise(). Hangs in the core as a CoreObserver for the events `timeout` and `stuck`.
 * Every function takes NULL alerts: then nothing is done.
 * Must not know: HTTP, how signals are measured. */
#pragma once

#include "core/manager.h"
#include "json/json.h"
#include "observe/alert-rules.h"
#include "observe/notify.h"
#include "observe/observe.h"
#include "observe/signal.h"

typedef struct Alerts Alerts;

/* observe: where the signals come from, and where alerts and deliveries are counted; stays the caller's. */
int alerts_new(Manager *m, Outbound *outbound, Observe *observe, Alerts **ret, Error *reterr);
Alerts *alerts_free(Alerts *a);

/* Something happened. name: of an EVENT in alert-rules.def, or a new one; the configuration may change its severity or switch it off.
 * context: a JSON object as text, or NULL; its sandboxId tells events of the same name apart. Cheap enough for any path that writes
 * the store anyway. */
void alerts_raise(Alerts *a, const char *name, AlertSeverity severity, const char *context, const char *text);
/* The same for an error of a class, which decides name and severity (alert_rule_of_error). */
void alerts_raise_error(Alerts *a, const char *class, const char *context, const char *text);

/* The newest first. status, severity: NULL: any. "active": firing or acknowledged. -EINVAL: no such word. */
int alerts_list_json(Alerts *a, const char *status, const char *severity, size_t limit, json_t **ret, Error *reterr);
json_t *alerts_active_json(void *alerts); /* firing and acknowledged; as observe_set_alerts() wants it, and has it */
json_t *alerts_get_json(Alerts *a, const char *id); /* NULL: there is none */
json_t *alerts_rules_json(Alerts *a);               /* with what the configuration made of them, and their value now */
/* -ENOENT, -ESTALE: it does not fire. */
int alerts_acknowledge(Alerts *a, const char *id, const char *by, const char *note, json_t **ret, Error *reterr);

Notify *alerts_notify(Alerts *a);
