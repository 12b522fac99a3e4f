/* The text of /proc/self/cgroup, in which names of groups are other people's choice. */
#include "fuzz.h"

#include <errno.h>

#include "base/macro.h"
#include "jail/cgroup-ops.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        static const char *const controllers[] = { "", "memory", "cpu", "cpuacct", "name=systemd" };
        _cleanup_free_ char *text = fuzz_string(data, size);

        for (size_t i = 0; i < ELEMENTSOF(controllers); i++) {
                char path[40], larger[4096];
                int r = cgroup_own_path(text, controllers[i], path, sizeof(path));

                MUST(r == 0 || r == -ENOENT || r == -ENAMETOOLONG);
                if (r == 0)
                        MUST(strlen(path) < sizeof(path) && !strchr(path, '\n') && strstr(text, path));
                if (r != -ENAMETOOLONG)
                        MUST(cgroup_own_path(text, controllers[i], larger, sizeof(larger)) == r);
        }
        return 0;
}
