/* cove-archive: tar streams in and out of a sandbox.
 *
 *      cove-archive pack [--compress zstd|gzip|none]     3: a worker doing PACK      1: the tar stream
 *      cove-archive unpack                               3: a worker doing UNPACK    0: the tar stream, compressed or not
 *                                                                                    1: the number of entries, as a line
 *
 * A program of its own, because it takes archives apart that strangers made; see confine.h for what it can do then: nothing.
 * It streams, so an archive of any size costs the same; what the sandbox's disk cannot hold, its worker refuses.
 * Ends with 0, or with 1 and one line on 2: an errno as a number, a space, and a sentence. */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "archive/confine.h"
#include "archive/transfer.h"
#include "base/fd.h"

static TarCompression arg_compression = TAR_PLAIN;

static int verb_pack(Error *reterr) {
        uint64_t count;

        return transfer_pack(STDOUT_FILENO, arg_compression, &count, reterr);
}

static int verb_unpack(Error *reterr) {
        uint64_t count;
        char line[32];
        int r = transfer_unpack(STDIN_FILENO, &count, reterr);

        if (r < 0)
                return r;
        (void) snprintf(line, sizeof(line), "%llu\n", (unsigned long long) count);
        r = fd_write_all(STDOUT_FILENO, line, strlen(line));
        return r < 0 ? error_set(reterr, r, "cannot tell the number of entries: %m") : 0;
}

static const struct {
        const char *name;
        int (*function)(Error *reterr);
} verbs[] = {
        { "pack",   verb_pack   },
        { "unpack", verb_unpack },
};

static int parse(int argc, char **argv, int (**ret)(Error *reterr), Error *reterr) {
        *ret = NULL;
        for (size_t i = 0; argc > 1 && i < ELEMENTSOF(verbs); i++)
                if (strcmp(argv[1], verbs[i].name) == 0)
                        *ret = verbs[i].function;
        if (!*ret || (argc != 2 && !(argc == 4 && *ret == verb_pack && strcmp(argv[2], "--compress") == 0)))
                return error_set(reterr, -EINVAL, "usage: cove-archive pack [--compress zstd|gzip|none] | unpack");
        if (argc == 4) {
                arg_compression = tar_compression_from_name(argv[3]);
                if (arg_compression < 0)
                        return error_set(reterr, -EINVAL, "no such compression: '%.64s'; there are zstd, gzip and none", argv[3]);
        }
        return 0;
}

/* One line, whatever names have in them. */
static void complain(const Error *error) {
        char line[ERROR_TEXT_MAX + 16];

        (void) snprintf(line, sizeof(line), "%d %s", -error->code, error->text);
        for (char *p = line; *p; p++)
                if ((unsigned char) *p < ' ' || *p == 0x7f)
                        *p = '?';
        line[strnlen(line, sizeof(line) - 2)] = '\n';
        (void) fd_write_all(STDERR_FILENO, line, strcspn(line, "\n") + 1);
}

int main(int argc, char **argv) {
        int (*verb)(Error *reterr);
        Error error = { 0 };
        int r;

        (void) signal(SIGPIPE, SIG_IGN);
        tar_prepare();
        r = parse(argc, argv, &verb, &error);
        if (r >= 0)
                r = archive_confine(&error);
        if (r >= 0)
                r = verb(&error);
        if (r < 0)
                complain(&error);
        _exit(r < 0); /* nothing waits to be written, and what a library does on leaving is forbidden by now */
}
