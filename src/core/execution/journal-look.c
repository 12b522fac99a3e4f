/* journal-look.c: how much output is kept, and who pays for it.
 *
 * PID 1 bounds each stream by journal_grant() of its start: the sandbox's limit, and at most a part of what the tenant's
 * quota and the disk have left. The tenant is charged for the output; while it grows, it is measured from time to time.
 * The manager's budget bounds all of it together: the tenant that holds most loses its oldest first, that of ended
 * sandboxes before others; a tenant within its share loses none. When less than half of the reserve is free, the
 * execution that writes most is ended. */

#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include <utlist.h>

#include "base/log.h"
#include "core/execution/journal-internal.h"
#include "core/execution/segment.h"
#include "core/internal.h"
#include "core/ledger.h"
#include "core/settle.h"

#define LOOK_USEC       USEC_PER_SEC
#define LOOK_SOON_USEC  (50 * USEC_PER_MSEC) /* when little space is free */
#define LOOK_MAX        512 /* executions in one turn of the loop */
#define GRANT_MIN       (UINT64_C(64) << 10)
#define GRANT_OF_DISK   8 /* one stream gets one part in so many of the free space */
#define GRANT_OF_QUOTA  4
#define GROWTH_MIN      (UINT64_C(1) << 20) /* of an execution that is ended for it, between two looks */

static uint64_t journal_bytes(const Execution *x) {
        return x->journals[STREAM_STDOUT].bytes + x->journals[STREAM_STDERR].bytes;
}

/* Charging. */

static void journal_charge(Execution *x, uint64_t bytes) {
        (void) ledger_charge(x->sandbox->manager, &x->journal, x->sandbox->spec.tenant, LEDGER_JOURNAL, bytes); /* without memory it is not counted for now */
}

void journals_charge(Sandbox *sb) {
        Execution *x, *next;

        HASH_ITER(hh, sb->executions, x, next)
                if (x->journal.row)
                        journal_charge(x, x->journal.amount);
}

static void journal_stop_looking(Execution *x) {
        if (!x->journal_grows)
                return;
        DL_DELETE2(x->sandbox->manager->journals->growing, x, journal_prev, journal_next);
        x->journal_grows = false;
}

static void journal_look_at(Execution *x) {
        DL_APPEND2(x->sandbox->manager->journals->growing, x, journal_prev, journal_next);
        x->journal_grows = true;
}

void journal_unlist(Execution *x) {
        journal_stop_looking(x);
        ledger_release(&x->journal);
}

static Execution *journal_owner(const LedgerEntry *e) {
        return (Execution *) (void *) ((char *) e - offsetof(Execution, journal));
}

static unsigned journal_rank(const LedgerEntry *e) {
        const Execution *x = journal_owner(e);

        return !execution_ended(x) || e->amount == 0 ? 0 : sandbox_status_is_live(x->sandbox->status) ? 1 : 2;
}

static void core_journal_make_room(Manager *m) {
        LedgerEntry *e;

        if (m->recovering)
                return; /* not all journals are counted yet */
        while ((e = ledger_victim(m, LEDGER_JOURNAL, m->config.journal_total_bytes, journal_rank))) {
                Execution *x = journal_owner(e);

                log_debug("sandbox %s: journals of %s are removed to make room", x->sandbox->id, x->id);
                x->journals_gone = true;
                store_may_lose(store_execution_update(m->store, x), "that journals are gone"); /* a client that opens them notices */
                settle_now(m->settle); /* what is left by a death in the middle of the removal must not be taken for all of it */
                journal_remove(x);
        }
}

static uint64_t measure_files(const Execution *x) {
        char name[JOURNAL_NAME_BYTES];
        uint64_t bytes = 0;
        struct stat st;

        for (ExecutionStream s = 0; s < _STREAM_MAX; s++) {
                journal_name(x, s, name);
                if (fstatat(x->sandbox->manager->journals->box_fd, name, &st, AT_SYMLINK_NOFOLLOW) >= 0)
                        bytes += (uint64_t) st.st_size;
        }
        return bytes;
}

/* With its records, or else a program that prints in small pieces could fill the disk with them. */
static uint64_t measure_pieces(const Execution *x) {
        return x->pieces.bytes[STREAM_STDOUT] + x->pieces.bytes[STREAM_STDERR] + x->pieces.n * sizeof(SegmentRecord);
}

static uint64_t journal_measure(const Execution *x) {
        uint64_t bytes = x->has_files ? measure_files(x) : measure_pieces(x);

        return execution_ended(x) ? MAX_OF(bytes, journal_bytes(x)) : bytes;
}

void journal_ended(Execution *x) {
        if (x->journals_gone)
                return;
        if (!x->has_files && !x->sandbox->manager->recovering && journal_bytes(x) > x->pieces.bytes[STREAM_STDOUT] + x->pieces.bytes[STREAM_STDERR])
                (void) segment_scan(x->sandbox);
        journal_charge(x, journal_measure(x));
        core_journal_make_room(x->sandbox->manager);
}

/* While they grow. */

/* At most one part of what is left of `all`, but always enough for an error message. */
static uint64_t journal_part(uint64_t grant, uint64_t all, uint64_t used, unsigned parts) {
        uint64_t part = all > used ? (all - used) / parts : 0;

        return MIN_OF(grant, part > GRANT_MIN ? part : GRANT_MIN);
}

uint64_t journal_grant(const Execution *x) {
        Manager *m = x->sandbox->manager;
        const char *tenant = x->sandbox->spec.tenant;
        uint64_t reserve, free_bytes = manager_space(m, &reserve), quota = ledger_limit(m, tenant, LEDGER_JOURNAL);
        uint64_t grant = x->sandbox->spec.limits.output_bytes;

        if (free_bytes != UINT64_MAX)
                grant = journal_part(grant, free_bytes, reserve, GRANT_OF_DISK);
        if (quota > 0) {
                LedgerSums sums = ledger_of_tenant(m, tenant);

                grant = journal_part(grant, quota, ledger_disk(&sums), GRANT_OF_QUOTA);
        }
        return grant;
}

static void journals_look_later(Manager *m, usec_t usec) {
        if (sd_event_source_set_time_relative(m->journals->look, usec) >= 0)
                (void) sd_event_source_set_enabled(m->journals->look, SD_EVENT_ONESHOT);
}

void journal_began(Execution *x) {
        Manager *m = x->sandbox->manager;

        if (x->spec.channel)
                return; /* its output does not go to journals */
        if (!m->journals->growing)
                journals_look_later(m, LOOK_SOON_USEC);
        journal_charge(x, 0);
        journal_look_at(x);
}

static void journal_end_writer(Execution *x, uint64_t growth, uint64_t free_bytes) {
        observe_security(x->sandbox->manager, "disk-kill", x->sandbox, "%s was ended: %llu MB are free, and it has just written %llu MB of output", x->id,
                        (unsigned long long) free_bytes >> 20, (unsigned long long) growth >> 20);
        execution_kill(x, EXECUTION_REASON_DISK);
}

static int journals_on_look(sd_event_source *source, uint64_t usec, void *userdata) {
        Manager *m = userdata;
        uint64_t reserve, free_bytes = manager_space(m, &reserve), most = 0;
        Execution *x, *last = m->journals->growing ? m->journals->growing->journal_prev : NULL, *writer = NULL;

        m->journals->n_looks++;
        for (unsigned i = 0; last && i < LOOK_MAX; i++) {
                uint64_t bytes, growth;

                x = m->journals->growing;
                if (!x->has_files)
                        segment_look(x->sandbox, m->journals->n_looks);
                bytes = journal_measure(x);
                growth = bytes - MIN_OF(bytes, x->journal.amount);
                journal_charge(x, bytes);
                if (growth > most && !execution_ended(x) && x->kill_reason == EXECUTION_REASON_NONE) {
                        writer = x;
                        most = growth;
                }
                last = x == last ? NULL : last;
                journal_stop_looking(x);
                if (sandbox_status_is_live(x->sandbox->status))
                        journal_look_at(x);
        }
        if (writer && most >= GROWTH_MIN && free_bytes < reserve / 2)
                journal_end_writer(writer, most, free_bytes);
        core_journal_make_room(m);
        if (m->journals->growing)
                journals_look_later(m, free_bytes / 2 < reserve ? LOOK_SOON_USEC : LOOK_USEC);
        return 0;
}

int journals_add_look(Manager *m) {
        int r = sd_event_add_time(m->event, &m->journals->look, CLOCK_MONOTONIC, 0, 0, journals_on_look, m);

        return r >= 0 ? sd_event_source_set_enabled(m->journals->look, SD_EVENT_OFF) : r;
}
