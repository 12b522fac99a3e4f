/* The command line of `cove run`: words parted by NUL. What opens a file of the caller's choice is left out. */
#include "fuzz.h"

#include <errno.h>
#include <stdbool.h>

#include "base/macro.h"
#include "cli/run-options.h"

#define ARGS_MAX 64

static bool opens_files(const char *word) {
        return strncmp(word, "--file", 6) == 0 || strncmp(word, "--env-file", 10) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_free_ char *text = fuzz_string(data, size);
        char *argv[ARGS_MAX + 1] = { (char *) "run" };
        Error error = { 0 };
        int argc = 1, r;
        RunOptions o;

        for (char *p = text; p < text + size && argc < ARGS_MAX; p += strlen(p) + 1)
                if (!opens_files(p))
                        argv[argc++] = p;
        r = run_options_parse(&o, argc, argv, &error);
        if (r < 0)
                MUST(error.code == r && error.text[0] && strlen(error.text) < sizeof(error.text));
        else if (!o.help) {
                MUST(o.command.n > 0 && o.command.items[0][0]);
                MUST(o.spec.workdir[0] == '/' && o.spec.uid < 65535 && o.env.n <= RUN_ENV_MAX);
                MUST(strlen(o.spec.id) == JAIL_ID_LENGTH && run_options_path(&o));
                for (size_t i = 0; i < o.spec.n_binds; i++)
                        MUST(o.spec.binds[i].target[0] == '/' && o.spec.binds[i].target[1]);
        }
        run_options_done(&o);
        return 0;
}
