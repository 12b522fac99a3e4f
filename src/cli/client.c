/* Executes the other programs: cove-client, which talks to a daemon, and coved, the daemon.
 *
 * cove itself is static and starts in a fraction of a millisecond; only those two load the libraries for
 * talking to a daemon. */

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "base/macro.h"
#include "base/program.h"
#include "cli/verbs.h"
#include "config.h"

/* Returns a negative errno: -ENOENT if there is no such program. */
static int client_become(const char *program, char **argv) {
        _cleanup_free_ char *path = NULL;
        int r = program_path(program, &path);

        if (r < 0)
                return r;
        (void) execv(path, argv);
        return -errno;
}

static int client_tell(const char *program, const char *verb, int error) {
        errno = -error;
        log_error("cannot start %s, which `cove %s` needs: %m%s", program, verb,
                        error == -ENOENT ? "; it belongs beside cove, or where it was installed" : "");
        return EXIT_OWN_FAILURE;
}

/* Its words begin where ours do, one before the verb, so it calls itself "cove". */
int become_client(int argc, char **argv) {
        return client_tell("cove-client", argv[0], client_become("cove-client", argv - 1));
}

/* The daemon has no verbs: it takes the words after `serve`. */
int become_daemon(int argc, char **argv) {
        argv[0] = (char *) "coved";
        return client_tell("coved", "serve", client_become("coved", argv));
}

int verb_version(int argc, char **argv) {
        int r = client_become("cove-client", argv - 1);

        if (r != -ENOENT || argc > 1)
                return client_tell("cove-client", "version", r);
        printf("cove %s\n", COVE_VERSION);
        return 0;
}
