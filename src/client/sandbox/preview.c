/* cove ports, cove url: what is served inside a sandbox, and where a browser finds it. */

#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "client/client.h"
#include "client/table.h"
#include "client/usage.h"
#include "client/verbs.h"

typedef struct PortsOptions {
        Common common;
} PortsOptions;

static const Option ports_options[] = { COMMON_OPTIONS };

static const Usage ports_usage = {
        .synopsis = "ports SANDBOX [options]",
        .about = "Lists the TCP ports on which something listens inside, with their URLs.",
        .more = "A private port's URL takes a key; `cove url` makes a link that a browser can open.",
        USAGE_OPTIONS(ports_options),
        .operands_min = 1,
        .operands_max = 1,
        .missing = "no sandbox given",
};

static int print_ports(const json_t *list) {
        static const char *const heads[] = { ">PORT", "ACCESS", "URL", NULL };
        _cleanup_table_ Table *t = table_new(heads);
        TableLook look = table_look(STDOUT_FILENO);
        const json_t *port;
        size_t i;

        if (!t)
                return -1;
        json_array_foreach(list, i, port) {
                table_cell_format(t, "%lld", (long long) json_get_integer(port, "port", 0));
                table_cell(t, json_is_true(json_object_get(port, "public")) ? "public" : "private");
                table_cell(t, json_get_text(port, "url"));
        }
        return table_print(t, stdout, &look);
}

static int show_ports(const Place *place, const PortsOptions *o, const Operands *words) {
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };

        url_sandbox(&u, words->items[0], "ports");
        if (client_need(place, "GET", &u, /* body= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (o->common.json)
                answer_print(&a);
        else if (print_ports(json_object_get(a.json, "ports")) < 0) {
                log_error("out of memory");
                return EXIT_OWN_FAILURE;
        }
        return 0;
}

int verb_ports(int argc, char **argv) {
        _cleanup_place_ Place place = { 0 };
        PortsOptions o = { 0 };
        Operands words;
        int status;

        if (usage_begin(&ports_usage, argc, argv, &o, &words, &place, &status) == 0)
                status = show_ports(&place, &o, &words);
        return status;
}

typedef struct UrlOptions {
        Common common;
        const char *expires;
        bool public, private, path;
} UrlOptions;

APPLY_TEXT(UrlOptions, expires)
APPLY_FLAG(UrlOptions, public)
APPLY_FLAG(UrlOptions, private)
APPLY_FLAG(UrlOptions, path)

static const Option url_options[] = {
        { "expires", 0, "TIME", "how long the link is good for, or never (default: an hour)", apply_expires },
        { "public",  0, NULL,   "let everybody in from now on who can reach the daemon", apply_public },
        { "private", 0, NULL,   "do not, any more",                                      apply_private },
        { "path",    0, NULL,   "the URL without a name of its own",                     apply_path },
        COMMON_OPTIONS,
};

static const Usage url_usage = {
        .synopsis = "url SANDBOX PORT [options]",
        .about = "Prints a URL under which a browser finds a port that is served inside.",
        .more = "Example: xdg-open $(cove url web 8000)",
        USAGE_OPTIONS(url_options),
        .operands_min = 2,
        .operands_max = 2,
        .missing = "no sandbox given",
        .missing_last = "no port given",
};

static int put_expiry(Url *u, const char *text) {
        Error error = { 0 };
        usec_t usec;

        if (!text)
                return 0;
        if (value_duration("expires", text, &usec, &error) < 0) {
                log_error("%s", error.text);
                return -1;
        }
        url_query_number(u, "expiresSeconds", usec / USEC_PER_SEC); /* never is 0 */
        return 0;
}

static int preview_show_url(const Place *place, const UrlOptions *o, const Operands *words) {
        _cleanup_builder_ JsonBuilder body = { 0 };
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };
        bool set = o->public || o->private;

        if (o->public && o->private) {
                log_error("--public and --private are opposites");
                return EXIT_OWN_FAILURE;
        }
        url_sandbox(&u, words->items[0], "url");
        url_part(&u, words->items[1]);
        if (set)
                json_put_bool(&body, "public", o->public);
        else if (put_expiry(&u, o->expires) < 0)
                return EXIT_OWN_FAILURE;
        if (client_need(place, set ? "PUT" : "GET", &u, set ? &body : NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (o->common.json)
                answer_print(&a);
        else
                puts(json_get_text_or(a.json, o->path ? "pathUrl" : "url", ""));
        return 0;
}

int verb_url(int argc, char **argv) {
        _cleanup_place_ Place place = { 0 };
        UrlOptions o = { 0 };
        Operands words;
        int status;

        if (usage_begin(&url_usage, argc, argv, &o, &words, &place, &status) == 0)
                status = preview_show_url(&place, &o, &words);
        return status;
}
