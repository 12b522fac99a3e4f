/* cove: the command line. The table of verbs, and what holds for all of them. */

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "cli/arguments.h"
#include "cli/verbs.h"
#include "config.h"

static const struct {
        const char *name, *help;
        int (*function)(int argc, char **argv);
} verbs[] = {
        { "run",     "run a command in a sandbox of its own", verb_run     },
        { "doctor",  "check what this host can guard",        verb_doctor  },
        { "version", "print the version",                     verb_version },
};

static void print_help(FILE *to) {
        fprintf(to, "cove runs code that nobody trusts, each piece in a sandbox of its own.\n\nusage:\n");
        for (size_t i = 0; i < ELEMENTSOF(verbs); i++)
                fprintf(to, "  cove %-10s %s\n", verbs[i].name, verbs[i].help);
        fprintf(to, "\n`cove VERB --help` tells more. Example: cove run -- python3 -c 'print(1 + 1)'\n");
}

int verb_version(int argc, char **argv) {
        if (argc > 1 && strcmp(argv[1], "--help") == 0) {
                printf("usage: cove version\n");
                return 0;
        }
        if (argc > 1) {
                log_error("cove version takes no arguments, got '%s'", argv[1]);
                return EXIT_OWN_FAILURE;
        }
        printf("cove %s\n", COVE_VERSION);
        return 0;
}

/* A descriptor that the caller left closed would be taken by the next file we open, and handed to the guest. */
static void fill_standard_descriptors(void) {
        for (int fd = 0; fd < 3; fd++)
                if (fcntl(fd, F_GETFD) < 0)
                        (void) open("/dev/null", O_RDWR); /* the lowest free one: this one */
}

static int run_verb(int argc, char **argv) {
        if (argc < 2) {
                print_help(stderr);
                return EXIT_OWN_FAILURE;
        }
        if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
                print_help(stdout);
                return 0;
        }
        if (strcmp(argv[1], "--version") == 0)
                return verb_version(1, argv);
        for (size_t i = 0; i < ELEMENTSOF(verbs); i++)
                if (strcmp(argv[1], verbs[i].name) == 0)
                        return verbs[i].function(argc - 1, argv + 1);

        log_error("unknown verb '%s': see `cove --help`", argv[1]);
        return EXIT_OWN_FAILURE;
}

int main(int argc, char **argv) {
        int status;

        fill_standard_descriptors();
        arguments_remember(argc, argv);
        status = run_verb(argc, argv);
        if (fflush(stdout) != 0 || ferror(stdout)) {
                log_error("cannot write to stdout: %m");
                return EXIT_OWN_FAILURE;
        }
        return status;
}
