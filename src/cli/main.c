/* cove: the command line. The way to each verb, and what holds for all of them. */

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/title.h"
#include "base/word.h"
#include "cli/verbs.h"
#include "config.h"

typedef enum VerbGroup {
        GROUP_ALONE,
        GROUP_DAEMON,
        GROUP_SANDBOX,
        GROUP_EXECUTION,
        _GROUP_MAX,
} VerbGroup;

static const char *const group_titles[_GROUP_MAX] = {
        [GROUP_ALONE] = "without a daemon",
        [GROUP_DAEMON] = "the daemon",
        [GROUP_SANDBOX] = "its sandboxes",
        [GROUP_EXECUTION] = "commands in them",
};

/* Which function has a verb, by the program that has it. */
#define RUN_OWN(name)    verb_##name
#define RUN_BOTH(name)   verb_##name
#define RUN_CLIENT(name) become_client
#define RUN_DAEMON(name) become_daemon

static const struct {
        const char *name, *help;
        VerbGroup group;
        int (*function)(int argc, char **argv);
} verbs[] = {
#define VERB(name, program, group, help) { #name, help, GROUP_##group, RUN_##program(name) },
#include "cli/verbs.def"
#undef VERB
};

static void cli_print_help(FILE *to) {
        fprintf(to, "cove runs code that nobody trusts, each piece in a sandbox of its own.\n");
        for (VerbGroup g = 0; g < _GROUP_MAX; g++) {
                fprintf(to, "\n%s:\n", group_titles[g]);
                for (size_t i = 0; i < ELEMENTSOF(verbs); i++)
                        if (verbs[i].group == g)
                                fprintf(to, "  cove %-10s %s\n", verbs[i].name, verbs[i].help);
        }
        fprintf(to, "\n`cove VERB --help` tells more. Example: cove run -- python3 -c 'print(1 + 1)'\n");
}

/* What was probably meant; NULL: nothing is near enough. */
static const char *nearest_verb(const char *word) {
        unsigned best = word_tolerance(word);
        const char *found = NULL;

        for (size_t i = 0; i < ELEMENTSOF(verbs); i++)
                if (word_is_nearer(word, verbs[i].name, &best))
                        found = verbs[i].name;
        return found;
}

/* A descriptor that the caller left closed would be taken by the next file we open, and handed to the guest. */
static void fill_standard_descriptors(void) {
        for (int fd = 0; fd < 3; fd++)
                if (fcntl(fd, F_GETFD) < 0)
                        (void) open("/dev/null", O_RDWR); /* the lowest free one: this one */
}

static int refuse_verb(const char *word) {
        const char *meant = nearest_verb(word);

        if (meant)
                log_error("unknown verb '%s': did you mean `cove %s`?", word, meant);
        else
                log_error("unknown verb '%s': see `cove --help`", word);
        return EXIT_OWN_FAILURE;
}

static int cli_run_verb(int argc, char **argv) {
        if (argc < 2) {
                cli_print_help(stderr);
                return EXIT_OWN_FAILURE;
        }
        if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
                cli_print_help(stdout);
                return 0;
        }
        if (strcmp(argv[1], "--version") == 0) {
                printf("cove %s\n", COVE_VERSION);
                return 0;
        }
        for (size_t i = 0; i < ELEMENTSOF(verbs); i++)
                if (strcmp(argv[1], verbs[i].name) == 0)
                        return verbs[i].function(argc - 1, argv + 1);
        return refuse_verb(argv[1]);
}

int main(int argc, char **argv) {
        int status;

        fill_standard_descriptors();
        title_init(argc, argv);
        status = cli_run_verb(argc, argv);
        if (fflush(stdout) != 0 || ferror(stdout)) {
                log_error("cannot write to stdout: %m");
                return EXIT_OWN_FAILURE;
        }
        return status;
}
