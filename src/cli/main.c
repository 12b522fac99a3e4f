/* cove: the command line. Dispatches to the verbs, and handles what is common to them. */

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/title.h"
#include "cli/meant.h"
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
        [GROUP_SANDBOX] = "sandboxes",
        [GROUP_EXECUTION] = "commands in sandboxes",
};

/* The function of a verb, by the program that implements it. */
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
        fprintf(to, "cove runs untrusted code, each command in a sandbox of its own.\n");
        for (VerbGroup g = 0; g < _GROUP_MAX; g++) {
                fprintf(to, "\n%s:\n", group_titles[g]);
                for (size_t i = 0; i < ELEMENTSOF(verbs); i++)
                        if (verbs[i].group == g)
                                fprintf(to, "  cove %-10s %s\n", verbs[i].name, verbs[i].help);
        }
        fprintf(to, "\n`cove help VERB` shows the options of a verb. Example: cove run -- python3 -c 'print(1 + 1)'\n");
}

/* A descriptor that the caller left closed would be taken by the next file we open, and handed to the guest. */
static void fill_standard_descriptors(void) {
        for (int fd = 0; fd < 3; fd++)
                if (fcntl(fd, F_GETFD) < 0)
                        (void) open("/dev/null", O_RDWR); /* takes the lowest free number, which is this one */
}

static int refuse_verb(const char *word) {
        const char *meant = verb_meant(word);

        if (word[0] == '-')
                log_error("unknown option '%s': write it behind the verb; see `cove --help`", word);
        else if (meant)
                log_error("unknown verb '%s': did you mean %s?", word, meant);
        else
                log_error("unknown verb '%s': see `cove --help`", word);
        return EXIT_OWN_FAILURE;
}

/* Returns how many words an option takes that may stand before the verb, as options of all daemon verbs may;
 * 0: the word is no such option. */
static int global_words(const char *word) {
        static const char *const with_value[] = { "--url", "--cacert", "--socket", "--state", "--key" };

        if (strcmp(word, "--json") == 0)
                return 1;
        for (size_t i = 0; i < ELEMENTSOF(with_value); i++) {
                size_t n = strlen(with_value[i]);

                if (strncmp(word, with_value[i], n) == 0 && (word[n] == '\0' || word[n] == '='))
                        return word[n] == '=' ? 1 : 2;
        }
        return 0;
}

/* `cove --url URL ls` is `cove ls --url URL`. */
static void put_verb_first(int argc, char **argv) {
        int n = 1, words;
        char *verb;

        while (n < argc && (words = global_words(argv[n])) > 0)
                n += words;
        if (n == 1 || n >= argc)
                return;
        verb = argv[n];
        memmove(argv + 2, argv + 1, (size_t) (n - 1) * sizeof(*argv));
        argv[1] = verb;
}

/* `cove help VERB …` is `cove VERB … --help`. */
static void put_help_last(int argc, char **argv) {
        if (argc < 3 || strcmp(argv[1], "help") != 0)
                return;
        memmove(argv + 1, argv + 2, (size_t) (argc - 2) * sizeof(*argv));
        argv[argc - 1] = (char *) "--help";
}

static int cli_run_verb(int argc, char **argv) {
        put_help_last(argc, argv);
        put_verb_first(argc, argv);
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
