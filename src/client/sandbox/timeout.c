/* cove timeout: when a sandbox ends or is parked automatically. */

#include <stdio.h>

#include "client/ask.h"
#include "client/verbs.h"

static const Option timeout_options[] = {
        { "on-timeout", 0, "WHAT", "kill, pause, or park (default: unchanged)", BODY_TEXT("onTimeout") },
};

static void timeout_show(const json_t *sandbox, const char *word) {
        puts(json_get_text_or(sandbox, "expires_at", "never"));
}

static int timeout_run(const Place *place, void *options, const Operands *words) {
        Common *c = options;
        Error error = { 0 };
        usec_t usec;

        if (value_duration(/* option= */ NULL, words->items[1], &usec, &error) < 0)
                return verb_refuse("%s", error.text);
        json_put_number(&c->body, "timeoutSeconds", (double) usec / USEC_PER_SEC);
        return ask_run(place, c, words);
}

const Verb command_timeout = {
        .synopsis = "timeout SANDBOX TIME [options]",
        .about = "Sets how long a sandbox lives from now on; `never` removes the limit.",
        .more = "Example: cove timeout web 30m --on-timeout pause",
        VERB_OPTIONS(timeout_options), VERB_TWO("no sandbox given", "no time given"), .run = timeout_run, VERB_POST("/api/sandbox/%/timeout"),
        .show = timeout_show,
};
