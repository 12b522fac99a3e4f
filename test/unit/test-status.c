/* The life of a sandbox: every move, allowed or not, and the names. */
#include "unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/status.h"

/* Columns are in the order of the rows: may the row become it? */
TEST(moves) {
        static const struct {
                SandboxStatus from;
                const char *to;
        } rows[] = {
                /*                        i r r p s t c f t */
                { SANDBOX_INITIALIZING, ". y . . . y . . ." },
                { SANDBOX_READY,        ". . y y y y . . ." },
                { SANDBOX_RUNNING,      ". y . y y y . . ." },
                { SANDBOX_PAUSED,       ". y y y . y . . ." },
                { SANDBOX_STOPPED,      ". y y y . y . . ." },
                { SANDBOX_TERMINATING,  ". . . . . . y y y" },
                { SANDBOX_COMPLETED,    ". . . . . . . . ." },
                { SANDBOX_FAILED,       ". . . . . . . . ." },
                { SANDBOX_TERMINATED,   ". . . . . . . . ." },
        };

        check_uint("rows", ELEMENTSOF(rows), _SANDBOX_STATUS_MAX);
        for (size_t i = 0; i < ELEMENTSOF(rows); i++)
                for (SandboxStatus to = 0; to < _SANDBOX_STATUS_MAX; to++) {
                        char what[64];

                        (void) snprintf(what, sizeof(what), "%s → %s", sandbox_status_name(rows[i].from),
                                        sandbox_status_name(to));
                        check_uint("row", rows[i].from, i);
                        check_int(what, sandbox_status_may_become(rows[i].from, to), rows[i].to[2 * to] == 'y');
                }
}

TEST(moves_of_no_status) {
        static const SandboxStatus strange[] = { _SANDBOX_STATUS_INVALID, -1, _SANDBOX_STATUS_MAX, 31, 32, 1000 };

        for (size_t i = 0; i < ELEMENTSOF(strange); i++) {
                for (SandboxStatus s = 0; s < _SANDBOX_STATUS_MAX; s++) {
                        check_true("from", !sandbox_status_may_become(strange[i], s));
                        check_true("to", !sandbox_status_may_become(s, strange[i]));
                }
                check_true("live", !sandbox_status_is_live(strange[i]));
                check_true("ended", !sandbox_status_is_ended(strange[i]));
                check_string("name", sandbox_status_name(strange[i]), NULL);
        }
}

TEST(live_or_ended) {
        for (SandboxStatus s = 0; s < _SANDBOX_STATUS_MAX; s++) {
                bool ended = s == SANDBOX_COMPLETED || s == SANDBOX_FAILED || s == SANDBOX_TERMINATED;

                check_int(sandbox_status_name(s), sandbox_status_is_ended(s), ended);
                check_int(sandbox_status_name(s), sandbox_status_is_live(s), !ended);
                check_int(sandbox_status_name(s), sandbox_status_may_become(s, SANDBOX_TERMINATING),
                                !ended && s != SANDBOX_TERMINATING);
        }
}

/* Whatever it is in, it can be brought to each of the ends, and then to nothing else. */
TEST(every_life_ends) {
        for (SandboxStatus s = 0; s < SANDBOX_TERMINATING; s++)
                for (SandboxStatus end = SANDBOX_COMPLETED; end < _SANDBOX_STATUS_MAX; end++) {
                        check_true("not at once", !sandbox_status_may_become(s, end));
                        check_true("begin", sandbox_status_may_become(s, SANDBOX_TERMINATING));
                        check_true("end", sandbox_status_may_become(SANDBOX_TERMINATING, end));
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
