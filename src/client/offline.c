#include "client/offline.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "base/macro.h"
#include "base/program.h"
#include "client/verbs.h"

int offline_become_coved(const char *verb, char **argv) {
        _cleanup_free_ char *path = NULL;
        int r = program_path("coved", &path);

        if (r >= 0) {
                (void) fflush(stdout);
                (void) execv(path, argv);
                r = -errno;
        }
        errno = -r;
        log_error("cannot start coved, which `cove %s` needs: %m%s", verb,
                        r == -ENOENT ? "; it belongs beside cove, or where it was installed" : "");
        return EXIT_OWN_FAILURE;
}
