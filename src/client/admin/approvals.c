/* cove approvals: questions from sandboxes, and their answers. */

#include <stdio.h>
#include <unistd.h>

#include "client/ask.h"
#include "client/human.h"
#include "client/verbs.h"

static const Option ls_options[] = {
        { "status", 0, "STATUS", "open, allowed, denied or expired (default: all)", QUERY_TEXT("status")                 },
        { "limit",  0, "N",      "only the newest N (default: 100)",              QUERY_TEXT("limit")                  },
        { "watch",  0, NULL,     "keep running, and print each new request",     OPTION_OWN },
};

static const Option allow_options[] = {
        { "scope", 0, "SCOPE", "once (default), sandbox, or profile: also for later\nsandboxes of the same profile", BODY_TEXT("scope") },
};

static const Column approval_columns[] = {
        { "ID", "id" }, { "STATUS", "status", cell_status }, { ">AGE", "askedAt", cell_age }, { "SANDBOX", "sandbox" }, { "WHAT", "object" },
        { "SCOPE", "scope" }, { "BY", "by" },
};

static void approvals_print(const Common *o, const json_t *a) {
        _cleanup_free_ char *raw = o->json ? client_json_print(a, /* pretty= */ false) : NULL;
        _cleanup_free_ char *object = human_clean(json_get_text_or(a, "object", ""));

        if (raw)
                puts(raw);
        else
                printf("%s\t%s\t%s\n", json_get_text_or(a, "id", ""), json_get_text_or(a, "sandbox", ""), object ? object : "");
        (void) fflush(stdout);
}

/* Prints every open question once. The list comes newest first; ids are remembered as long as they are in
 * it. */
static int approvals_watch(const Place *place, Common *o, const Operands *words) {
        _cleanup_json_ json_t *seen = json_object();
        const Option open = { .name = "status", QUERY_TEXT("status") };
        Error error = { 0 };

        if (open.set(&open, o, "open", &error) < 0)
                return verb_refuse("%s", error.text);
        for (;;) {
                _cleanup_answer_ Answer a = { 0 };
                json_t *now = json_object();

                if (!seen || !now || ask_need(place, o, words, &a) < 0) {
                        json_decref(now);
                        return EXIT_OWN_FAILURE;
                }
                for (size_t i = json_array_size(a.json); i-- > 0;) {
                        const json_t *item = json_array_get(a.json, i);
                        const char *id = json_get_text_or(item, "id", "");

                        if (!json_object_get(seen, id))
                                approvals_print(o, item);
                        (void) json_object_set_new(now, id, json_true());
                }
                json_decref(seen);
                seen = now;
                (void) sleep(1);
        }
}

static int approvals_list(const Place *place, void *options, const Operands *words) {
        Common *o = options;

        return common_said(o, "watch") ? approvals_watch(place, o, words) : ask_run(place, o, words);
}

static const Verb approvals_parts[] = {
        { "ls", "approvals ls [options]", "Lists requests of sandboxes for network access, newest first.", VERB_OPTIONS(ls_options),
          .run = approvals_list, .path = "/api/approvals", VERB_COLUMNS(approval_columns) },
        { "allow", "approvals allow ID… [options]", "Grants requests.", VERB_OPTIONS(allow_options), VERB_SOME("no approval given"), .method = "POST",
          .path = "/api/approvals/%", .body = "{\"allow\":true}", .each = true, .lines = true },
        { "deny", "approvals deny ID… [options]", "Refuses requests.", VERB_SOME("no approval given"), .method = "POST", .path = "/api/approvals/%",
          .body = "{\"allow\":false}", .each = true, .lines = true },
};

const Verb command_approvals = {
        .name = "approvals",
        .about = "Shows requests of sandboxes for network access (ls, the default), and answers them.",
        VERB_PARTS(approvals_parts), .first_is_meant = true,
};
