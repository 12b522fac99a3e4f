/* cove completion: what a shell needs to complete our words. */

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "client/completions.h"
#include "client/usage.h"
#include "client/verbs.h"

typedef struct CompletionOptions {
        Common common;
} CompletionOptions;

static const Option completion_options[] = {
        { "help", 'h', NULL, "print this", common_apply_help },
};

static const Usage usage = {
        .synopsis = "completion bash|zsh|fish",
        .about = "Prints the completions for a shell.",
        .more = "To have them:\n"
                "  bash   source <(cove completion bash)                            in ~/.bashrc\n"
                "  zsh    cove completion zsh > DIR/_cove                           DIR in $fpath\n"
                "  fish   cove completion fish > ~/.config/fish/completions/cove.fish",
        USAGE_OPTIONS(completion_options),
        .operands_min = 1,
        .operands_max = 1,
        .missing = "no shell given",
};

static const struct {
        const char *shell, *text;
} scripts[] = {
        { "bash", completion_bash },
        { "zsh", completion_zsh },
        { "fish", completion_fish },
};

int verb_completion(int argc, char **argv) {
        _cleanup_place_ Place place = { 0 };
        CompletionOptions o = { 0 };
        Operands words;
        int status;

        if (usage_begin(&usage, argc, argv, &o, &words, &place, &status) != 0)
                return status;
        for (size_t i = 0; i < ELEMENTSOF(scripts); i++)
                if (strcmp(words.items[0], scripts[i].shell) == 0) {
                        fputs(scripts[i].text, stdout);
                        return 0;
                }
        log_error("there are no completions for '%s': bash, zsh and fish", words.items[0]);
        return EXIT_OWN_FAILURE;
}
