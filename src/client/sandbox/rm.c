/* cove rm: removes sandboxes. */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "client/sandbox/listing.h"
#include "client/sandbox/several.h"
#include "client/verbs.h"

#define SANDBOXES_MAX 10000000

typedef struct RmOptions {
        Common common;
        bool force, all, yes;
} RmOptions;

APPLY_FLAG(RmOptions, force)
APPLY_FLAG(RmOptions, all)
APPLY_FLAG(RmOptions, yes)

static const Option rm_options[] = {
        { "force", 'f', NULL, "also while commands run in it, and from every\nstate", apply_force },
        { "all",   'a', NULL, "all sandboxes of the daemon; asks first",              apply_all   },
        { "yes",   'y', NULL, "do not ask",                                           apply_yes   },
        COMMON_OPTIONS,
};

static const Usage usage = {
        .synopsis = "rm SANDBOX… [options]",
        .about = "Removes sandboxes with everything in them: processes, files, output.",
        USAGE_OPTIONS(rm_options),
        .operands_max = USAGE_ANY_NUMBER,
};

static int rm_add_id(const json_t *sandbox, void *userdata) {
        const char *id = json_get_text(sandbox, "id");
        return id ? strv_push(userdata, id) : 0;
}

/* True: go on. */
static bool confirm(size_t n) {
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

static int rm_remove_all(const Several *s, const RmOptions *o) {
        _cleanup_listing_ Listing l = { 0 };
        Strv ids = STRV_INIT(SANDBOXES_MAX);
        int status = EXIT_OWN_FAILURE;

        if (listing_get(s->place, /* filter= */ NULL, &l) < 0)
                return EXIT_OWN_FAILURE;
        if (listing_each(&l, rm_add_id, &ids) < 0)
                log_error("out of memory");
        else if (ids.n == 0 || o->yes || confirm(ids.n))
                status = several_ask(s, ids.items, ids.n);
        strv_done(&ids);
        return status;
}

static int remove_them(const Place *place, const RmOptions *o, const Operands *words) {
        Several several = {
                .place = place, .method = "DELETE", .query = o->force ? "force=true" : NULL, .json = o->common.json,
        };

        if (o->all && words->n > 0) {
                log_error("--all and '%s': say one or the other", words->items[0]);
                return EXIT_OWN_FAILURE;
        }
        if (!o->all && words->n == 0) {
                log_error("no sandbox given: cove %s", usage.synopsis);
                return EXIT_OWN_FAILURE;
        }
        return o->all ? rm_remove_all(&several, o) : several_ask(&several, words->items, words->n);
}

int verb_rm(int argc, char **argv) {
        _cleanup_place_ Place place = { 0 };
        RmOptions o = { 0 };
        Operands words;
        int status;

        if (usage_begin(&usage, argc, argv, &o, &words, &place, &status) == 0)
                status = remove_them(&place, &o, &words);
        return status;
}
