/* cove artifacts: what was kept after an end. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "client/human.h"
#include "client/sandbox/several.h"
#include "client/subverb.h"
#include "client/verbs.h"

typedef struct ArtifactsOptions {
        Common common;
        const char *output;
} ArtifactsOptions;

APPLY_TEXT(ArtifactsOptions, output)

static const Option plain_options[] = { COMMON_OPTIONS };
static const Option get_options[] = {
        { "output", 'o', "FILE", "where to write it (default: stdout)", apply_output },
        COMMON_OPTIONS,
};

static const Usage ls_usage = {
        .synopsis = "artifacts ls [OWNER] [options]",
        .about = "Lists what was kept: of all, or of one agent execution or sandbox.",
        USAGE_OPTIONS(plain_options),
        .operands_max = 1,
};

static const Usage get_usage = {
        .synopsis = "artifacts get ID [options]",
        .about = "Prints an artifact, or writes it to a file.",
        USAGE_OPTIONS(get_options),
        .operands_min = 1,
        .operands_max = 1,
        .missing = "no artifact given",
};

static const Usage rm_usage = {
        .synopsis = "artifacts rm ID… [options]",
        .about = "Removes artifacts, from the bucket too.",
        USAGE_OPTIONS(plain_options),
        .operands_min = 1,
        .operands_max = USAGE_ANY_NUMBER,
        .missing = "no artifact given",
};

static void client_artifacts_add_row(Table *t, const json_t *artifact) {
        char size[HUMAN_MAX];
        const char *state = json_get_text_or(artifact, "state", "?");

        table_cell(t, json_get_text(artifact, "id"));
        table_cell_format(t, "%s %s", json_get_text_or(artifact, "ownerKind", "?"), json_get_text_or(artifact, "ownerId", "?"));
        table_cell(t, json_get_text(artifact, "name"));
        table_cell(t, human_size((double) json_get_integer(artifact, "size", 0), size));
        table_cell_colour(t, state, strcmp(state, "failed") == 0 ? COLOUR_RED : COLOUR_NONE);
        table_cell(t, json_get_text(artifact, "createdAt"));
}

static int client_artifacts_list(const Place *place, void *options, const Operands *words) {
        static const char *const heads[] = { "ID", "OF", "NAME", ">SIZE", "STATE", "KEPT", NULL };
        const ArtifactsOptions *o = options;
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };

        url_begin(&u, "/api/artifacts");
        url_query(&u, "owner", words->n > 0 ? words->items[0] : NULL);
        url_query_number(&u, "limit", 10000);
        if (client_need(place, /* method= */ NULL, &u, /* body= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (http_reader_header(&a.head, "X-Next-Cursor"))
                log_warning("there are more than these; name an owner, or ask the API for the next page");
        return subverb_show_list(&a, o->common.json, heads, client_artifacts_add_row);
}

typedef struct ClientArtifactsSink {
        int fd;
        Error error;
} ClientArtifactsSink;

static int client_artifacts_take_body(void *userdata, const void *data, size_t size) {
        ClientArtifactsSink *s = userdata;
        int r = fd_write_all(s->fd, data, size);

        return r < 0 ? error_set(&s->error, r, "cannot write it: %s", strerror(-r)) : 0;
}

static int client_artifacts_get(const Place *place, void *options, const Operands *words) {
        const ArtifactsOptions *o = options;
        _cleanup_url_ Url u = { 0 };
        _cleanup_close_ int fd = -EBADF;
        Request q = REQUEST_INIT;
        ClientArtifactsSink sink = { .fd = STDOUT_FILENO };

        url_begin(&u, "/api/artifacts");
        url_part(&u, words->items[0]);
        if (o->common.json)
                url_part(&u, "info");
        if (u.error < 0) {
                log_error("out of memory");
                return EXIT_OWN_FAILURE;
        }
        if (o->output) {
                fd = open(o->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
                if (fd < 0) {
                        log_error("cannot write to '%s': %m", o->output);
                        return EXIT_OWN_FAILURE;
                }
                sink.fd = fd;
        }
        q.path = u.text;
        q.sink = client_artifacts_take_body;
        q.sink_data = &sink;
        return client_transfer(place, &q, &sink.error, /* ret_head= */ NULL) < 0 ? EXIT_OWN_FAILURE : 0;
}

static int client_artifacts_remove_all(const Place *place, void *options, const Operands *words) {
        const ArtifactsOptions *o = options;
        Several several = { .place = place, .method = "DELETE", .what = "/api/artifacts", .root = true, .json = o->common.json };

        return several_ask(&several, words->items, words->n);
}

int verb_artifacts(int argc, char **argv) {
        static const Subverb subverbs[] = {
                { "ls", &ls_usage, client_artifacts_list },
                { "get", &get_usage, client_artifacts_get },
                { "rm", &rm_usage, client_artifacts_remove_all },
        };
        ArtifactsOptions o = { 0 };

        return subverb_run("artifacts", "Lists, gets and removes what was kept of executions and sandboxes that are over.", subverbs,
                        ELEMENTSOF(subverbs), argc, argv, &o);
}
