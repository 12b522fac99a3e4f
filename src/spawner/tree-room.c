/* tree-room.c: checks the size of the depot repeatedly, resizes it, and reports changes to coved. */

#include <signal.h>
#include <string.h>

#include "base/log.h"
#include "spawner/tree-job.h"

#define MIB         (UINT64_C(1) << 20)
#define GIB         (UINT64_C(1) << 30)
#define RATE        (8 * GIB) /* a writer of that many bytes per second is still served */
#define LOOK_MIN    (20 * USEC_PER_MSEC)
#define LOOK_MAX    USEC_PER_SEC
#define REST_USEC   (10 * USEC_PER_SEC) /* after growing has failed */
#define TOLD_MIN    (16 * MIB)

static unsigned long long mib(uint64_t bytes) {
        return (unsigned long long) (bytes / MIB);
}

void tree_room_begin(Spawner *s) {
        DepotRoom room;

        s->room_due = USEC_INFINITY;
        if (depot_measure(&s->depot, &room) < 0)
                return;
        s->room_due = clock_usec();
        log_notice("depot: %lluM of the disk are reserved for templates, snapshots, disks and volumes; it grows with them to at most %lluM (storage.reserve, storage.size)",
                        mib(room.bytes), mib(room.most_bytes));
}

static bool differs(uint64_t a, uint64_t b, uint64_t by) {
        return (a > b ? a - b : b - a) >= by;
}

static void room_tell(Spawner *s, const DepotRoom *room) {
        const SpawnRoom now = { .bytes = room->bytes, .used_bytes = room->used_bytes, .most_bytes = room->most_bytes };
        uint64_t little = MAX_OF(TOLD_MIN, room->bytes / 100);

        if (now.bytes == s->room_told.bytes && !differs(now.used_bytes, s->room_told.used_bytes, little) &&
                        !differs(now.most_bytes, s->room_told.most_bytes, MAX_OF(little, room->most_bytes / 20)))
                return;
        s->room_told = now;
        spawner_answer(s, &(SpawnMessage) { .type = SPAWN_ROOM, .serial = s->first_serial, .room = now });
}

/* Logged once, until there is space again. */
static void warn_if_full(Spawner *s, const DepotRoom *room) {
        bool full = room->bytes - room->used_bytes < room->margin_bytes / 4;

        if (full && !s->room_full)
                log_warning("depot: nearly full: %lluM of %lluM are used, and it can have at most %lluM (remove what is not needed: cove template gc, cove snapshot rm; "
                            "make room on the disk, or raise storage.size)", mib(room->used_bytes), mib(room->bytes), mib(room->most_bytes));
        s->room_full = full;
}

static bool has_much(const DepotRoom *room) {
        return room->bytes - room->used_bytes > 4 * room->margin_bytes;
}

/* True if much has been free for so long that this is not a pause between two uses. */
static bool is_idle(Spawner *s, const DepotRoom *room, usec_t now) {
        if (!has_much(room) || s->options->shrink_usec == 0)
                s->room_much_since = 0;
        else if (s->room_much_since == 0)
                s->room_much_since = now;
        return s->room_much_since > 0 && now - s->room_much_since >= s->options->shrink_usec;
}

static TreeJob *find_resizing(const Spawner *s) {
        for (TreeJob *j = s->tree_jobs; j; j = j->next)
                if (j->pid > 0 && (j->errand == ERRAND_RESIZE || (j->errand == ERRAND_REQUEST && j->request.operation == TREE_SHRINK)))
                        return j;
        return NULL;
}

/* While others write, there is less and less to give back: the shrinking process is stopped, and the size stays
 * as it was. */
static bool shrinks(const TreeJob *resizing) {
        return resizing->errand == ERRAND_REQUEST || resizing->request.bytes == 0;
}

static void room_guard_shrinking(TreeJob *resizing, const DepotRoom *room) {
        if (!shrinks(resizing) || room->bytes - room->used_bytes >= room->margin_bytes / 2)
                return;
        resizing->stopped = true;
        (void) kill(resizing->pid, SIGKILL); /* not reaped yet, so its pid is still its own */
}

static void room_look(Spawner *s, const DepotRoom *room, usec_t now) {
        uint64_t wanted = depot_size_wanted(&s->depot, room);

        if (wanted > 0) {
                s->room_much_since = 0;
                tree_jobs_resize(s, wanted);
                return;
        }
        warn_if_full(s, room);
        if (!is_idle(s, room, now))
                return;
        s->room_much_since = 0;
        if (depot_size_sufficient(&s->depot, room) < room->bytes)
                tree_jobs_resize(s, /* bytes= */ 0);
}

/* At its largest size the depot needs fewer checks. */
static usec_t room_next_look(const DepotRoom *room) {
        usec_t usec = (room->bytes - room->used_bytes) / (RATE / USEC_PER_SEC);

        return room->bytes >= room->most_bytes ? LOOK_MAX : MAX_OF(LOOK_MIN, MIN_OF(usec, LOOK_MAX));
}

void tree_room_run_due(Spawner *s) {
        TreeJob *resizing;
        DepotRoom room;
        usec_t now;

        if (s->room_due == USEC_INFINITY)
                return;
        now = clock_usec();
        if (now < s->room_due)
                return;
        s->room_due = now + LOOK_MAX;
        if (depot_measure(&s->depot, &room) < 0)
                return;
        s->room_due = now + room_next_look(&room);
        room_tell(s, &room);
        resizing = find_resizing(s);
        if (resizing)
                room_guard_shrinking(resizing, &room);
        else if (now >= s->room_rest)
                room_look(s, &room, now);
}

/* The depot may grow as soon as it did not shrink: it was perhaps for that reason. */
void tree_room_resized(Spawner *s, const TreeJob *j, const Error *error) {
        DepotRoom room;

        if (error->code < 0) {
                if (j->stopped)
                        log_info("depot: %s", error->text);
                else
                        log_warning("depot: %s", error->text);
                if (!shrinks(j))
                        s->room_rest = clock_usec() + REST_USEC;
                return;
        }
        if (depot_measure(&s->depot, &room) < 0)
                return;
        log_info("depot: has %lluM now, of which %lluM are used, and may have %lluM", mib(room.bytes), mib(room.used_bytes), mib(room.most_bytes));
        room_tell(s, &room);
}
