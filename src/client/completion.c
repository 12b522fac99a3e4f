/* cove completion: completion scripts for shells. */

#include <stdio.h>
#include <string.h>

#include "client/ask.h"
#include "client/completions.h"
#include "client/verbs.h"

static const struct {
        const char *shell, *text;
} scripts[] = {
        { "bash", completion_bash },
        { "zsh", completion_zsh },
        { "fish", completion_fish },
};

static int completion_run(const Place *place, void *options, const Operands *words) {
        for (size_t i = 0; i < ELEMENTSOF(scripts); i++)
                if (strcmp(words->items[0], scripts[i].shell) == 0) {
                        fputs(scripts[i].text, stdout);
                        return 0;
                }
        return verb_refuse("there are no completions for '%s': bash, zsh and fish", words->items[0]);
}

const Verb command_completion = {
        .synopsis = "completion bash|zsh|fish",
        .about = "Prints the completions for a shell.",
        .more = "To install them:\n"
                "  bash   source <(cove completion bash)                            in ~/.bashrc\n"
                "  zsh    cove completion zsh > DIR/_cove                           DIR in $fpath\n"
                "  fish   cove completion fish > ~/.config/fish/completions/cove.fish",
        VERB_ONE("no shell given"), .local = true, .run = completion_run,
};
