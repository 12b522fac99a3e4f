/* cove ports, cove url: the services inside a sandbox, and their URLs for a browser. */

#include <stdio.h>

#include "client/ask.h"
#include "client/verbs.h"

static void cell_access(Table *t, const json_t *port, const Column *c) {
        table_cell(t, json_get_bool(port, c->key) ? "public" : "private");
}

static const Column port_columns[] = { { ">PORT", "port", cell_count }, { "ACCESS", "public", cell_access }, { "URL", "url" } };

const Verb command_ports = {
        .synopsis = "ports SANDBOX [options]",
        .about = "Lists the TCP ports that listen inside a sandbox, with their URLs.",
        .more = "The URL of a private port needs a key; `cove url` creates a link for a browser.",
        VERB_ONE("no sandbox given"), .path = "/api/sandbox/%/ports", VERB_COLUMNS(port_columns), .list = "ports",
};

static const Option url_options[] = {
        { "expires", 0, "TIME", "how long the link is valid, or never (default: an hour)", QUERY_SECONDS("expiresSeconds") }, /* never is 0 */
        { "public",  0, NULL,   "open the port to everyone who can reach the daemon", OPTION_OWN },
        { "private", 0, NULL,   "make the port private again",                                      OPTION_OWN },
        { "path",    0, NULL,   "print a URL without a host name of its own",                     OPTION_OWN },
};

static const Verb url_set_verb = { .method = "PUT", .path = "/api/sandbox/%/url/%", .body = "{}" };

static int url_run(const Place *place, void *options, const Operands *words) {
        Common *o = options;
        bool public = common_said(o, "public"), private = common_said(o, "private");
        _cleanup_answer_ Answer a = { 0 };

        if (public && private)
                return verb_refuse("--public and --private exclude each other: give one of them");
        if (public || private) {
                strv_done(&o->queries);
                json_put_bool(&o->body, "public", public);
                o->verb = &url_set_verb;
        }
        if (ask_need(place, o, words, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (o->json)
                answer_print(&a);
        else
                puts(json_get_text_or(a.json, common_said(o, "path") ? "pathUrl" : "url", ""));
        return 0;
}

const Verb command_url = {
        .synopsis = "url SANDBOX PORT [options]",
        .about = "Prints a URL with which a browser reaches a port inside a sandbox.",
        .more = "Example: xdg-open $(cove url web 8000)",
        VERB_OPTIONS(url_options), VERB_TWO("no sandbox given", "no port given"), .run = url_run, .path = "/api/sandbox/%/url/%",
};
