/* cove-archive: packs and unpacks tar streams of a sandbox.
 *
 *      cove-archive pack [--compress zstd|gzip|none]     3: a worker doing PACK      1: the tar stream
 *      cove-archive unpack                               3: a worker doing UNPACK    0: the tar stream, compressed or not
 *                                                                                    1: the number of entries, as a line
 *      cove-archive survey [--take PATH]… [--ignore PATH]     0: a tar file; 1: its survey (survey.h)
 *      cove-archive member PATH                          0: a tar stream; 1: the content of one file
 *      cove-archive copy [--owner UID:GID] [--mode OCTAL]             3, 0, 1 as with unpack, at "/"; 4: the map of members (copy.h)
 *      cove-archive graft PATH [--owner UID:GID] [--mode OCTAL]       3, 0, 1 the same; places all members below PATH
 *      cove-archive place PATH [--owner UID:GID] [--mode OCTAL]       3, 0, 1 the same; the only file becomes PATH
 *
 * It is a program of its own because it parses untrusted archives; see confine.h for its confinement. It
 * streams, so its memory does not depend on the size of the archive. The worker refuses what the sandbox's
 * disk cannot hold. Exits with 0, or with 1 and one line on 2: an errno as a number, a space, and a sentence. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "archive/confine.h"
#include "archive/copy.h"
#include "archive/survey.h"
#include "archive/transfer.h"
#include "base/fd.h"
#include "base/strv.h"

#define MAP_FD    4
#define TAKEN_MAX 8

typedef struct ArchiveOptions {
        ProgramArguments words; /* the operand is a path */
        TarCompression compression;
        Strv taken;
        const char *ignore;
        CopyRules rules;
} ArchiveOptions;

static int tell_count(int r, uint64_t count, Error *reterr) {
        char line[32];

        if (r < 0)
                return r;
        (void) snprintf(line, sizeof(line), "%llu\n", (unsigned long long) count);
        r = fd_write_all(STDOUT_FILENO, line, strlen(line));
        return r < 0 ? error_set(reterr, r, "cannot tell the number of entries: %m") : 0;
}

static int archive_verb_pack(void *options, Error *reterr) {
        const ArchiveOptions *o = options;
        uint64_t count;

        return transfer_pack(STDOUT_FILENO, o->compression, &count, reterr);
}

static int archive_verb_unpack(void *options, Error *reterr) {
        uint64_t count = 0;
        int r = transfer_unpack(STDIN_FILENO, /* change= */ NULL, NULL, &count, reterr);

        return tell_count(r, count, reterr);
}

static int verb_survey(void *options, Error *reterr) {
        const ArchiveOptions *o = options;

        return survey_write(STDIN_FILENO, STDOUT_FILENO, &o->taken, o->ignore, reterr);
}

static int verb_member(void *options, Error *reterr) {
        const ArchiveOptions *o = options;

        return survey_member(STDIN_FILENO, STDOUT_FILENO, o->words.operand, reterr);
}

static int verb_copy(void *options, Error *reterr) {
        const ArchiveOptions *o = options;
        uint64_t count = 0;
        int r = copy_by_map(STDIN_FILENO, MAP_FD, &o->rules, &count, reterr);

        return tell_count(r, count, reterr);
}

static int archive_graft(const ArchiveOptions *o, bool directory, Error *reterr) {
        uint64_t count = 0;
        int r = copy_graft(STDIN_FILENO, o->words.operand, directory, &o->rules, &count, reterr);

        return tell_count(r, count, reterr);
}

static int verb_graft(void *options, Error *reterr) {
        return archive_graft(options, /* directory= */ true, reterr);
}

static int verb_place(void *options, Error *reterr) {
        return archive_graft(options, /* directory= */ false, reterr);
}

static int take_compression(const char *value, void *place, Error *reterr) {
        TarCompression c = tar_compression_from_name(value);

        if (c < 0)
                return error_set(reterr, -EINVAL, "no such compression: '%.64s'; there are zstd, gzip and none", value);
        *(TarCompression *) place = c;
        return 0;
}

static int take_taken(const char *value, void *place, Error *reterr) {
        int r = strv_push(place, value);

        return r < 0 ? error_set(reterr, r, "--take: too many") : 0;
}

static int take_owner(const char *value, void *place, Error *reterr) {
        CopyRules *rules = place;

        if (sscanf(value, "%" SCNu32 ":%" SCNu32, &rules->uid, &rules->gid) != 2)
                return error_set(reterr, -EINVAL, "--owner: '%.64s' is not UID:GID", value);
        rules->has_owner = true;
        return 0;
}

static int take_mode(const char *value, void *place, Error *reterr) {
        CopyRules *rules = place;

        if (sscanf(value, "%" SCNo32, &rules->mode) != 1 || rules->mode > 07777)
                return error_set(reterr, -EINVAL, "--mode: '%.64s' is no mode", value);
        rules->has_mode = true;
        return 0;
}

enum { VERB_PACK, VERB_UNPACK, VERB_SURVEY, VERB_MEMBER, VERB_COPY, VERB_GRAFT, VERB_PLACE };

static const ProgramVerb verbs[] = {
        [VERB_PACK]   = { "pack",   archive_verb_pack,   NULL     },
        [VERB_UNPACK] = { "unpack", archive_verb_unpack, NULL     },
        [VERB_SURVEY] = { "survey", verb_survey,         NULL     },
        [VERB_MEMBER] = { "member", verb_member,         "a path" },
        [VERB_COPY]   = { "copy",   verb_copy,           NULL     },
        [VERB_GRAFT]  = { "graft",  verb_graft,          "a path" },
        [VERB_PLACE]  = { "place",  verb_place,          "a path" },
};

#define COPIES (1u << VERB_COPY | 1u << VERB_GRAFT | 1u << VERB_PLACE)

static const ProgramOption options[] = {
        { "--compress", 1u << VERB_PACK,   false, take_compression, offsetof(ArchiveOptions, compression) },
        { "--take",     1u << VERB_SURVEY, false, take_taken,       offsetof(ArchiveOptions, taken)       },
        { "--ignore",   1u << VERB_SURVEY, false, program_set_text, offsetof(ArchiveOptions, ignore)      },
        { "--owner",    COPIES,            false, take_owner,       offsetof(ArchiveOptions, rules)       },
        { "--mode",     COPIES,            false, take_mode,        offsetof(ArchiveOptions, rules)       },
};

static int archive_prepare(void *o, Error *reterr) {
        tar_prepare();
        return 0;
}

int main(int argc, char **argv) {
        static const Program program = {
                "cove-archive", verbs, ELEMENTSOF(verbs), options, ELEMENTSOF(options), archive_prepare, archive_walls,
        };
        ArchiveOptions o = { .compression = TAR_PLAIN, .taken = STRV_INIT(TAKEN_MAX) };

        _exit(program_main(&program, argc, argv, &o)); /* no output is buffered, and exit handlers of libraries are forbidden by now */
}
