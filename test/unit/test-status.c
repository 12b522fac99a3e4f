/* The life of a sandbox: every move, legal or not, and the names. */
#include "unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/status.h"

/* All states that there could be, legal or not: places are the statuses and parked, each with every activity. */
#define N_STATES ((_SANDBOX_STATUS_MAX + 1) * _ACTIVITY_MAX)

static SandboxState state_at(size_t i) {
        size_t place = i / _ACTIVITY_MAX;
        bool parked = place == _SANDBOX_STATUS_MAX;

        return (SandboxState) {
                .status = parked ? SANDBOX_PAUSED : (SandboxStatus) place,
                .parked = parked,
                .activity = (SandboxActivity) (i % _ACTIVITY_MAX),
        };
}

static void state_print(SandboxState s, char *ret, size_t size) {
        (void) snprintf(ret, size, "%s/%s", s.parked ? "parked" : sandbox_status_name(s.status), sandbox_activity_name(s.activity));
}

/* Every pair of states: a move that no row names is refused. */
TEST(moves) {
        static const struct {
                const char *from, *to;
        } rows[] = {
                { "initializing/none",        "initializing/connecting ready/none terminating/none" },
                { "initializing/connecting",  "ready/none terminating/none" },
                { "ready/none",               "ready/connecting ready/freezing ready/stopping ready/holding ready/draining ready/unloading running/none terminating/none" },
                { "ready/connecting",         "ready/none ready/unloading running/connecting terminating/none" },
                { "ready/freezing",           "ready/none ready/unloading running/freezing paused/none terminating/none" },
                { "ready/stopping",           "ready/unloading running/stopping stopped/none terminating/none" },
                { "ready/holding",            "ready/none ready/held ready/unloading running/holding terminating/none" },
                { "ready/held",               "ready/releasing ready/unloading running/held terminating/none" },
                { "ready/releasing",          "ready/none ready/unloading running/releasing terminating/none" },
                { "ready/draining",           "ready/unloading running/draining terminating/none" },
                { "ready/unloading",          "ready/syncing running/unloading terminating/none" },
                { "ready/syncing",            "running/syncing terminating/none parked/none" },
                { "running/none",             "ready/none running/connecting running/freezing running/stopping running/holding running/draining running/unloading terminating/none" },
                { "running/connecting",       "ready/connecting running/none running/unloading terminating/none" },
                { "running/freezing",         "ready/freezing running/none running/unloading paused/none terminating/none" },
                { "running/stopping",         "ready/stopping running/unloading stopped/none terminating/none" },
                { "running/holding",          "ready/holding running/none running/held running/unloading terminating/none" },
                { "running/held",             "ready/held running/releasing running/unloading terminating/none" },
                { "running/releasing",        "ready/releasing running/none running/unloading terminating/none" },
                { "running/draining",         "ready/draining running/unloading terminating/none" },
                { "running/unloading",        "ready/unloading running/syncing terminating/none" },
                { "running/syncing",          "ready/syncing terminating/none parked/none" },
                { "paused/none",              "ready/none running/none paused/thawing paused/unloading terminating/none" },
                { "paused/thawing",           "ready/none running/none paused/none paused/unloading terminating/none" },
                { "paused/unloading",         "paused/syncing terminating/none" },
                { "paused/syncing",           "terminating/none parked/none" },
                { "stopped/none",             "ready/none stopped/holding stopped/unloading terminating/none" },
                { "stopped/holding",          "ready/holding stopped/none stopped/held stopped/unloading terminating/none" },
                { "stopped/held",             "ready/held stopped/releasing stopped/unloading terminating/none" },
                { "stopped/releasing",        "ready/releasing stopped/none stopped/unloading terminating/none" },
                { "stopped/unloading",        "stopped/syncing terminating/none" },
                { "stopped/syncing",          "terminating/none parked/none" },
                { "terminating/none",         "completed/none failed/none terminated/none" },
                { "completed/none",           "" },
                { "failed/none",              "" },
                { "terminated/none",          "" },
                { "parked/none",              "terminating/none parked/booting parked/swapping" },
                { "parked/connecting",        "ready/none terminating/none parked/none parked/unloading" },
                { "parked/unloading",         "terminating/none parked/none" },
                { "parked/booting",           "ready/none terminating/none parked/none parked/connecting parked/unloading" },
                { "parked/swapping",          "terminating/none parked/none" },
        };
        size_t row = 0;

        for (size_t i = 0; i < N_STATES; i++) {
                char from[64], to[64], all[1024] = "";

                state_print(state_at(i), from, sizeof(from));
                for (size_t k = 0; k < N_STATES; k++)
                        if (sandbox_state_may_become(state_at(i), state_at(k))) {
                                state_print(state_at(k), to, sizeof(to));
                                (void) snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", *all ? " " : "", to);
                                check_true("leads to a state", sandbox_state_is_valid(state_at(k)));
                        }
                if (row < ELEMENTSOF(rows) && strcmp(rows[row].from, from) == 0) {
                        check_true(from, sandbox_state_is_valid(state_at(i)));
                        check_string(from, all, rows[row++].to);
                } else {
                        check_true(from, !sandbox_state_is_valid(state_at(i)));
                        check_string(from, all, "");
                }
        }
        check_uint("rows", row, ELEMENTSOF(rows));
}

/* With any status but paused, parked says nothing. */
TEST(parked_is_a_kind_of_paused) {
        for (size_t i = 0; i < N_STATES; i++)
                for (size_t k = 0; k < N_STATES; k++) {
                        SandboxState from = state_at(i), to = state_at(k);
                        bool may = sandbox_state_may_become(from, to);

                        from.parked |= from.status != SANDBOX_PAUSED;
                        to.parked |= to.status != SANDBOX_PAUSED;
                        check_int("as well", sandbox_state_may_become(from, to), may);
                }
}

/* Adds what can be reached from what is reached. */
static void reach(bool *reached, bool through_the_end) {
        for (bool more = true; more;) {
                more = false;
                for (size_t i = 0; i < N_STATES; i++)
                        for (size_t k = 0; reached[i] && k < N_STATES; k++)
                                if (!reached[k] && sandbox_state_may_become(state_at(i), state_at(k)) &&
                                                (through_the_end || state_at(k).status != SANDBOX_TERMINATING))
                                        more = reached[k] = true;
        }
}

TEST(every_state_is_reached_and_nothing_else) {
        bool reached[N_STATES] = { [SANDBOX_INITIALIZING * _ACTIVITY_MAX + ACTIVITY_NONE] = true };
        char name[64];

        reach(reached, /* through_the_end= */ true);
        for (size_t i = 0; i < N_STATES; i++) {
                state_print(state_at(i), name, sizeof(name));
                check_int(name, reached[i], sandbox_state_is_valid(state_at(i)));
        }
}

/* Also without the end of the sandbox. */
TEST(every_activity_ends) {
        for (size_t i = 0; i < N_STATES; i++) {
                bool reached[N_STATES] = { false }, ends = false;
                char name[64];

                if (!sandbox_state_is_valid(state_at(i)))
                        continue;
                reached[i] = true;
                reach(reached, /* through_the_end= */ false);
                for (size_t k = 0; k < N_STATES; k++)
                        ends |= reached[k] && state_at(k).activity == ACTIVITY_NONE;
                state_print(state_at(i), name, sizeof(name));
                check_true(name, ends);
        }
}

TEST(moves_of_no_state) {
        static const int strange[] = { _SANDBOX_STATUS_INVALID, -1, 31, 32, 1000 };

        for (size_t i = 0; i < ELEMENTSOF(strange); i++) {
                SandboxState no_status = { .status = (SandboxStatus) strange[i] }, no_activity = { .activity = (SandboxActivity) strange[i] };

                for (size_t k = 0; k < N_STATES; k++) {
                        check_true("from", !sandbox_state_may_become(no_status, state_at(k)) && !sandbox_state_may_become(no_activity, state_at(k)));
                        check_true("to", !sandbox_state_may_become(state_at(k), no_status) && !sandbox_state_may_become(state_at(k), no_activity));
                }
                check_true("live", !sandbox_status_is_live(no_status.status));
                check_true("ended", !sandbox_status_is_ended(no_status.status));
                check_string("name", sandbox_status_name(no_status.status), NULL);
                check_string("name", sandbox_activity_name(no_activity.activity), NULL);
        }
        check_true("status", !sandbox_status_is_live(_SANDBOX_STATUS_MAX) && !sandbox_status_name(_SANDBOX_STATUS_MAX));
        check_true("activity", !sandbox_activity_name(_ACTIVITY_MAX));
}

TEST(live_or_ended) {
        for (SandboxStatus s = 0; s < _SANDBOX_STATUS_MAX; s++) {
                bool ended = s == SANDBOX_COMPLETED || s == SANDBOX_FAILED || s == SANDBOX_TERMINATED;

                check_int(sandbox_status_name(s), sandbox_status_is_ended(s), ended);
                check_int(sandbox_status_name(s), sandbox_status_is_live(s), !ended);
        }
}

/* Whatever it is in and whatever is under way, it can be brought to each of the ends, and only through terminating. */
TEST(every_life_ends) {
        const SandboxState terminating = { .status = SANDBOX_TERMINATING };

        for (size_t i = 0; i < N_STATES; i++)
                for (SandboxStatus end = SANDBOX_COMPLETED; end < _SANDBOX_STATUS_MAX; end++) {
                        SandboxState from = state_at(i), to = { .status = end };

                        if (!sandbox_state_is_valid(from) || from.status >= SANDBOX_TERMINATING)
                                continue;
                        check_true("not at once", !sandbox_state_may_become(from, to));
                        check_true("begin", sandbox_state_may_become(from, terminating));
                        check_true("end", sandbox_state_may_become(terminating, to));
                }
}

#define CHECK_NAMES(prefix, type, first, max)                                                      \
        for (type v = (first); v < (max); v++) {                                                   \
                check_true("has a name", prefix##_name(v) != NULL);                                \
                check_int(prefix##_name(v), prefix##_from_name(prefix##_name(v)), v);              \
        }                                                                                          \
        check_string(#prefix, prefix##_name((type) - 1), NULL);                                    \
        check_string(#prefix, prefix##_name(max), NULL);                                           \
        check_result(#prefix, prefix##_from_name("nonsense"), -EINVAL);                            \
        check_result(#prefix, prefix##_from_name(""), -EINVAL);                                    \
        check_result(#prefix, prefix##_from_name("READY"), -EINVAL)

TEST(names) {
        CHECK_NAMES(sandbox_status, SandboxStatus, 0, _SANDBOX_STATUS_MAX);
        CHECK_NAMES(execution_status, ExecutionStatus, 0, _EXECUTION_STATUS_MAX);
        CHECK_NAMES(execution_reason, ExecutionReason, EXECUTION_REASON_NONE + 1, _EXECUTION_REASON_MAX);
        CHECK_NAMES(on_timeout, OnTimeout, 0, _ON_TIMEOUT_MAX);

        check_string("no reason", execution_reason_name(EXECUTION_REASON_NONE), NULL);
        check_int("no reason", execution_reason_from_name(NULL), EXECUTION_REASON_NONE);
        check_result("no status", sandbox_status_from_name(NULL), -EINVAL);
        check_result("no status", execution_status_from_name(NULL), -EINVAL);
        check_result("no action", on_timeout_from_name(NULL), -EINVAL);
}

/* They are in databases and in programs of other people. */
TEST(names_as_promised) {
        check_string("status", sandbox_status_name(SANDBOX_INITIALIZING), "initializing");
        check_string("status", sandbox_status_name(SANDBOX_TERMINATED), "terminated");
        check_string("status", execution_status_name(EXECUTION_STARTING), "starting");
        check_string("reason", execution_reason_name(EXECUTION_REASON_SIGNALED), "signaled");
        check_string("reason", execution_reason_name(EXECUTION_REASON_CPU_TIME), "cpu_time");
        check_string("reason", execution_reason_name(EXECUTION_REASON_NOT_FOUND), "not_found");
        check_string("reason", execution_reason_name(EXECUTION_REASON_SANDBOX_ENDED), "sandbox_ended");
        check_string("action", on_timeout_name(ON_TIMEOUT_PAUSE), "pause");
}
