/* cove wait: waits for the end of a command, and exits with its status. */

#include <string.h>

#include "base/log.h"
#include "client/ask.h"
#include "client/execution/pick.h"
#include "client/execution/verdict.h"
#include "client/verbs.h"
#include "client/waiting.h"

#define PIECE (20 * USEC_PER_SEC) /* each request ends before a silent connection would be cut */

typedef struct WaitOptions {
        Common common;
        usec_t timeout; /* 0: none */
} WaitOptions;

static const Option wait_options[] = {
        { "timeout", 0, "TIME", "stop waiting after this time, with status 124", OPTION_DURATION(WaitOptions, timeout) },
};

static int wait_for(const Place *place, const WaitOptions *o, const char *sandbox, const char *execution) {
        usec_t until = o->timeout > 0 ? clock_usec() + o->timeout : USEC_INFINITY;

        waiting_for("waiting for the command's end");
        farewell_set(/* leftover= */ NULL, "command %s of sandbox '%s' goes on: `cove wait %s %s` waits again, `cove attach %s %s` rejoins it", execution, sandbox, sandbox,
                        execution, sandbox, execution);

        for (;;) {
                usec_t now = clock_usec(), left = until > now ? until - now : 0;
                _cleanup_answer_ Answer a = { 0 };

                if (client_need_path(place, /* body= */ NULL, &a,
                                    "/api/sandbox/%s/exec/%s/wait?timeoutSeconds=%llu", sandbox, execution,
                                    (unsigned long long) ((MIN_OF(left, PIECE) + USEC_PER_SEC - 1) /
                                                          USEC_PER_SEC)) < 0)
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

static int wait_for_one(const Place *place, void *options, const Operands *words) {
        const WaitOptions *o = options;
        _cleanup_answer_ Answer a = { 0 };
        const json_t *execution;

        if (words->n == 2)
                return wait_for(place, o, words->items[0], words->items[1]);
        if (pick_execution(place, words->items[0], /* given= */ NULL, PICK_ENDED_TOO, &a, &execution) < 0)
                return EXIT_OWN_FAILURE;
        return wait_for(place, o, words->items[0], json_get_text(execution, "id"));
}

const Verb command_wait = {
        .synopsis = "wait SANDBOX [EXECUTION] [options]",
        .about = "Waits until a command has ended and exits with its status. The default is the running command,\n"
                 "or the last one that ran.",
        .more = "exit status: as of `cove exec`; 124 also if --timeout was over first.",
        VERB_OPTIONS(wait_options), VERB_UP_TO(2, "no sandbox given"), VERB_RUN(wait_for_one, WaitOptions),
};
