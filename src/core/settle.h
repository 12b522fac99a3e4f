/* settle.h: what a turn of the loop has changed is written together, and before anything of it leaves the process.
 *
 * A turn is everything that the loop handles until nothing more is pending, or until it has lasted long enough.
 *
 *      handlers change objects and rows        settle_mark(): there is something to write
 *               │  commands, answers …         settle_wait(): a door is to be opened
 *      end of the turn
 *               ├─ writers, in their order     the store, then the audit log
 *               └─ doors that wait             to PID 1s, then to clients
 *
 * A door is code that sends. Where messages are frequent, it keeps them and waits; where they are rare, it calls settle_now()
 * and sends at once. So nobody is told what a restart would not know, and a hundred commands cost one write. A killed
 * daemon loses a turn of which nobody has heard.
 *
 * A Settle of NULL is one whose writers write at once: settle_held() is false.
 * Must not know: what is written or sent. Knows libc only. */
#pragma once

#include <stdbool.h>

typedef struct SettleWriter {
        void (*write)(void *userdata);
        void *userdata;
        struct SettleWriter *next;
} SettleWriter;

typedef struct SettleDoor {
        void (*open)(void *userdata);
        void *userdata;
        bool first; /* whatever leaves, its messages leave before: an answer says that they have. It only sends, and calls nobody */
        bool waits;
        struct SettleDoor *next;
} SettleDoor;

typedef struct Settle {
        SettleWriter *writers;
        SettleDoor *doors;
        bool unwritten;
        bool writing;
} Settle;

/* Both are called in the order in which they were added. */
void settle_add_writer(Settle *s, SettleWriter *w);
void settle_remove_writer(Settle *s, SettleWriter *w);
void settle_add_door(Settle *s, SettleDoor *d);
void settle_remove_door(Settle *s, SettleDoor *d);

void settle_mark(Settle *s);
bool settle_held(const Settle *s);  /* whether there is something unwritten: nothing may leave */
void settle_wait(SettleDoor *d);    /* opened at the end of the turn. A door that is first: only if settle_held() */

void settle_now(Settle *s);         /* writes, and opens the doors that are first */
bool settle_pends(const Settle *s); /* whether settle_end() has anything to do */
void settle_end(Settle *s);         /* the turn ends: writes, then opens doors */
