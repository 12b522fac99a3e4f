/* cove audit: compares the daemon's records with what exists, and reads the audit log.
 *
 * Without a subcommand: the comparison. The subcommands are about the audit log. */

#include "client/admin/audit.h"

#include <stdio.h>

#include "client/human.h"
#include "client/verbs.h"

static const Option verify_options[] = { AUDIT_DIR_OPTION };
static const Option export_options[] = { AUDIT_DIR_OPTION, AUDIT_FILTER_OPTIONS };
static const Option ls_options[] = { AUDIT_FILTER_OPTIONS };
static const Option tail_options[] = {
        { "count",  'n', "N",  "how many of the newest records (default 20)", OPTION_NUMBER(AuditOptions, count, 0, 1000000) },
        { "follow", 'f', NULL, "continue with later records",           QUERY_TRUE("follow")                           },
        AUDIT_FILTER_OPTIONS,
};

static void client_audit_print_item(const json_t *item) {
        const char *text = json_text_of(item), *reason = json_get_text(item, "reason");

        human_line("    %s%s%s", text ? text : json_get_text_or(item, "id", "?"), reason ? ": " : "",
                        reason ? reason : "");
}

/* Every list of the answer has things that should not exist. */
static void print_lists(const json_t *answer, const char *word) {
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
        if (error)
                human_line("✗ %s", error);
}

static const Verb audit_parts[] = {
        { "state", "audit state [options]", "Compares the daemon's records with the kernel. Exit status 1: they differ.",
          .more = "This is the default of `cove audit`. `cove reconcile` corrects the differences.", .path = "/api/sandbox/audit", .show = print_lists,
          .good = "consistent" },
        { "verify", "audit verify [options]", "Checks that no record of the audit log was changed, added or removed. Exit status 1: one was.",
          .more = "Keep the output: a later check must find the same record at the same number.", VERB_OPTIONS(verify_options),
          VERB_RUN(audit_verify, AuditOptions), .path = "/api/audit/verify", .show = audit_show_verdict, .good = "intact" },
        { "export", "audit export [options]", "Prints records of the audit log unchanged, one JSON object a line, oldest first.",
          VERB_OPTIONS(export_options), VERB_RUN(audit_export, AuditOptions), .path = "/api/audit" },
        { "ls", "audit ls [options]", "Shows who did what, oldest first.", VERB_OPTIONS(ls_options), VERB_RUN(audit_ls, AuditOptions),
          .path = "/api/audit" },
        { "tail", "audit tail [options]", "Shows the newest records; with --follow, later ones too.", VERB_OPTIONS(tail_options),
          VERB_RUN(audit_tail, AuditOptions), .path = "/api/audit?tail=%", .defaults = &(const AuditOptions) { .count = 20 } },
};

const Verb command_audit = {
        .name = "audit",
        .about = "Compares the daemon's records with the kernel (state, the default), and reads its audit log.",
        VERB_PARTS(audit_parts), .first_is_meant = true,
};
