/* cove policy: checks a policy file, explains the verdict on a request, shows and replaces a sandbox's
 * policy. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/macro.h"
#include "client/ask.h"
#include "client/human.h"
#include "client/verbs.h"

#define FILE_BYTES_MAX (1 << 20)

static const Option explain_options[] = {
        { "file", 'f', "FILE|-", "use the policy in this file; no daemon is needed", OPTION_OWN },
        { "method", 'X', "METHOD", "method of the request (default: GET)", QUERY_TEXT("method") },
};

static int client_policy_check(const Place *place, void *options, const Operands *words) {
        const Common *c = options;
        char *argv[] = { (char *) "coved", (char *) "--check-policy", words->items[0], c->json ? (char *) "--json" : NULL, NULL };

        return verb_become_coved("policy", argv);
}

static int policy_presets(const Place *place, void *options, const Operands *words) {
        char *argv[] = { (char *) "coved", (char *) "--policy-presets", NULL };

        return verb_become_coved("policy", argv);
}

static int policy_packages(const Place *place, void *options, const Operands *words) {
        char *argv[] = { (char *) "coved", (char *) "--policy-packages", NULL };

        return verb_become_coved("policy", argv);
}

static int explain_offline(const Common *o, const Operands *words) {
        char *argv[] = { (char *) "coved", (char *) "--check-policy", (char *) common_said(o, "file"),
                (char *) "--explain-url", words->items[0], NULL, NULL, NULL, NULL };
        const char *method = common_query(o, "method");
        size_t n = 5;

        if (words->n > 1)
                return verb_refuse("'%s': with --file there is no sandbox to name", words->items[0]);
        if (method) {
                argv[n++] = (char *) "--explain-method";
                argv[n++] = (char *) method;
        }
        if (o->json)
                argv[n] = (char *) "--json";
        return verb_become_coved("policy", argv);
}

/* The text is that of coved --explain-url. */
static void policy_show_explanation(const json_t *answer, const char *word) {
        human_line("%s", json_get_text_or(answer, "text", "?"));
        if (json_has(answer, "cure"))
                human_line("→ %s", json_get_text_or(answer, "cure", ""));
}

static int client_policy_explain(const Place *place, void *options, const Operands *words) {
        const Common *o = options;

        if (common_said(o, "file"))
                return explain_offline(o, words);
        return words->n < 2 ? verb_refuse("no URL given: cove policy explain ID URL") : ask_run(place, options, words);
}

static json_t *client_policy_read_file(const char *file) {
        _cleanup_free_ char *text = NULL;
        Error error = { 0 };
        json_t *j;
        size_t size;
        int r = file_read_alloc(AT_FDCWD, strcmp(file, "-") == 0 ? "/dev/stdin" : file, FILE_BYTES_MAX, &text, &size);

        if (r < 0) {
                errno = -r;
                log_error("cannot read '%s': %m", file);
                return NULL;
        }
        j = json_parse(text, size, &error);
        if (!j)
                log_error("%s is not JSON: %s", file, error.text);
        else if (!json_is_object(j)) {
                log_error("%s must be a JSON object; `cove policy check` says more", file);
                json_decref(j);
                j = NULL;
        }
        return j;
}

static int client_policy_set(const Place *place, void *options, const Operands *words) {
        Common *c = options;

        c->body.object = client_policy_read_file(words->items[1]);
        return c->body.object ? ask_run(place, c, words) : EXIT_OWN_FAILURE;
}

static const Verb policy_parts[] = {
        { "check", "policy check FILE|- [options]", "Looks for all mistakes in a policy; no daemon is needed. Exit status: 0 good, 1 not.",
          .more = "The file is JSON. Reachable ranges are taken from the config file, if there is one.\n"
                  "Example: cove policy check policy.json",
          VERB_ONE("no file given"), .run = client_policy_check },
        { "explain", "policy explain ID|--file FILE URL [options]", "Prints the decision about a request, the reason, and the rule that would change it.",
          .more = "Exit status: 0 allowed, 1 denied or needs approval.\nURL: https://HOST/PATH, http://, wss://, ws://, tcp://HOST:PORT, udp://HOST:PORT, dns://HOST.\n"
                  "Example: cove policy explain box https://pypi.org/simple/",
          VERB_OPTIONS(explain_options), VERB_UP_TO(2, "no sandbox and no URL given"),
          .run = client_policy_explain, .path = "/api/sandbox/%/policy/explain?url=%", .show = policy_show_explanation, .good = "allowed" },
        { "packages", "policy packages [options]", "Prints what the rule \"packages\" stands for on this machine, as JSON.",
          .more = "Uses network.packages of the config file, if there is one. Sandboxes do not use listed proxies.",
          .run = policy_packages },
        { "presets", "policy presets [options]", "Prints the policy presets as JSON.", .run = policy_presets },
        { "show", "policy show ID [options]", "Prints a sandbox's policy as JSON, with all defaults.", VERB_ONE("no sandbox given"),
          .path = "/api/sandbox/%/policy", .show = show_pretty },
        { "set", "policy set ID FILE|- [options]", "Replaces the network part of a running sandbox's policy.",
          .more = "The parts built into the sandbox (paths, sizes, processes) cannot change. Connections that the\n"
                  "new policy does not allow are closed.\nExample: cove policy set box policy.json",
          VERB_TWO("no sandbox given", "no file given"), .run = client_policy_set, .method = "PUT", .path = "/api/sandbox/%/policy", .body = "{}" },
};

const Verb command_policy = {
        .name = "policy",
        .about = "Checks policies, explains decisions about requests, shows and sets policies of sandboxes.",
        VERB_PARTS(policy_parts),
};
