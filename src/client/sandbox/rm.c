/* cove rm: removes sandboxes. */

#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "client/ask.h"
#include "client/sandbox/listing.h"
#include "client/verbs.h"

#define SANDBOXES_MAX 10000000

static const Option rm_options[] = {
        { "force", 'f', NULL, "even if commands run in it, and in every\nstate", QUERY_TRUE("force")          },
        { "all",   'a', NULL, "all sandboxes of the daemon; asks first",              OPTION_OWN },
        { "yes",   'y', NULL, "do not ask",                                           OPTION_OWN },
        OPTION_INSTEAD("volumes", 'v', NULL, "volumes outlive sandboxes: `cove volume rm VOLUME`"),
};

/* True: the user agrees. */
static bool rm_confirm(size_t n) {
        char answer[16] = "";

        if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
                log_error("--all would remove %zu sandboxes, and there is no terminal to ask on: add --yes", n);
                return false;
        }
        fprintf(stderr, "Remove all %zu sandboxes with everything in them? [y/N] ", n);
        if (!fgets(answer, sizeof(answer), stdin))
                fputc('\n', stderr);
        return answer[0] == 'y' || answer[0] == 'Y';
}

static int rm_remove_all(const Place *place, Common *o) {
        _cleanup_(strv_done) Strv ids = STRV_INIT(SANDBOXES_MAX);
        _cleanup_listing_ Listing l = { 0 };

        if (listing_sandboxes(place, &l) < 0)
                return EXIT_OWN_FAILURE;
        for (const json_t *sandbox; (sandbox = listing_row(&l));)
                if (strv_push(&ids, json_get_text_or(sandbox, "id", "")) < 0)
                        return verb_refuse("out of memory");
        if (ids.n > 0 && !common_said(o, "yes") && !rm_confirm(ids.n))
                return EXIT_OWN_FAILURE;
        return ask_run(place, o, &(const Operands) { ids.items, (unsigned) ids.n });
}

static int rm_run(const Place *place, void *options, const Operands *words) {
        Common *o = options;

        if (common_said(o, "all") && words->n > 0)
                return verb_refuse("--all and '%s': say one or the other", words->items[0]);
        if (!common_said(o, "all") && words->n == 0)
                return verb_refuse("no sandbox given: cove %s", o->verb->synopsis);
        return common_said(o, "all") ? rm_remove_all(place, o) : ask_run(place, o, words);
}

const Verb command_rm = {
        .synopsis = "rm SANDBOX… [options]",
        .about = "Removes sandboxes with their processes, files and output.",
        VERB_OPTIONS(rm_options), .operands_max = VERB_ANY_NUMBER, .run = rm_run, VERB_DELETE("/api/sandbox/%"),
};
