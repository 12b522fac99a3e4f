/* Files for --env-file, from memory. */
#include "fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "cli/run-options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_close_ int fd = memfd_create("env-file", MFD_CLOEXEC);
        char path[64], *argv[] = { (char *) "run", (char *) "--env-file", path, (char *) "true", NULL };
        Error error = { 0 };
        RunOptions o;
        int r;

        MUST(fd >= 0 && fd_write_all(fd, data, size) == 0);
        (void) snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        r = run_options_parse(&o, 4, argv, &error);
        if (r < 0)
                MUST(error.code == r && error.text[0]);
        for (size_t i = 0; i < o.env.n; i++) {
                const char *equals = strchr(o.env.items[i], '=');

                MUST(equals && equals != o.env.items[i] && !strchr(o.env.items[i], '\n'));
        }
        run_options_done(&o);
        return 0;
}
