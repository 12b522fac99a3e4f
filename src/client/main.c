/* cove-client: the verbs of cove that talk to a daemon. cove starts it, with its own arguments. */

#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "client/ask.h"
#include "client/verbs.h"

/* This program does not run the verbs of others. */
#define RUN_OWN(name)    NULL
#define RUN_DAEMON(name) NULL
#define RUN_BOTH(name)   &command_##name
#define RUN_CLIENT(name) &command_##name

static const struct {
        const char *name;
        const Verb *verb;
} verbs[] = {
#define VERB(name, program, group, help) { #name, RUN_##program(name) },
#include "cli/verbs.def"
#undef VERB
};

static int client_run_verb(int argc, char **argv) {
        const char *word = argc > 1 ? argv[1] : "";

        for (size_t i = 0; i < ELEMENTSOF(verbs); i++)
                if (verbs[i].verb && strcmp(word, verbs[i].name) == 0)
                        return verb_main(verbs[i].verb, argc - 1, argv + 1);
        return verb_refuse("cove-client has no verb '%s': call it through cove", word);
}

int main(int argc, char **argv) {
        int status;

        (void) setlocale(LC_CTYPE, "C.UTF-8"); /* for the width of text; numbers stay as they are */
        status = client_run_verb(argc, argv);
        if (fflush(stdout) != 0 || ferror(stdout))
                return verb_refuse("cannot write to stdout: %m");
        return status;
}
