#include "core/admission.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "core/admission/caps.h"
#include "core/settings.h"
#include "core/tally.h"

#define RETRY_UNKNOWN     5u /* seconds, as long as no interval is known */
#define RETRY_MAX         60u
#define INTERVAL_SHARE    8 /* the mean takes 1/8 of each new interval between two grants */

typedef struct Lane Lane;
typedef struct AdmissionLine AdmissionLine;

struct AdmissionWait {
        Lane *lane;
        CapAsk ask; /* its texts belong to the line and the lane */
        unsigned priority;
        uint64_t number; /* in the order of arrival */
        usec_t since;
        AdmissionDone done;
        AdmissionOffer offer;
        void *userdata;
        sd_event_source *timer;
        AdmissionWait *prev, *next;
};

/* The waits of one tenant for the same profile. */
struct Lane {
        AdmissionLine *line;
        char *profile;
        AdmissionWait *waits; /* by priority, then by arrival */
        Lane *prev, *next;
};

/* The waits of one tenant. */
struct AdmissionLine {
        Admission *admission;
        char *tenant;
        Lane *lanes; /* at most one per profile */
        uint64_t n;
        bool held;
        AdmissionLine *prev, *next;
        UT_hash_handle hh;
};

struct Admission {
        Manager *manager;
        uint64_t memory_bytes;
        AdmissionLine *lines;   /* by tenant */
        AdmissionLine *turn;    /* in the order of their turns */
        uint64_t n_waiting, last_number;
        uint64_t n_granted, n_timed_out, n_refused;
        usec_t last_grant, mean_interval;
        sd_event_source *wake;
        bool awake;    /* a place has become free, and was not looked at yet */
        bool pumping, again;
        AdmissionReclaim reclaim;
        void *reclaim_userdata;
};

static int admission_on_wake(sd_event_source *source, void *userdata) {
        admission_pump(userdata);
        return 0;
}

int admission_new(Manager *m, Admission **ret) {
        Admission *a = calloc(1, sizeof(*a));
        int r;

        if (!a)
                return -ENOMEM;
        a->manager = m;
        a->memory_bytes = machine_memory_bytes();
        r = sd_event_add_defer(m->event, &a->wake, admission_on_wake, a);
        if (r >= 0)
                r = sd_event_source_set_enabled(a->wake, SD_EVENT_OFF);
        if (r >= 0) /* before requests that have come in meanwhile */
                r = sd_event_source_set_priority(a->wake, SD_EVENT_PRIORITY_IMPORTANT);
        if (r < 0) {
                admission_free(a);
                return r;
        }
        *ret = a;
        return 0;
}

unsigned admission_cap(const Admission *a) {
        return cap_of_daemon(a->manager, a->memory_bytes);
}

void admission_set_reclaim(Admission *a, AdmissionReclaim reclaim, void *userdata) {
        a->reclaim = reclaim;
        a->reclaim_userdata = userdata;
}

/* Lines and lanes: they exist as long as requests wait in them. */

static AdmissionLine *line_find(const Admission *a, const char *tenant) {
        AdmissionLine *line;

        HASH_FIND(hh, a->lines, tenant, strlen(tenant), line);
        return line;
}

static AdmissionLine *line_need(Admission *a, const char *tenant) {
        AdmissionLine *line = line_find(a, tenant);

        if (line)
                return line;
        line = calloc(1, sizeof(*line));
        if (line)
                line->tenant = strdup(tenant);
        if (!line || !line->tenant) {
                free(line);
                return NULL;
        }
        line->admission = a;
        HASH_ADD_KEYPTR(hh, a->lines, line->tenant, strlen(line->tenant), line);
        DL_APPEND(a->turn, line);
        return line;
}

static void line_release(AdmissionLine *line) {
        Admission *a = line->admission;

        if (line->lanes || line->held)
                return;
        HASH_DEL(a->lines, line);
        DL_DELETE(a->turn, line);
        free(line->tenant);
        free(line);
}

static Lane *lane_need(AdmissionLine *line, const char *profile) {
        Lane *lane;

        DL_FOREACH(line->lanes, lane)
                if (strcmp(lane->profile, profile) == 0)
                        return lane;
        lane = calloc(1, sizeof(*lane));
        if (lane)
                lane->profile = strdup(profile);
        if (!lane || !lane->profile) {
                free(lane);
                return NULL;
        }
        lane->line = line;
        DL_APPEND(line->lanes, lane);
        return lane;
}

static void lane_release(Lane *lane) {
        AdmissionLine *line = lane->line;

        if (lane->waits)
                return;
        DL_DELETE(line->lanes, lane);
        free(lane->profile);
        free(lane);
        line_release(line);
}

/* Inserts behind all waits of the same priority. */
static void lane_insert(Lane *lane, AdmissionWait *w) {
        AdmissionWait *before = lane->waits ? lane->waits->prev : NULL; /* the last one */

        while (before && before->priority < w->priority)
                before = before == lane->waits ? NULL : before->prev;
        if (before)
                DL_APPEND_ELEM(lane->waits, before, w);
        else
                DL_PREPEND(lane->waits, w);
        lane->line->n++;
        lane->line->admission->n_waiting++;
}

/* Takes the wait out of its lane; an empty lane and an empty line are freed. */
static void wait_leave(AdmissionWait *w) {
        Lane *lane = TAKE_PTR(w->lane);

        DL_DELETE(lane->waits, w);
        lane->line->n--;
        lane->line->admission->n_waiting--;
        w->timer = sd_event_source_disable_unref(w->timer);
        lane_release(lane);
}

static void wait_free(AdmissionWait *w) {
        wait_leave(w);
        free(w);
}

/* Reports the result, and frees the wait. */
static void wait_finish(AdmissionWait *w, const Error *error) {
        wait_leave(w);
        w->done(w, error, w->userdata);
        free(w);
}

Admission *admission_free(Admission *a) {
        if (!a)
                return NULL;
        while (a->turn)
                wait_free(a->turn->lanes->waits);
        sd_event_source_disable_unref(a->wake);
        free(a);
        return NULL;
}

/* Whether a request may be served. */

static CapAsk ask_of(const SandboxSpec *spec) {
        return (CapAsk) {
                .tenant = spec->tenant ? spec->tenant : "",
                .profile = spec->profile ? spec->profile : "",
                .cpu_milli = spec->limits.cpu_milli,
                .memory_bytes = spec->limits.memory_bytes,
                .disk_bytes = spec->limits.disk_bytes,
        };
}

static bool goes_before(const AdmissionWait *w, const AdmissionWait *other) {
        return w->priority != other->priority ? w->priority > other->priority : w->number < other->number;
}

/* The first wait whose profile has room. If another limit holds it up, no other wait of its tenant overtakes
 * it. */
static AdmissionWait *line_next(const AdmissionLine *line) {
        AdmissionWait *best = NULL;
        const Lane *lane;

        DL_FOREACH(line->lanes, lane)
                if ((!best || goes_before(lane->waits, best)) &&
                                cap_check_profile(line->admission->manager, lane->profile, NULL) >= 0)
                        best = lane->waits;
        return best;
}

/* Checks the limits of the asker itself, without the daemon's cap. */
static int check_own(const Admission *a, const CapAsk *ask, Error *ret_why) {
        int r = cap_check_tenant(a->manager, ask, ret_why);

        return r < 0 ? r : cap_check_profile(a->manager, ask->profile, ret_why);
}

/* 0, or the reason why a new request is not served before those that wait. */
static int admission_check_line(const Admission *a, const CapAsk *ask, unsigned priority, Error *ret_why) {
        const AdmissionLine *line = line_find(a, ask->tenant);
        const AdmissionWait *first = line ? line_next(line) : NULL;

        if (!first || first->priority < priority)
                return 0;
        if (check_own(a, &first->ask, ret_why) < 0 || cap_check_daemon(a->manager, a->memory_bytes, ret_why) < 0)
                return -EDQUOT;
        return error_set(ret_why, -EDQUOT, "Maximum sandbox limit reached: others wait");
}

static int core_admission_check(Admission *a, const SandboxSpec *spec, unsigned priority, bool claim, Error *ret_why) {
        const CapAsk ask = ask_of(spec);
        int r;

        if (a->awake && !a->pumping)
                admission_pump(a);
        r = check_own(a, &ask, ret_why);
        if (r >= 0 && !claim)
                r = cap_check_daemon(a->manager, a->memory_bytes, ret_why);
        if (r >= 0)
                r = admission_check_line(a, &ask, priority, ret_why);
        return r == -EDQUOT ? 0 : r < 0 ? r : 1;
}

int admission_check(Admission *a, const SandboxSpec *spec, unsigned priority, Error *ret_why) {
        return core_admission_check(a, spec, priority, /* claim= */ false, ret_why);
}

int admission_check_claim(Admission *a, const SandboxSpec *spec, unsigned priority, Error *ret_why) {
        return core_admission_check(a, spec, priority, /* claim= */ true, ret_why);
}

/* Waiting. */

static int admission_on_timeout(sd_event_source *source, uint64_t usec, void *userdata) {
        AdmissionWait *w = userdata;
        Admission *a = w->lane->line->admission;
        Error why = { 0 };
        size_t n;

        if (check_own(a, &w->ask, &why) >= 0 && cap_check_daemon(a->manager, a->memory_bytes, &why) >= 0)
                (void) error_set(&why, 0, "Maximum sandbox limit reached: others came first");
        if (why.code != -EUSERS)
                why.code = -ETIMEDOUT;
        n = strlen(why.text);
        (void) snprintf(why.text + n, sizeof(why.text) - n, "; %llu waited, this one for %.1f s", (unsigned long long) a->n_waiting,
                        (double) (clock_usec() - w->since) / (double) USEC_PER_SEC);
        a->n_timed_out++;
        wait_finish(w, &why);
        admission_wake(a); /* others may have waited behind it */
        return 0;
}

/* A tenant has at most half of the queue, so that there is room for others. */
static int admission_check_queue(const Admission *a, const char *tenant, unsigned most, Error *reterr) {
        uint64_t own = *tenant ? admission_waiting(a, tenant) : 0;

        if (a->n_waiting >= most)
                return error_set(reterr, -EDQUOT, "Maximum sandbox limit reached: %llu wait already, and no more than %u may (limits.maxQueued)",
                                (unsigned long long) a->n_waiting, most);
        if (own > 0 && own >= most / 2)
                return error_set(reterr, -EDQUOT, "Maximum sandbox limit reached: %llu of tenant '%s' wait already, and no more than half of %u may (limits.maxQueued)",
                                (unsigned long long) own, tenant, most);
        return 0;
}

int admission_wait(Admission *a, const SandboxSpec *spec, unsigned priority, usec_t wait_usec, AdmissionDone done, AdmissionOffer offer,
                void *userdata, AdmissionWait **ret, Error *reterr) {
        unsigned most = core_settings(a->manager->settings).limits->queue_max;
        const char *tenant = spec->tenant ? spec->tenant : "";
        AdmissionWait *w;
        AdmissionLine *line;
        Lane *lane;
        int r;

        if (admission_check_queue(a, tenant, most, reterr) < 0) {
                a->n_refused++;
                return -EDQUOT;
        }
        w = calloc(1, sizeof(*w));
        line = w ? line_need(a, tenant) : NULL;
        lane = line ? lane_need(line, spec->profile ? spec->profile : "") : NULL;
        if (!lane) {
                if (line)
                        line_release(line);
                free(w);
                return error_set(reterr, -ENOMEM, "out of memory");
        }
        *w = (AdmissionWait) {
                .lane = lane,
                .ask = ask_of(spec),
                .priority = priority,
                .number = ++a->last_number,
                .since = clock_usec(),
                .done = done,
                .offer = offer,
                .userdata = userdata,
        };
        w->ask.tenant = line->tenant;
        w->ask.profile = lane->profile;
        lane_insert(lane, w);
        r = sd_event_add_time_relative(a->manager->event, &w->timer, CLOCK_MONOTONIC, wait_usec, 1, admission_on_timeout, w);
        if (r < 0) {
                wait_free(w);
                return error_set(reterr, r, "cannot wait: %m");
        }
        if (tally_of_pooled(a->manager).live > 0)
                admission_wake(a); /* pooled sandboxes may be given up */
        *ret = w;
        return 0;
}

void admission_cancel(AdmissionWait *w) {
        Admission *a = w->lane->line->admission;

        wait_free(w);
        admission_wake(a);
}

/* Serving. */

static void note_grant(Admission *a) {
        usec_t now = clock_usec(), interval = a->last_grant == 0 ? 0 : now - a->last_grant;

        a->n_granted++;
        a->last_grant = now;
        if (interval > 0)
                a->mean_interval = a->mean_interval == 0 ? interval :
                                a->mean_interval - a->mean_interval / INTERVAL_SHARE + interval / INTERVAL_SHARE;
}

static void to_the_end(AdmissionLine *line) {
        Admission *a = line->admission;

        DL_DELETE(a->turn, line);
        DL_APPEND(a->turn, line);
}

static void grant(AdmissionWait *w) {
        note_grant(w->lane->line->admission);
        to_the_end(w->lane->line);
        wait_finish(w, /* error= */ NULL);
}

/* The first wait in turn that no limit of its own holds up. */
static AdmissionWait *next_of_all(const Admission *a) {
        const AdmissionLine *line;

        DL_FOREACH(a->turn, line) {
                AdmissionWait *w = line_next(line);

                if (w && check_own(a, &w->ask, NULL) >= 0)
                        return w;
        }
        return NULL;
}

/* Keeps the line alive during the callback, which may remove any wait. */
static bool offer(AdmissionWait *w) {
        AdmissionLine *line = w->lane->line;
        bool taken;

        line->held = true;
        taken = w->offer && w->offer(w, w->userdata);
        line->held = false;
        if (!taken)
                return false;
        note_grant(line->admission);
        to_the_end(line);
        line_release(line);
        return true;
}

/* Called when the daemon is full. Serves a wait that a pooled sandbox fits; for the others, ends as many pooled
 * sandboxes as there are waits. */
static bool offer_pooled(Admission *a) {
        uint64_t wanted = 0, ending;
        AdmissionLine *line;

        DL_FOREACH(a->turn, line) {
                AdmissionWait *w = line_next(line);

                if (!w || check_own(a, &w->ask, NULL) < 0)
                        continue;
                wanted++;
                if (offer(w))
                        return true;
        }
        ending = tally_of_pooled(a->manager).n_by_status[SANDBOX_TERMINATING];
        while (ending < wanted && a->reclaim && a->reclaim(a->reclaim_userdata))
                ending++;
        return false;
}

static bool admission_serve_one(Admission *a) {
        AdmissionWait *w;

        if (cap_check_daemon(a->manager, a->memory_bytes, NULL) < 0)
                return tally_of_pooled(a->manager).live > 0 && offer_pooled(a);
        w = next_of_all(a);
        if (!w)
                return false;
        grant(w);
        return true;
}

/* A callback may call this again: then there is another round. */
void admission_pump(Admission *a) {
        if (a->pumping) {
                a->again = true;
                return;
        }
        a->pumping = true;
        do {
                a->again = a->awake = false;
                while (a->turn && admission_serve_one(a))
                        ;
        } while (a->again);
        a->pumping = false;
}

void admission_wake(Admission *a) {
        if (!a || a->awake || !a->turn)
                return;
        if (sd_event_source_set_enabled(a->wake, SD_EVENT_ONESHOT) >= 0)
                a->awake = true;
}

/* Statistics. */

unsigned admission_retry_after(const Admission *a) {
        double seconds;

        if (a->mean_interval == 0)
                return RETRY_UNKNOWN;
        seconds = (double) (a->n_waiting + 1) * (double) a->mean_interval / (double) USEC_PER_SEC;
        return seconds < 1 ? 1 : seconds > RETRY_MAX ? RETRY_MAX : (unsigned) (seconds + 0.5);
}

/* Looks only at the heads of the lanes, because it is called often. A wait behind a head of higher priority may
 * be older, but not by much. */
static usec_t admission_oldest(const Admission *a) {
        usec_t oldest = USEC_INFINITY;
        const AdmissionLine *line;
        const Lane *lane;

        DL_FOREACH(a->turn, line)
                DL_FOREACH(line->lanes, lane)
                        oldest = MIN_OF(oldest, lane->waits->since);
        return oldest;
}

void admission_stats(const Admission *a, AdmissionStats *ret) {
        *ret = (AdmissionStats) {
                .waiting = a->n_waiting,
                .granted = a->n_granted,
                .timed_out = a->n_timed_out,
                .refused = a->n_refused,
                .longest_wait_usec = a->turn ? clock_usec() - admission_oldest(a) : 0,
                .cap = admission_cap(a),
                .live = (unsigned) tally_of_all(a->manager).live,
        };
}

uint64_t admission_waiting(const Admission *a, const char *tenant) {
        const AdmissionLine *line = tenant ? line_find(a, tenant) : NULL;

        return !tenant ? a->n_waiting : line ? line->n : 0;
}
