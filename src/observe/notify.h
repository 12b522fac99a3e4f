/* notify.h: sends notifications of alerts to Slack, PagerDuty, any webhook, mail and the log.
 *
 * The configuration routes messages to channels by severity. A message is written to the store before it is sent, and
 * stays there until it is delivered or given up, so that a restart loses none. Each channel sends one message at a
 * time: that an alert fired arrives before that it resolved. Attempts, pauses and the number of waiting messages are
 * bounded (delivery.h, alerts.maxQueued: the oldest are dropped and counted). A channel that is down delays no other.
 * Must not know: rules, thresholds, when to notify: a message is a severity, a word for the event, and JSON. */
#pragma once

#include "config/config.h"
#include "json/json.h"
#include "observe/alert-engine.h"
#include "observe/metric.h"
#include "outbound/outbound.h"

typedef struct Notify Notify;

/* settings: dereferenced at each use. Messages that wait in the store are sent as soon as the loop runs. */
int notify_new(sd_event *event, Store *store, Outbound *outbound, Observe *observe, const Config *const *settings, Notify **ret, Error *reterr);
Notify *notify_free(Notify *n);

/* once: the alert is an event, so that its resolution goes only to channels that keep incidents open (PagerDuty).
 * Borrows the alert. */
void notify_send(Notify *n, AlertSeverity severity, AlertNews news, bool once, json_t *alert);

/* Sends a test message to one channel, in one attempt. -ENOENT: no such channel. 1: it is delivered already (the log).
 * 0: done will be called, never before the call returns. */
typedef struct NotifyTest NotifyTest;
typedef void (*NotifyTested)(int r, const char *text, void *userdata);
int notify_test(Notify *n, const char *channel, NotifyTested done, void *userdata, NotifyTest **ret, Error *reterr);
void notify_test_forget(NotifyTest *t); /* done is not called any more */

/* Every channel: its target (without secrets) and its state. */
json_t *notify_channels_json(Notify *n);
