/* notify.h: getting the news of alerts to people: Slack, PagerDuty, any webhook, mail, the log.
 *
 * Which channel gets what is the configuration's, by severity. A message is written to the store before it is sent and stays there
 * until it was delivered or given up, so that a restart loses none. Each channel has one message under way at a time: what fired is
 * told before what resolved. Attempts, pauses and the number that waits are bounded (delivery.h, alerts.maxQueued: the oldest go,
 * counted); a channel that is down holds up nothing but itself.
 * Must not know: rules, thresholds, when something is told: a message is a severity, a word for what happened, and JSON. */
#pragma once

#include "config/config.h"
#include "json/json.h"
#include "observe/alert-engine.h"
#include "observe/metric.h"
#include "outbound/outbound.h"

typedef struct Notify Notify;

/* settings: looked through each time. What waits in the store is sent as soon as the loop runs. */
int notify_new(sd_event *event, Store *store, Outbound *outbound, Observe *observe, const Config *const *settings, Notify **ret, Error *reterr);
Notify *notify_free(Notify *n);

/* once: nobody waits for its end, so that only those are told of it who keep incidents open. Borrows the alert. */
void notify_send(Notify *n, AlertSeverity severity, AlertNews news, bool once, json_t *alert);

/* One message to one channel, tried once. -ENOENT: no such channel. 1: was delivered already; 0: done will be called, never before
 * the call returns. */
typedef struct NotifyTest NotifyTest;
typedef void (*NotifyTested)(int r, const char *text, void *userdata);
int notify_test(Notify *n, const char *channel, NotifyTested done, void *userdata, NotifyTest **ret, Error *reterr);
void notify_test_forget(NotifyTest *t); /* done is not called any more */

/* Every channel: where it goes (without secrets), how it does. */
json_t *notify_channels_json(Notify *n);
