/* recover.c: after a start, makes the store and the kernel agree.
 *
 *      1. manager_new()       rows become objects, before any request can be made
 *      2. recover_start()     the provider is up: every id that something is left of in the kernel is listed
 *      3. Each live row is adopted (its PID 1 reports what runs and what has ended meanwhile); if it was being made or taken
 *         down, it is taken down, and so is what is left of an ended one. A sandbox without a row is frozen (quarantine.h).
 *         The rows of a store in doubt (generation.h) may be outdated: a sandbox that was being made is adopted like a
 *         finished one, and one that was ending waits until the doubt is over
 *      4. When all of these have answered, requests are served. A sandbox whose PID 1 does not answer within
 *         cleanup.helperTimeout is left as it is, and adopted when it answers
 *
 * A spawner that is replaced while the daemon lives is another matter: the provider repeats its requests
 * (provider/native-spawner.c). */

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "core/ailment.h"
#include "core/disk.h"
#include "core/internal.h"
#include "core/network.h"
#include "core/pool.h"
#include "core/quarantine.h"

#define IMPATIENCE_USEC (500 * USEC_PER_MSEC)
#define THAWED_AT_ONCE  32

typedef struct RecoverPending {
        char id[SANDBOX_ID_LENGTH + 1];
        Sandbox *sandbox; /* a reference; NULL: it has no row */
        bool unasked;     /* it could not be adopted for lack of the daemon's own resources: it is tried again */
        bool thawed, warned; /* thawed: in this round */
        UT_hash_handle hh;
} RecoverPending;

typedef struct Recovery {
        RecoverPending *pending; /* adoptions and sweeps that have not been answered */
        bool listed;      /* the list of objects in the kernel is complete */
        usec_t started;
        usec_t waited; /* counted in runs of the impatience timer: time in which the daemon did not run does not count */
        sd_event_source *impatience;
        unsigned n_adopted, n_swept, n_lost, n_kept, n_unknown, n_unreached;
} Recovery;

static RecoverPending *recover_expect(Manager *m, const char *id, Sandbox *sb) {
        RecoverPending *p;

        HASH_FIND_STR(m->recovery->pending, id, p);
        if (p)
                return p;
        p = calloc(1, sizeof(*p));
        if (!p)
                return NULL;
        memcpy(p->id, id, strnlen(id, SANDBOX_ID_LENGTH));
        p->sandbox = sandbox_ref(sb);
        HASH_ADD_STR(m->recovery->pending, id, p);
        return p;
}

static void recover_pending_free(Recovery *r, RecoverPending *p) {
        HASH_DEL(r->pending, p);
        (void) sandbox_unref(p->sandbox);
        free(p);
}

void recovery_free(Manager *m) {
        RecoverPending *p, *next;

        if (!m->recovery)
                return;
        HASH_ITER(hh, m->recovery->pending, p, next)
                recover_pending_free(m->recovery, p);
        sd_event_source_disable_unref(m->recovery->impatience);
        free(m->recovery);
        m->recovery = NULL;
}

static void recover_check_complete(Manager *m) {
        Recovery *r = m->recovery;

        if (!r->listed || r->pending)
                return;
        if (r->n_adopted + r->n_lost + r->n_kept + r->n_swept + r->n_unknown + r->n_unreached > 0)
                log_notice("recovered in %llu ms: %u sandbox%s adopted, %u parked, %u lost, %u leftover%s swept, %u unknown, %u unreachable",
                        (unsigned long long) (clock_usec() - r->started) / 1000, r->n_adopted, r->n_adopted == 1 ? "" : "es",
                        r->n_kept, r->n_lost, r->n_swept, r->n_swept == 1 ? "" : "s", r->n_unknown, r->n_unreached);
        recovery_free(m);
        m->recovering = false;
        disks_sweep(m);
        quarantine_take_stock(m);
        pools_start(m->pools);
}

static void recover_tell_unreached(Manager *m) {
        const Sandbox *sb, *last = NULL;

        m->n_unreached = 0;
        for (sb = m->sandboxes; sb; sb = sb->hh.next)
                if (sb->unreached && !sandbox_is_ending(sb)) {
                        m->n_unreached++;
                        last = sb;
                }
        if (last)
                manager_ail(m, "unreachable", /* ill= */ false,
                                "the PID 1 of %u sandbox%s has not answered since the start (%s): left as found, and used when it answers; delete what shall not wait for that",
                                m->n_unreached, m->n_unreached == 1 ? "" : "es", last->id);
        else
                manager_heal(m, "unreachable");
}

/* A sandbox that hangs must not block all others. Its adoption stays requested, and one that could not be
 * requested is tried until it can. A destroy is repeated by the code that ends the sandbox, and the reaper
 * removes what is left after that. */
static void recover_give_up_waiting(Manager *m) {
        RecoverPending *p, *next;

        HASH_ITER(hh, m->recovery->pending, p, next) {
                if (p->unasked)
                        continue;
                log_warning("sandbox %s: no answer about it, the start goes on without", p->id);
                m->recovery->n_unreached++;
                if (p->sandbox && !p->sandbox->gone && !sandbox_is_ending(p->sandbox) && !p->sandbox->parked && !sandbox_is_unloading(p->sandbox))
                        p->sandbox->unreached = true;
                recover_pending_free(m->recovery, p);
        }
        recover_tell_unreached(m);
        recover_check_complete(m);
}

static void answered(Manager *m, const char *id) {
        RecoverPending *p;

        if (!m->recovery)
                return;
        HASH_FIND_STR(m->recovery->pending, id, p);
        if (!p)
                return;
        recover_pending_free(m->recovery, p);
        recover_check_complete(m);
}

/* Takes down a sandbox that was in a transition when the daemon ended. */
static void recover_take_down(Sandbox *sb) {
        recover_expect(sb->manager, sb->id, sb);
        if (sb->status == SANDBOX_TERMINATING) {
                sandbox_ask_to_destroy(sb);
                return;
        }
        sandbox_end(sb, SANDBOX_FAILED, /* delete= */ true, "deleted");
}

static void recover_lose(Sandbox *sb, const char *reason) {
        recover_expect(sb->manager, sb->id, sb);
        if (sandbox_keep(sb, "its processes were gone when the daemon came back; its disk is as it was then: resume it") >= 0) {
                sb->manager->recovery->n_kept++;
                return;
        }
        sb->manager->recovery->n_lost++;
        sandbox_end(sb, SANDBOX_FAILED, /* delete= */ false, reason);
}

/* A shortage in the daemon says nothing about the sandbox. */
static void recover_adopt(Sandbox *sb) {
        Provider *p = sb->manager->provider;
        RecoverPending *pending = recover_expect(sb->manager, sb->id, sb);
        int r = p->ops->adopt(p, sb);

        if (pending)
                pending->unasked = r < 0 && error_is_shortage(r);
        if (r < 0 && !error_is_shortage(r))
                recover_lose(sb, "lost: its PID 1 was gone when the daemon came back");
}

static bool recover_is_at_rest(const Sandbox *sb) {
        return sb->doubted || sandbox_status_is_ended(sb->status) || (sb->parked && sb->status != SANDBOX_TERMINATING);
}

/* Called before anything else: a row that is not expected would be taken for lost. */
static int recover_expect_rows(Manager *m) {
        Sandbox *sb, *next;

        HASH_ITER(hh, m->sandboxes, sb, next) {
                sb->doubted = m->doubts_store && sb->status == SANDBOX_TERMINATING;
                if (!recover_is_at_rest(sb) && !recover_expect(m, sb->id, sb))
                        return -ENOMEM;
        }
        return 0;
}

static void recover_one(Sandbox *sb) {
        if (recover_is_at_rest(sb)) {
                if (!sb->doubted)
                        (void) sandbox_arm_timers(sb);
                return;
        }
        if (sb->status == SANDBOX_INITIALIZING && sb->manager->doubts_store) /* it may be in any later state, and may have a disk */
                (void) sandbox_move(sb, (SandboxState) { .status = SANDBOX_READY }, NULL);
        if (sb->status == SANDBOX_INITIALIZING || sb->status == SANDBOX_TERMINATING) {
                recover_take_down(sb);
                return;
        }
        recover_adopt(sb);
}

/* A sandbox that does not answer may be frozen: paused by a daemon that ended before it wrote that down. No
 * caller was told that it is paused, so it is thawed. Of thousands most are merely not done yet: thawing all of them, over and
 * over, would take the CPU that they need to answer. */
static void recover_thaw_some(Manager *m) {
        RecoverPending *p, *next;
        unsigned n = 0;

        HASH_ITER(hh, m->recovery->pending, p, next) {
                Sandbox *sb = p->sandbox;

                if (!sb || sb->gone || sandbox_is_ending(sb) || p->unasked || p->thawed)
                        continue;
                if (sb->status == SANDBOX_PAUSED)
                        continue; /* it could not be reached yet, and stays paused */
                if (n++ == THAWED_AT_ONCE)
                        return;
                if (!p->warned)
                        log_warning("sandbox %s: its PID 1 does not answer, thawing it", sb->id);
                p->thawed = p->warned = true;
                (void) sandbox_freeze(sb, /* freeze= */ false, NULL);
        }
        HASH_ITER(hh, m->recovery->pending, p, next)
                p->thawed = false; /* all had a turn: from the first one again */
}

static int on_impatience(sd_event_source *source, uint64_t usec, void *userdata) {
        Manager *m = userdata;
        usec_t limit = m->config.helper_timeout_usec;
        RecoverPending *p, *next;

        HASH_ITER(hh, m->recovery->pending, p, next)
                if (p->unasked && p->sandbox && !p->sandbox->gone && !sandbox_is_ending(p->sandbox))
                        recover_adopt(p->sandbox);
        recover_thaw_some(m);
        m->recovery->waited += IMPATIENCE_USEC;
        (void) sd_event_source_set_time_relative(source, IMPATIENCE_USEC);
        (void) sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
        if (limit > 0 && m->recovery->waited >= limit && m->recovery->listed)
                recover_give_up_waiting(m);
        return 0;
}

/* Ends executions that PID 1 does not know, because they were never started. */
static void end_unknown(Sandbox *sb) {
        Execution *x, *next;

        HASH_ITER(hh, sb->executions, x, next)
                if (x->unconfirmed && x->status == EXECUTION_STARTING)
                        execution_end(x, EXECUTION_REASON_INTERNAL, -1, 0, "the daemon ended while it was starting");
}

void recover_on_adopted(Sandbox *sb, const Error *error) {
        Manager *m = sb->manager;
        bool late = sb->unreached;

        if (late) {
                sb->unreached = false;
                recover_tell_unreached(m);
        }
        if (error) {
                if (sandbox_is_ending(sb))
                        return;
                if (sb->parked || sandbox_is_unloading(sb))
                        return;
                if (m->recovery)
                        recover_lose(sb, "lost: its PID 1 was gone when the daemon came back");
                else if (sandbox_keep(sb, "its PID 1 died; its disk is as it was then: resume it") < 0)
                        sandbox_end(sb, SANDBOX_FAILED, /* delete= */ false, "its PID 1 died");
                return;
        }
        sb->heard_at = clock_usec();
        if (sb->status != SANDBOX_PAUSED || sb->activity == ACTIVITY_THAWING) /* a frozen PID 1 has not reported all executions */
                end_unknown(sb);
        sandbox_update_running(sb);
        if (!m->recovery && !late)
                return;
        (void) sandbox_arm_timers(sb);
        (void) sandbox_check_cpu_time(sb);
        network_adopted(sb);
        if (late && m->channels)
                m->channels->adopted(sb, m->channels->userdata);
        if (!m->recovery)
                return;
        m->recovery->n_adopted++;
        answered(m, sb->id);
}

void recover_on_destroyed(Manager *m, const char *id) {
        if (m->n_unreached > 0)
                recover_tell_unreached(m);
        answered(m, id);
}

/* A sandbox without a row may hold work that another copy of the store knows. If it has no processes, it holds
 * none: a spawner that was ending with its daemon made it after its row was deleted. */
static void recover_put_aside(Manager *m, const char *id) {
        Provider *p = m->provider;
        bool gone;

        if (quarantine_find(m, QUARANTINE_SANDBOX, id))
                return;
        gone = provider_has(p, PROVIDER_PAUSE) && p->pause->set_aside && p->pause->set_aside(p, id, /* may_go= */ !manager_by_id(m, id)) > 0;
        if (gone && recover_expect(m, id, NULL)) {
                m->recovery->n_swept++;
                return;
        }
        m->recovery->n_unknown++;
        (void) quarantine_add(m, QUARANTINE_SANDBOX, id, /* bytes= */ 0);
}

void recover_on_listed(Manager *m, const char *id) {
        const Sandbox *sb;

        if (!m->recovery)
                return;
        if (!id) {
                m->recovery->listed = true;
                recover_check_complete(m);
                return;
        }
        sb = manager_by_id(m, id);
        if (sb && !sb->doubted && !sandbox_status_is_ended(sb->status) && !sb->parked)
                return;
        if (!sb || m->doubts_store || !recover_expect(m, id, NULL)) { /* the last resume may be missing in an older copy of the store */
                recover_put_aside(m, id);
                return;
        }
        m->recovery->n_swept++;
        (void) m->provider->ops->destroy(m->provider, id, NULL);
}

void recover_doubt_over(Manager *m) {
        Sandbox *sb, *next;

        HASH_ITER(hh, m->sandboxes, sb, next)
                if (sb->doubted) {
                        sb->doubted = false;
                        sandbox_ask_to_destroy(sb);
                }
}

void recover_start(Manager *m) {
        Sandbox *sb, *next;
        int r;

        if (m->recovery || !m->recovering)
                return; /* the spawner was restarted, and the daemon was not */
        m->recovery = calloc(1, sizeof(*m->recovery));
        if (!m->recovery || quarantine_begin(m) < 0 || recover_expect_rows(m) < 0) {
                log_error("out of memory: what is there is left as it is, and no requests are taken");
                recovery_free(m);
                return;
        }
        m->recovery->started = clock_usec();
        (void) sd_event_add_time_relative(m->event, &m->recovery->impatience, CLOCK_MONOTONIC, IMPATIENCE_USEC, 0, on_impatience, m);

        HASH_ITER(hh, m->sandboxes, sb, next)
                recover_one(sb);
        (void) journals_sweep(m);
        r = m->provider->ops->list(m->provider);
        if (r < 0) {
                log_warning("cannot list what is left in the kernel: %s", strerror(-r));
                m->recovery->listed = true;
                recover_check_complete(m);
        }
}
