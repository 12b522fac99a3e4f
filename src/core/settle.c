#include "core/settle.h"

#include <stddef.h>

#include "base/macro.h"

#define ROUNDS_MAX 4 /* opening a door may begin new work; what is left then waits for the next turn */

#define SETTLE_APPEND(list, item)                \
        do {                                     \
                typeof(list) *end_ = &(list);    \
                                                 \
                while (*end_)                    \
                        end_ = &(*end_)->next;   \
                (item)->next = NULL;             \
                *end_ = (item);                  \
        } while (false)

#define SETTLE_REMOVE(list, item)                                            \
        for (typeof(list) *at_ = &(list); *at_; at_ = &(*at_)->next)         \
                if (*at_ == (item)) {                                        \
                        *at_ = (item)->next;                                 \
                        break;                                               \
                }

void settle_add_writer(Settle *s, SettleWriter *w) {
        SETTLE_APPEND(s->writers, w);
}

void settle_remove_writer(Settle *s, SettleWriter *w) {
        SETTLE_REMOVE(s->writers, w);
}

void settle_add_door(Settle *s, SettleDoor *d) {
        SETTLE_APPEND(s->doors, d);
}

void settle_remove_door(Settle *s, SettleDoor *d) {
        SETTLE_REMOVE(s->doors, d);
}

void settle_mark(Settle *s) {
        s->unwritten = true;
}

bool settle_held(const Settle *s) {
        return s && s->unwritten;
}

void settle_wait(SettleDoor *d) {
        d->waits = true;
}

static void settle_open(SettleDoor *d) {
        if (!d->waits)
                return;
        d->waits = false;
        d->open(d->userdata);
}

/* A writer may mark: an audit log that cannot be written makes an event, which is a row. */
void settle_now(Settle *s) {
        if (!settle_held(s) || s->writing)
                return;
        s->writing = true;
        for (unsigned i = 0; i < ROUNDS_MAX && s->unwritten; i++) {
                s->unwritten = false;
                for (SettleWriter *w = s->writers; w; w = w->next)
                        w->write(w->userdata);
        }
        s->writing = false;
        for (SettleDoor *d = s->doors; d; d = d->next)
                if (d->first)
                        settle_open(d);
}

static bool settle_door_waits(const Settle *s) {
        for (const SettleDoor *d = s->doors; d; d = d->next)
                if (d->waits)
                        return true;
        return false;
}

bool settle_pends(const Settle *s) {
        return s->unwritten || settle_door_waits(s);
}

void settle_end(Settle *s) {
        for (unsigned i = 0; i < ROUNDS_MAX && settle_pends(s); i++) {
                settle_now(s);
                for (SettleDoor *d = s->doors; d; d = d->next) {
                        settle_now(s); /* the door before may have begun something */
                        settle_open(d);
                }
        }
}
