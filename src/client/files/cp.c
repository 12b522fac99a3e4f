/* cove cp: files and directories into a sandbox, and out of it. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "client/ask.h"
#include "client/files/copy.h"
#include "client/verbs.h"
#include "client/waiting.h"

static const Option cp_options[] = {
        { "archive", 'a', NULL,   "with -: the stream is a tar archive of a directory",        OPTION_OWN },
        { "user",    'u', "USER", "user inside: user, root, UID (default: the\nsandbox's)", OPTION_OWN },
        { "recursive", 'r', NULL, NULL, option_nothing }, /* a directory is copied with all that is in it */
};

/* A word of the command line: a local path if it has no sandbox. */
typedef struct Spot {
        char *sandbox; /* NULL: here */
        const char *path;
} Spot;

/* "SANDBOX:PATH"; a colon behind a slash is part of a file's name: ./a:b */
static int parse_spot(const char *word, Spot *ret, Error *reterr) {
        const char *colon = strchr(word, ':');

        *ret = (Spot) { .path = word };
        if (!colon || memchr(word, '/', (size_t) (colon - word)) || word[0] == '.')
                return 0;
        if (colon == word)
                return error_set(reterr, -EINVAL, "'%s' names no sandbox before the colon; a file of that name is ./%s", word,
                                word);
        ret->sandbox = strndup(word, (size_t) (colon - word));
        ret->path = colon[1] ? colon + 1 : ".";
        return ret->sandbox ? 0 : error_set(reterr, -ENOMEM, "out of memory");
}

static int check_spots(const Spot *spots, unsigned n, const Common *o, Error *reterr) {
        const Spot *target = spots + n - 1;

        if (o->json && !target->sandbox && strcmp(target->path, "-") == 0)
                return error_set(reterr, -EINVAL, "--json: standard output cannot take the file and the result too");
        for (unsigned i = 0; i + 1 < n; i++) {
                if (!spots[i].sandbox && !target->sandbox)
                        return error_set(reterr, -EINVAL, "neither '%s' nor '%s' is in a sandbox: write SANDBOX:PATH",
                                        spots[i].path, target->path);
                if (spots[i].sandbox && target->sandbox)
                        return error_set(reterr, -EINVAL,
                                        "both are in sandboxes: go by way of here, as in cove cp %s:%s - | cove cp - %s:%s",
                                        spots[i].sandbox, spots[i].path, target->sandbox, target->path);
                if (n > 2 && strcmp(spots[i].path, "-") == 0)
                        return error_set(reterr, -EINVAL, "'-' can be the only source");
        }
        if (n > 2 && !target->sandbox && strcmp(target->path, "-") == 0)
                return error_set(reterr, -EINVAL, "'-' takes one source");
        return 0;
}

/* The target is a directory that takes sources under their own names, whether it exists or not. */
static bool says_directory(const Spot *target, unsigned n_sources) {
        size_t n = strlen(target->path);
        return n_sources > 1 || (n > 0 && target->path[n - 1] == '/') || strcmp(target->path, ".") == 0;
}

static int make_target(const Spot *target, unsigned n_sources) {
        if (target->sandbox || strcmp(target->path, "-") == 0 || !says_directory(target, n_sources))
                return 0;
        if (mkdir(target->path, 0777) < 0 && errno != EEXIST)
                return log_failure(-errno, "cannot make '%s': %m", target->path);
        return 0;
}

static int cp_copy_one(Copy *c, const Spot *source, const Spot *target, bool to_directory) {
        c->sandbox = target->sandbox ? target->sandbox : source->sandbox;
        c->progress = (Progress) { 0 };
        farewell_set(/* leftover= */ NULL, "interrupted: what has arrived in '%s%s%s' stays there", target->sandbox ? target->sandbox : "", target->sandbox ? ":" : "",
                        target->path);
        return target->sandbox ? copy_up(c, source->path, target->path, to_directory)
                               : copy_down(c, source->path, target->path, to_directory);
}

/* {"copied":[{"source":…,"target":…,"bytes":…}]}: the bytes sent over the wire; archives count as archives. */
static void print_copied(const json_t *list) {
        _cleanup_free_ char *text = client_json_print(list, /* pretty= */ false);

        printf("{\"copied\":%s}\n", text ? text : "[]");
}

static int copy_all(Copy *c, const Operands *words, const Spot *spots, bool json) {
        unsigned n = words->n - 1;
        const Spot *target = spots + n;
        _cleanup_json_ json_t *copied = json_array();
        int status = 0;

        if (make_target(target, n) < 0)
                return EXIT_OWN_FAILURE;
        for (unsigned i = 0; i < n; i++) {
                int r = cp_copy_one(c, spots + i, target, says_directory(target, n));

                if (r < 0)
                        status = EXIT_OWN_FAILURE;
                else
                        (void) json_array_append_new(copied, json_pack("{s:s,s:s,s:I}", "source", words->items[i], "target",
                                        words->items[n], "bytes", (json_int_t) c->progress.done));
        }
        if (json)
                print_copied(copied);
        return status;
}

static int cp_run(const Place *place, void *options, const Operands *words) {
        const Common *o = options;
        Copy c = { .place = place, .user = common_said(o, "user"), .archive = common_said(o, "archive") };
        _cleanup_free_ Spot *spots = calloc(words->n, sizeof(Spot));
        Error error = { 0 };
        int r = spots ? 0 : error_set(&error, -ENOMEM, "out of memory"), status = EXIT_OWN_FAILURE;

        for (unsigned i = 0; i < words->n && r >= 0; i++)
                r = parse_spot(words->items[i], spots + i, &error);
        if (r >= 0)
                r = check_spots(spots, words->n, o, &error);
        if (r >= 0)
                status = copy_all(&c, words, spots, o->json);
        else
                log_error("%s", error.text);
        for (unsigned i = 0; spots && i < words->n; i++)
                free(spots[i].sandbox);
        return status;
}

const Verb command_cp = {
        .synopsis = "cp [options] SOURCE… TARGET",
        .about = "Copies files and directories between the host and a sandbox. SANDBOX:PATH is a path inside;\n"
                 "a relative PATH begins at the working directory. - is standard input or output.",
        .more = "If TARGET is a directory, SOURCE is copied into it; DIR/. means the contents of DIR.\n\n"
                "Examples: cove cp ./src web:            cove cp web:out/report.pdf .\n"
                "          cove cp - web:notes.txt       cove cp web:/workspace - | tar t",
        VERB_OPTIONS(cp_options), .operands_min = 2, .operands_max = VERB_ANY_NUMBER, .missing = "no source given",
        .missing_last = "no target given", .run = cp_run,
};
