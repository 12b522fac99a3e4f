/* notify-internal.h: shared by the files of notify. */
#pragma once

#include "observe/notify.h"
#include "outbound/delivery.h"
#include "observe/alert-rows.h"

#define NOTIFY_FAILED_MAX 100 /* messages that were given up and stay in the store, for operators to see */

/* One message for one channel. */
typedef struct Post {
        StoreNotification row;
        struct Channel *channel;
        struct Post *prev, *next;
} Post;

/* State of a channel, by name: it survives a change of the configuration. */
typedef struct Channel {
        Notify *notify;
        char name[CONFIG_NAME_MAX + 1];
        Post *posts; /* the oldest first */
        uint64_t n_waiting, delivered, failed, dropped;
        bool busy; /* the first post is being sent */
        char last_error[256];
        usec_t last_error_at, last_delivered_at; /* wall clock */
        struct Channel *prev, *next;
} Channel;

struct Notify {
        Store *store;
        const Config *const *settings;
        Deliveries *deliveries;
        Channel *channels;
        Post *failed; /* the oldest first */
        unsigned n_failed;
        uint64_t n_waiting, last_id;
        char host[256];
        Observe *observe;
        sd_event_source *wake; /* starts to send what the store has */
        NotifyTest *tests;
};

static inline const AlertsConfig *notify_config(const Notify *n) {
        return &(*n->settings)->alerts;
}

const ChannelConfig *notify_channel_config(const Notify *n, const char *name); /* NULL: not configured, which "log" need not be */
Channel *notify_channel(Notify *n, const char *name);                         /* creates it if there is none; NULL: no memory */
json_t *notify_message(const Notify *n, AlertNews news, json_t *alert);

/* Sends a message, in at most so many attempts. */
int notify_deliver(Notify *n, const ChannelConfig *k, json_t *message, uint64_t number, unsigned attempts, DeliveryDone done,
                void *userdata, Error *reterr);
void notify_log(json_t *message);
void notify_post_free(Post *p);
