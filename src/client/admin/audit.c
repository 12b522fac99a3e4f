/* cove audit: is what the daemon believes what there is? And what has been done with it, by whom?
 *
 * Without a word: the first question. The others are about the audit log. */

#include "client/admin/audit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "client/human.h"
#include "client/verbs.h"

#define EXIT_FOUND 1

static const Option state_options[] = { COMMON_OPTIONS };

static const Usage state_usage = {
        .synopsis = "audit state [options]",
        .about = "Compares what the daemon has on record with what is there. Exit status 1: they differ.",
        .more = "`cove audit` alone means this. `cove reconcile` puts it right.",
        USAGE_OPTIONS(state_options),
};

static void client_audit_print_item(const json_t *item) {
        const char *text = json_text_of(item), *id = text ? text : json_get_text(item, "id"), *reason = json_get_text(item, "reason");
        char *clean = human_clean(id ? id : "?"), *why = reason ? human_clean(reason) : NULL;

        printf("    %s%s%s\n", clean ? clean : "?", why ? ": " : "", why ? why : "");
        free(clean);
        free(why);
}

/* Every list of the answer is of things that should not be. */
static void print_lists(const json_t *answer) {
        static const struct {
                const char *name, *good, *bad;
        } known[] = {
                { "orphanedRecords", "every record has its sandbox", "records without a sandbox" },
                { "orphanedActual", "every sandbox has its record", "sandboxes without a record" },
                { "strayFiles", "every file belongs to a record", "files without a record" },
                { "unresponsive", "every sandbox answers", "sandboxes that do not answer" },
        };
        const char *error = json_get_text(answer, "error");

        for (size_t i = 0; i < ELEMENTSOF(known); i++) {
                const json_t *list = json_object_get(answer, known[i].name), *item;
                size_t n = json_array_size(list), k;

                if (n == 0)
                        printf("✓ %s\n", known[i].good);
                else
                        printf("✗ %zu %s\n", n, known[i].bad);
                json_array_foreach(list, k, item)
                        client_audit_print_item(item);
        }
        if (error) {
                char *clean = human_clean(error);

                printf("✗ %s\n", clean ? clean : "?");
                free(clean);
        }
}

static int audit_state(const Place *place, void *options, const Operands *words) {
        const AuditOptions *o = options;
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };

        url_begin(&u, "/api/sandbox/audit");
        if (client_need(place, /* method= */ NULL, &u, /* body= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (o->common.json)
                answer_print(&a);
        else
                print_lists(a.json);
        return json_get_bool(a.json, "consistent") ? 0 : EXIT_FOUND;
}

int verb_audit(int argc, char **argv) {
        static const Subverb subverbs[] = {
                { "state",  &state_usage,        audit_state  },
                { "verify", &audit_verify_usage, audit_verify },
                { "export", &audit_export_usage, audit_export },
                { "ls",     &audit_ls_usage,     audit_ls     },
                { "tail",   &audit_tail_usage,   audit_tail   },
        };
        AuditOptions o = { .count = 20 };
        bool none = argc < 2 || (argv[1][0] == '-' && strcmp(argv[1], "--help") != 0 && strcmp(argv[1], "-h") != 0);

        if (none) { /* the name of the verb stands for "state" */
                _cleanup_place_ Place place = { 0 };
                Operands words;
                int status;

                if (usage_begin(&state_usage, argc, argv, &o, &words, &place, &status) == 0)
                        status = audit_state(&place, &o, &words);
                return status;
        }
        return subverb_run("audit", "Compares the daemon's records with what is there (state, the default), and reads its audit log.",
                        subverbs, ELEMENTSOF(subverbs), argc, argv, &o);
}
