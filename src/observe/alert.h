/* alert.h: alerts: current problems, their notifications and acknowledgements.
 *
 * Evaluates the signals every alerts.interval; the engine decides (alert-engine.h), and notify sends (notify.h). Other
 * rooms report problems that no signal measures with alerts_raise(). Registers with the core as a CoreObserver and
 * raises the events `timeout` and `stuck`.
 * alerts_raise(), alerts_raise_error(), alerts_active_json() and alerts_free() accept NULL and then do nothing.
 * Must not know: HTTP, how signals are measured. */
#pragma once

#include "core/manager.h"
#include "json/json.h"
#include "observe/alert-rules.h"
#include "observe/notify.h"
#include "observe/observe.h"
#include "observe/signal.h"

typedef struct Alerts Alerts;

/* observe: the source of the signals, and where alerts and deliveries are counted; borrowed. */
int alerts_new(Manager *m, Outbound *outbound, Observe *observe, Alerts **ret, Error *reterr);
Alerts *alerts_free(Alerts *a);

/* Reports an event. name: of an EVENT in alert-rules.def, whose severity the configuration may change and which it may
 * disable, or any other. context: a JSON object as text, or NULL; events of one name with different sandboxId are
 * different alerts. Cheap enough for any path that writes to the store anyway. */
void alerts_raise(Alerts *a, const char *name, AlertSeverity severity, const char *context, const char *text);
/* The same for an error. Its class determines name and severity (alert_rule_of_error()). */
void alerts_raise_error(Alerts *a, const char *class, const char *context, const char *text);

/* Newest first. status, severity: NULL for any; status "active": firing or acknowledged. -EINVAL: unknown word. */
int alerts_list_json(Alerts *a, const char *status, const char *severity, size_t limit, json_t **ret, Error *reterr);
json_t *alerts_active_json(void *alerts); /* firing and acknowledged; the callback of observe_set_alerts() */
json_t *alerts_get_json(Alerts *a, const char *id); /* NULL: unknown id */
json_t *alerts_rules_json(Alerts *a);               /* with the configuration's changes, and their current value */
/* -ENOENT. -ESTALE: the alert is not firing. */
int alerts_acknowledge(Alerts *a, const char *id, const char *by, const char *note, json_t **ret, Error *reterr);

Notify *alerts_notify(Alerts *a);
