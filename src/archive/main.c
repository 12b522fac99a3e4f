/* cove-archive: tar streams in and out of a sandbox.
 *
 *      cove-archive pack [--compress zstd|gzip|none]     3: a worker doing PACK      1: the tar stream
 *      cove-archive unpack                               3: a worker doing UNPACK    0: the tar stream, compressed or not
 *                                                                                    1: the number of entries, as a line
 *      cove-archive survey [--take PATH]… [--ignore PATH]     0: a tar file, of which 1 gets a survey (survey.h)
 *      cove-archive member PATH                          0: a tar stream, of which 1 gets the bytes of one file
 *      cove-archive copy [--owner UID:GID] [--mode OCTAL]             3, 0, 1 as with unpack, at "/"; 4: which members go where (copy.h)
 *      cove-archive graft [--owner UID:GID] [--mode OCTAL] PATH       3, 0, 1 likewise; all of it goes below PATH; place: the one file becomes PATH
 *
 * A program of its own, because it takes archives apart that strangers made; see confine.h for what it can do then: nothing.
 * It streams, so an archive of any size costs the same; what the sandbox's disk cannot hold, its worker refuses.
 * Ends with 0, or with 1 and one line on 2: an errno as a number, a space, and a sentence. */

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "archive/confine.h"
#include "archive/copy.h"
#include "archive/survey.h"
#include "archive/transfer.h"
#include "base/fd.h"
#include "base/strv.h"

#define MAP_FD   4
#define KEPT     5
#define TAKEN_MAX 8

static TarCompression arg_compression = TAR_PLAIN;
static Strv arg_taken = STRV_INIT(TAKEN_MAX);
static CopyRules arg_rules;
static const char *arg_path, *arg_ignore;

static int tell_count(int r, uint64_t count, Error *reterr) {
        char line[32];

        if (r < 0)
                return r;
        (void) snprintf(line, sizeof(line), "%llu\n", (unsigned long long) count);
        r = fd_write_all(STDOUT_FILENO, line, strlen(line));
        return r < 0 ? error_set(reterr, r, "cannot tell the number of entries: %m") : 0;
}

static int archive_verb_pack(Error *reterr) {
        uint64_t count;

        return transfer_pack(STDOUT_FILENO, arg_compression, &count, reterr);
}

static int archive_verb_unpack(Error *reterr) {
        uint64_t count = 0;
        int r = transfer_unpack(STDIN_FILENO, &count, reterr);

        return tell_count(r, count, reterr);
}

static int verb_survey(Error *reterr) {
        return survey_write(STDIN_FILENO, STDOUT_FILENO, &arg_taken, arg_ignore, reterr);
}

static int verb_member(Error *reterr) {
        return survey_member(STDIN_FILENO, STDOUT_FILENO, arg_path, reterr);
}

static int verb_copy(Error *reterr) {
        uint64_t count = 0;
        int r = copy_by_map(STDIN_FILENO, MAP_FD, &arg_rules, &count, reterr);

        return tell_count(r, count, reterr);
}

static int verb_graft(Error *reterr) {
        uint64_t count = 0;
        int r = copy_graft(STDIN_FILENO, arg_path, /* directory= */ true, &arg_rules, &count, reterr);

        return tell_count(r, count, reterr);
}

static int verb_place(Error *reterr) {
        uint64_t count = 0;
        int r = copy_graft(STDIN_FILENO, arg_path, /* directory= */ false, &arg_rules, &count, reterr);

        return tell_count(r, count, reterr);
}

static int take_compression(const char *value, Error *reterr) {
        arg_compression = tar_compression_from_name(value);
        if (arg_compression < 0)
                return error_set(reterr, -EINVAL, "no such compression: '%.64s'; there are zstd, gzip and none", value);
        return 0;
}

static int take_taken(const char *value, Error *reterr) {
        int r = strv_push(&arg_taken, value);

        return r < 0 ? error_set(reterr, r, "--take: too many") : 0;
}

static int take_ignore(const char *value, Error *reterr) {
        arg_ignore = value;
        return 0;
}

static int take_owner(const char *value, Error *reterr) {
        if (sscanf(value, "%" SCNu32 ":%" SCNu32, &arg_rules.uid, &arg_rules.gid) != 2)
                return error_set(reterr, -EINVAL, "--owner: '%.64s' is not UID:GID", value);
        arg_rules.has_owner = true;
        return 0;
}

static int take_mode(const char *value, Error *reterr) {
        if (sscanf(value, "%" SCNo32, &arg_rules.mode) != 1 || arg_rules.mode > 07777)
                return error_set(reterr, -EINVAL, "--mode: '%.64s' is no mode", value);
        arg_rules.has_mode = true;
        return 0;
}

typedef struct ArchiveVerb {
        const char *name;
        int (*function)(Error *reterr);
        bool path; /* takes one, last */
        struct {
                const char *name;
                int (*take)(const char *value, Error *reterr);
        } options[2];
} ArchiveVerb;

static const ArchiveVerb verbs[] = {
        { "pack",   archive_verb_pack,   false, { { "--compress", take_compression } } },
        { "unpack", archive_verb_unpack, false, { { NULL, NULL } } },
        { "survey", verb_survey, false, { { "--take", take_taken }, { "--ignore", take_ignore } } },
        { "member", verb_member, true,  { { NULL, NULL } } },
        { "copy",   verb_copy,   false, { { "--owner", take_owner }, { "--mode", take_mode } } },
        { "graft",  verb_graft,  true,  { { "--owner", take_owner }, { "--mode", take_mode } } },
        { "place",  verb_place,  true,  { { "--owner", take_owner }, { "--mode", take_mode } } },
};

static int archive_take_option(const ArchiveVerb *verb, const char *name, const char *value, Error *reterr) {
        for (size_t i = 0; i < ELEMENTSOF(verb->options); i++)
                if (verb->options[i].name && strcmp(verb->options[i].name, name) == 0)
                        return verb->options[i].take(value, reterr);
        return error_set(reterr, -EINVAL, "%s has no option '%.64s'", verb->name, name);
}

static int archive_parse(int argc, char **argv, const ArchiveVerb **ret, Error *reterr) {
        const ArchiveVerb *verb = NULL;
        int i = 2, last;

        for (size_t k = 0; argc > 1 && k < ELEMENTSOF(verbs); k++)
                if (strcmp(argv[1], verbs[k].name) == 0)
                        verb = verbs + k;
        if (!verb)
                return error_set(reterr, -EINVAL, "usage: cove-archive pack | unpack | survey | member | copy | graft | place");
        last = argc - verb->path;
        for (; i + 1 < last; i += 2) {
                int r = archive_take_option(verb, argv[i], argv[i + 1], reterr);

                if (r < 0)
                        return r;
        }
        if (i != last)
                return error_set(reterr, -EINVAL, "%s: its arguments are options with a value each%s", verb->name, verb->path ? ", and a path" : "");
        arg_path = verb->path ? argv[last] : NULL;
        *ret = verb;
        return 0;
}

/* One line, whatever names have in them. */
static void archive_complain(const Error *error) {
        char line[ERROR_TEXT_MAX + 16];

        (void) snprintf(line, sizeof(line), "%d %s", -error->code, error->text);
        for (char *p = line; *p; p++)
                if ((unsigned char) *p < ' ' || *p == 0x7f)
                        *p = '?';
        line[strnlen(line, sizeof(line) - 2)] = '\n';
        (void) fd_write_all(STDERR_FILENO, line, strcspn(line, "\n") + 1);
}

int main(int argc, char **argv) {
        const ArchiveVerb *verb = NULL;
        Error error = { 0 };
        int r;

        (void) signal(SIGPIPE, SIG_IGN);
        tar_prepare();
        r = archive_parse(argc, argv, &verb, &error);
        if (r >= 0)
                r = archive_confine(KEPT, &error);
        if (r >= 0)
                r = verb->function(&error);
        if (r < 0)
                archive_complain(&error);
        _exit(r < 0); /* nothing waits to be written, and what a library does on leaving is forbidden by now */
}
