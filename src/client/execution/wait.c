/* cove wait: until a command has ended, with its status. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "client/execution/pick.h"
#include "client/execution/verdict.h"
#include "client/usage.h"
#include "client/verbs.h"

#define PIECE (20 * USEC_PER_SEC) /* a question is answered before a silent connection would be cut */

typedef struct WaitOptions {
        Common common;
        bool has_timeout;
        usec_t timeout;
} WaitOptions;

static int wait_apply_timeout(void *target, const char *value, Error *reterr) {
        WaitOptions *o = target;
        int r = value_duration("--timeout", value, &o->timeout, reterr);

        o->has_timeout = r >= 0 && o->timeout > 0;
        return r;
}

static const Option wait_options[] = {
        { "timeout", 0, "TIME", "do not wait longer, and say so with status 124", wait_apply_timeout },
        COMMON_OPTIONS,
};

static const Usage usage = {
        .synopsis = "wait SANDBOX [EXECUTION] [options]",
        .about = "Waits until a command has ended and exits with its status. Without EXECUTION it is the one that\n"
                 "runs, or the last one that ran.",
        .more = "exit status: as of `cove exec`; 124 also when --timeout was over first.",
        USAGE_OPTIONS(wait_options),
        .operands_min = 1,
        .operands_max = 2,
        .missing = "no sandbox given",
};

static int wait_ask(const Place *place, const char *sandbox, const char *execution, usec_t usec, Answer *ret) {
        _cleanup_url_ Url u = { 0 };
        char seconds[32];

        (void) snprintf(seconds, sizeof(seconds), "%llu", (unsigned long long) ((usec + USEC_PER_SEC - 1) / USEC_PER_SEC));
        url_execution(&u, sandbox, execution, "wait");
        url_query(&u, "timeoutSeconds", seconds);
        return client_need(place, /* method= */ NULL, &u, /* body= */ NULL, ret);
}

static int wait_for(const Place *place, const WaitOptions *o, const char *sandbox, const char *execution) {
        usec_t until = o->has_timeout ? clock_usec() + o->timeout : USEC_INFINITY;

        for (;;) {
                usec_t now = clock_usec(), left = until > now ? until - now : 0;
                _cleanup_answer_ Answer a = { 0 };

                if (wait_ask(place, sandbox, execution, MIN_OF(left, PIECE), &a) < 0)
                        return EXIT_OWN_FAILURE;
                if (strcmp(json_get_text_or(a.json, "status", ""), "exited") == 0) {
                        if (o->common.json)
                                answer_print(&a);
                        return verdict_tell(a.json);
                }
                if (clock_usec() >= until) {
                        if (o->common.json)
                                answer_print(&a);
                        log_error("command %s of sandbox '%s' still runs", execution, sandbox);
                        return EXIT_TIMED_OUT;
                }
        }
}

static int wait_for_one(const Place *place, const WaitOptions *o, const Operands *words) {
        _cleanup_answer_ Answer a = { 0 };
        const json_t *execution;

        if (words->n == 2)
                return wait_for(place, o, words->items[0], words->items[1]);
        if (pick_execution(place, words->items[0], /* given= */ NULL, PICK_ENDED_TOO, &a, &execution) < 0)
                return EXIT_OWN_FAILURE;
        return wait_for(place, o, words->items[0], json_get_text(execution, "id"));
}

int verb_wait(int argc, char **argv) {
        _cleanup_place_ Place place = { 0 };
        WaitOptions o = { 0 };
        Operands words;
        int status;

        if (usage_begin(&usage, argc, argv, &o, &words, &place, &status) == 0)
                status = wait_for_one(&place, &o, &words);
        return status;
}
