/* cove artifacts: files that are kept after the end of an execution or a sandbox. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "client/ask.h"
#include "client/verbs.h"

static const Option get_options[] = {
        { "output", 'o', "FILE", "file to write (default: stdout)", OPTION_OWN },
};

static void cell_owner(Table *t, const json_t *artifact, const Column *c) {
        table_cell_format(t, "%s %s", json_get_text_or(artifact, "ownerKind", "?"), json_get_text_or(artifact, "ownerId", "?"));
}

static const Column artifact_columns[] = {
        { "ID", "id" }, { "OF", "ownerId", cell_owner }, { "NAME", "name" }, { ">SIZE", "size", cell_size },
        { "STATE", "state", cell_failing, .otherwise = "?" }, { "KEPT", "createdAt" },
};

static const Verb artifacts_owner_verb = { .path = "/api/artifacts?owner=%&limit=10000", VERB_COLUMNS(artifact_columns) };

static int artifacts_verb_list(const Place *place, void *options, const Operands *words) {
        Common *c = options;
        _cleanup_answer_ Answer a = { 0 };

        if (words->n > 0)
                c->verb = &artifacts_owner_verb;
        if (ask_need(place, c, words, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (http_reader_header(&a.head, "X-Next-Cursor"))
                log_warning("the list is cut off: name an owner, or ask the API for the next page");
        return ask_show(c, words, &a);
}

static int client_artifacts_get(const Place *place, void *options, const Operands *words) {
        const Common *o = options;
        const char *output = common_said(o, "output");
        _cleanup_url_ Url u = url_of(o->json ? "/api/artifacts/%s/info" : "/api/artifacts/%s", words->items[0]);
        _cleanup_close_ int fd = -EBADF;
        ClientFile file = { .fd = STDOUT_FILENO, };

        if (output) {
                fd = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
                if (fd < 0)
                        return verb_refuse("cannot write to '%s': %m", output);
                file.fd = fd;
        }
        return client_receive(place, &u, /* accept= */ NULL, client_file_take, &file, &file.error) < 0
                               ? EXIT_OWN_FAILURE
                               : 0;
}

static const Verb artifacts_parts[] = {
        { "ls", "artifacts ls [OWNER] [options]", "Lists all artifacts, or those of one agent execution or sandbox.", .operands_max = 1,
          .run = artifacts_verb_list, .path = "/api/artifacts?limit=10000", VERB_COLUMNS(artifact_columns) },
        { "get", "artifacts get ID [options]", "Prints an artifact, or writes it to a file.", VERB_OPTIONS(get_options),
          VERB_ONE("no artifact given"), .run = client_artifacts_get },
        { "rm", "artifacts rm ID… [options]", "Removes artifacts, from the bucket too.", VERB_SOME("no artifact given"),
          VERB_DELETE("/api/artifacts/%") },
};

const Verb command_artifacts = {
        .name = "artifacts",
        .about = "Lists, gets and removes files kept from ended executions and sandboxes.",
        VERB_PARTS(artifacts_parts),
};
