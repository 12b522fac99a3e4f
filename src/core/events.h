/* events.h: the log of a sandbox's events, for /logs and for people. Bounded per sandbox: the oldest are removed. */
#pragma once

#include "core/manager.h"

typedef struct StoreEvent {
        uint64_t serial; /* grows; never used twice; given by the store */
        usec_t at;       /* wall clock */
        const char *sandbox_id, *type, *execution_id /* may be NULL */, *text /* may be NULL */;
} StoreEvent;

/* In order, the events after that serial and not before `since`; return < 0 to stop. */
int sandbox_event_each(const Manager *m, const char *sandbox_id, uint64_t after_serial, usec_t since,
                int (*each)(const StoreEvent *event, void *userdata), void *userdata);
