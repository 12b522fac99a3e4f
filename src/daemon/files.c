#include "daemon/files.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/log.h"

#define FILES_WANTED         65536
#define FILES_MOST           ((size_t) 1 << 20) /* a process should not plan with all that it can hold */
#define FILES_OWN            144 /* 32 of them for segments: core/execution/segment.c */
#define FILES_AT_ONCE        32 /* the daemon's own: descriptors that come with a message and are closed after it */
#define FILES_PER_SANDBOX    2
#define FILES_PER_CONNECTION 7 /* the most that any kind of request holds, namely the upload of an archive: test/api/shortage */
#define FILES_OF_TLS         2 /* of these */
#define CONNECTIONS_LEAST    8

int files_raise(size_t *ret_all, Error *reterr) {
        struct rlimit limit, raised;

        if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
                return error_set(reterr, -errno, "RLIMIT_NOFILE: %m");
        raised.rlim_cur = raised.rlim_max = MAX_OF(limit.rlim_max, (rlim_t) FILES_WANTED);
        if (geteuid() != 0 || setrlimit(RLIMIT_NOFILE, &raised) < 0) { /* root without CAP_SYS_RESOURCE gets the same limit as other users */
                raised.rlim_cur = raised.rlim_max = limit.rlim_max;
                if (setrlimit(RLIMIT_NOFILE, &raised) < 0)
                        return error_set(reterr, -errno, "RLIMIT_NOFILE: %m");
        }
        *ret_all = (size_t) MIN_OF(raised.rlim_max, (rlim_t) FILES_MOST);
        return 0;
}

int files_share(size_t all, unsigned live, unsigned sandboxes_max, unsigned connections_max, FilesShare *ret, Error *reterr) {
        size_t held = MAX_OF((size_t) live, (size_t) 1), fixed = FILES_OWN + CONNECTIONS_LEAST * FILES_PER_CONNECTION;
        size_t least = fixed + held * FILES_PER_SANDBOX, sandboxes, connections;

        if (all < least)
                return error_set(reterr, -EMFILE,
                                "coved may have %zu open files, and with %u sandbox%s it needs %zu: raise the limit of open files "
                                "(LimitNOFILE= of the service, ulimit -n), and start it again; sandboxes continue",
                                all, live, live == 1 ? "" : "es", least);
        sandboxes = MIN_OF((all - fixed) / 2 / FILES_PER_SANDBOX, (size_t) sandboxes_max);
        sandboxes = MAX_OF(sandboxes, held);
        connections = (all - FILES_OWN - sandboxes * FILES_PER_SANDBOX) / FILES_PER_CONNECTION;
        *ret = (FilesShare) {
                .reserve = sandboxes * FILES_PER_SANDBOX + FILES_AT_ONCE,
                .sandboxes_max = (unsigned) MIN_OF(sandboxes, (size_t) sandboxes_max),
                .connections_max = (unsigned) MIN_OF(connections, (size_t) connections_max),
        };
        return 0;
}
