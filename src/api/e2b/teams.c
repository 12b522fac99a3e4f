/* teams.c: teams: each caller sees only its own, with the number of sandboxes over time.
 *
 * No counters are kept for it: every sandbox has the times at which it was assigned and at which it ended. Those of
 * removed ones, as kill() leaves them, are in the records of their usage (metrics.retention). */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/e2b/template/templates.h"
#include "base/array.h"
#include "observe/observe.h"

#define POINTS_MAX    300
#define STEP_MIN      (5 * USEC_PER_SEC)
#define RANGE_DEFAULT (3600 * USEC_PER_SEC)

/* GET /teams. The team's key is not returned: only its owner has it. */
void e2b_team_list(ApiRequest *q) {
        (void) api_answer(q, 200, json_pack("[{s:s, s:s, s:s, s:b}]", "teamID", e2b_team(q), "name", e2b_team(q), "apiKey", "", "isDefault", 1));
}

typedef struct TeamsRange {
        usec_t start, end, step;
        size_t n; /* steps */
} TeamsRange;

/* The values of one step of the range. */
typedef struct TeamsPoint {
        unsigned most;    /* maximum of sandboxes at the same time */
        unsigned started;
} TeamsPoint;

/* Negative: has answered. */
static int teams_read_range(ApiRequest *q, TeamsRange *ret) {
        usec_t now = clock_wall_usec(), start = USEC_INFINITY, end = now;

        if (strcmp(q->parameters[0], e2b_team(q)) != 0)
                return e2b_error(q, 404, "team '%.100s' not found: the team of this key is '%s'", q->parameters[0], e2b_team(q));
        if (e2b_read_second(q, "start", &start) < 0 || e2b_read_second(q, "end", &end) < 0)
                return -EINVAL;
        if (start == USEC_INFINITY)
                start = end > RANGE_DEFAULT ? end - RANGE_DEFAULT : 0;
        if (start > end)
                return e2b_error(q, 400, "start: must be before the end");
        end = MAX_OF(MIN_OF(end, now), (usec_t) 1); /* the future is unknown, and 0 is null in JSON */
        start = MAX_OF(MIN_OF(start, end), (usec_t) 1);
        *ret = (TeamsRange) { .start = start, .end = end, .step = MAX_OF((end - start) / POINTS_MAX + 1, STEP_MIN) };
        ret->n = (end - start) / ret->step + 1;
        return 0;
}

/* Starts and ends of sandboxes, in order of time. */
typedef struct TeamsChange {
        usec_t at;
        int by;
} TeamsChange;

static int teams_by_time(const void *a, const void *b) {
        const TeamsChange *x = a, *y = b;

        return x->at != y->at ? (x->at < y->at ? -1 : 1) : x->by - y->by; /* at the same time, ends come first */
}

typedef struct TeamsChanges {
        TeamsChange *items;
        size_t n, room;
} TeamsChanges;

/* ended_at 0: it has not ended. A sandbox that ended before it began, by a calendar that was set back, would count as
 * less than none. */
static int teams_add(usec_t since, usec_t ended_at, void *userdata) {
        TeamsChanges *c = userdata;

        if (since == 0 || (ended_at != 0 && ended_at <= since))
                return 0;
        if (ARRAY_RESERVE(c->items, c->room, c->n + 2) < 0)
                return -ENOMEM;
        c->items[c->n++] = (TeamsChange) { since, 1 };
        if (ended_at != 0)
                c->items[c->n++] = (TeamsChange) { ended_at, -1 };
        return 0;
}

static int teams_changes(ApiRequest *q, const TeamsRange *range, TeamsChanges *c) {
        Sandbox *sb, *next;
        int r = observe_each_removed(q->api->rooms.observe, q->who.tenant, range->start, teams_add, c);

        HASH_ITER(hh, q->manager->sandboxes, sb, next)
                if (r >= 0 && !sb->pooled && principal_sees(&q->who, sb->spec.tenant))
                        r = teams_add(sandbox_owned_since(sb), sb->ended_at, c);
        if (c->n > 0)
                qsort(c->items, c->n, sizeof(*c->items), teams_by_time);
        return r;
}

static void teams_count(const TeamsRange *range, const TeamsChanges *c, TeamsPoint *points) {
        unsigned now = 0;
        size_t i = 0;

        for (; i < c->n && c->items[i].at < range->start; i++)
                now += (unsigned) c->items[i].by;
        for (size_t k = 0; k < range->n; k++) {
                usec_t end = MIN_OF(range->start + (k + 1) * range->step, range->end + 1);

                points[k].most = now;
                for (; i < c->n && c->items[i].at < end; i++) {
                        now += (unsigned) c->items[i].by;
                        points[k].started += c->items[i].by > 0;
                        points[k].most = MAX_OF(points[k].most, now);
                }
        }
}

/* Computes the points of the range. NULL: has answered. */
static TeamsPoint *teams_measure(ApiRequest *q, const TeamsRange *range) {
        TeamsPoint *points = calloc(range->n, sizeof(*points));
        TeamsChanges changes = {};
        int r = points ? teams_changes(q, range, &changes) : -ENOMEM;

        if (r >= 0)
                teams_count(range, &changes, points);
        else {
                free(points);
                points = NULL;
                (void) e2b_errno(q, r, NULL);
        }
        free(changes.items);
        return points;
}

static double rate_of(const TeamsRange *range, const TeamsPoint *p) {
        return (double) p->started * (double) USEC_PER_SEC / (double) range->step;
}

/* GET /teams/{team}/metrics */
void e2b_team_metrics(ApiRequest *q) {
        _cleanup_free_ TeamsPoint *points = NULL;
        TeamsRange range;
        json_t *list;

        if (teams_read_range(q, &range) < 0)
                return;
        points = teams_measure(q, &range);
        if (!points)
                return;
        list = json_array();
        for (size_t i = 0; i < range.n; i++) {
                usec_t at = range.start + i * range.step;

                (void) json_array_append_new(list, json_pack("{s:o, s:I, s:i, s:f}",
                                "timestamp", json_time(at),
                                "timestampUnix", (json_int_t) (at / USEC_PER_SEC),
                                "concurrentSandboxes", (int) points[i].most,
                                "sandboxStartRate", rate_of(&range, points + i)));
        }
        (void) api_answer(q, 200, list);
}

/* GET /teams/{team}/metrics/max */
void e2b_team_metrics_max(ApiRequest *q) {
        const char *metric = http_query(q->http, "metric");
        const bool rate = metric && strcmp(metric, "sandbox_start_rate") == 0;
        _cleanup_free_ TeamsPoint *points = NULL;
        TeamsRange range;
        double value = -1;
        usec_t at = 0;

        if (!rate && (!metric || strcmp(metric, "concurrent_sandboxes") != 0)) {
                (void) e2b_error(q, 400, "metric: must be concurrent_sandboxes or sandbox_start_rate");
                return;
        }
        if (teams_read_range(q, &range) < 0)
                return;
        points = teams_measure(q, &range);
        if (!points)
                return;
        for (size_t i = 0; i < range.n; i++) {
                double here = rate ? rate_of(&range, points + i) : points[i].most;

                if (here > value) {
                        value = here;
                        at = range.start + i * range.step;
                }
        }
        (void) api_answer(q, 200, json_pack("{s:o, s:I, s:f}", "timestamp", json_time(at), "timestampUnix", (json_int_t) (at / USEC_PER_SEC), "value", value));
}
