/* What /proc/self/cgroup and the counters' files say; the groups themselves need a host, see test/guest. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "jail/cgroup-ops.h"
#include "jail/disk.h"

static const char v1[] = "12:pids:/user.slice/user-0.slice/session-1.scope\n"
                         "11:cpuset:/\n"
                         "7:net_cls,net_prio:/\n"
                         "5:memory:/user.slice/user-0.slice/session-1.scope\n"
                         "3:cpu,cpuacct:/user.slice\n"
                         "2:blkio:/user.slice\n"
                         "1:name=systemd:/user.slice/user-0.slice/session-1.scope\n";

static const char hybrid[] = "9:name=systemd:/\n"
                             "8:pids:/box\n"
                             "2:cpuacct:/acct\n"
                             "1:cpu:/cpu\n"
                             "0::/unified/here\n";

static const char v2[] = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/run.scope\n";

static void check_path(const char *text, const char *controller, const char *expected) {
        char path[256] = "untouched";

        check_result(controller, cgroup_own_path(text, controller, path, sizeof(path)),
                        expected ? 0 : -ENOENT);
        check_string(controller, path, expected ? expected : "untouched");
}

TEST(own_path_v1) {
        check_path(v1, "memory", "/user.slice/user-0.slice/session-1.scope");
        check_path(v1, "cpu", "/user.slice");
        check_path(v1, "cpuacct", "/user.slice");
        check_path(v1, "net_prio", "");
        check_path(v1, "cpuset", "");
        check_path(v1, "name=systemd", "/user.slice/user-0.slice/session-1.scope");
        check_path(v1, "io", NULL);
        check_path(v1, "", NULL);
}

TEST(own_path_hybrid) {
        check_path(hybrid, "", "/unified/here");
        check_path(hybrid, "cpu", "/cpu");
        check_path(hybrid, "cpuacct", "/acct");
        check_path(hybrid, "pids", "/box");
        check_path(hybrid, "memory", NULL);
}

TEST(own_path_v2) {
        check_path(v2, "", "/user.slice/user-1000.slice/user@1000.service/app.slice/run.scope");
        check_path(v2, "memory", NULL);
        check_path("0::/\n", "", "");
        check_path("0::/", "", "");
        check_path("0::/a", "", "/a");
}

/* Names of groups are anybody's to choose, short of a slash and a newline. */
TEST(own_path_odd_names) {
        check_path("0::/a:b::c\n", "", "/a:b::c");
        check_path("4:memory:/x:y\n", "memory", "/x:y");
        check_path("4:cpu:/5:memory:/x\n3:memory:/y\n", "memory", "/y");
        check_path("0::/with space (deleted)\n", "", "/with space (deleted)");
        check_path("1:name=memory:/x\n2:memory:/y\n", "memory", "/y");
        check_path("1:memoryx:/x\n2:xmemory:/z\n3:memory:/y\n", "memory", "/y");
}

TEST(own_path_malformed) {
        check_path("", "", NULL);
        check_path("\n", "", NULL);
        check_path("\n\n\n0::/a\n", "", "/a");
        check_path("rubbish\n0::/a\n", "", "/a");
        check_path("4\n4:memory:/x\n", "memory", "/x");
        check_path("4:memory\n5:cpu:/x\n", "memory", NULL);
        check_path("4:memory\n:/x\n", "memory", NULL);
        check_path("4:memory,\n:/x\n", "memory", NULL);
        check_path(":::\n", "memory", NULL);
        check_path("memory:/x\n", "memory", NULL);
        check_path("4:,,:/x\n", "memory", NULL);
        check_path("4:cpu,memory", "memory", NULL);
}

TEST(own_path_length) {
        struct {
                char path[8], after[8];
        } box = { .after = "sentry" };

        check_result("fits", cgroup_own_path("0::/123456\n", "", box.path, sizeof(box.path)), 0);
        check_string("fits", box.path, "/123456");
        check_result("does not", cgroup_own_path("0::/1234567\n", "", box.path, sizeof(box.path)),
                        -ENAMETOOLONG);
        check_string("output untouched", box.path, "/123456");
        check_string("what lies behind", box.after, "sentry");
}

TEST(own_path_here) {
        char text[CGROUP_OWN_MAX], path[256];
        ssize_t n = file_read(AT_FDCWD, "/proc/self/cgroup", text, sizeof(text));

        if (n < 0)
                unit_skip("cannot read /proc/self/cgroup; a kernel with cgroups has it");
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
                char controller[64];
                const char *names = strchr(line, ':') + 1;

                (void) snprintf(controller, sizeof(controller), "%.*s", (int) strcspn(names, ",:"), names);
                check_result(line, cgroup_own_path(line, controller, path, sizeof(path)), 0);
                check_true(line, path[0] == '\0' || path[0] == '/');
        }
}

/* counters */

static int directory(void) {
        int fd = open(unit_directory(), O_PATH | O_DIRECTORY | O_CLOEXEC);

        check_true("directory", fd >= 0);
        return fd;
}

TEST(read_key) {
        _cleanup_close_ int dir = directory();
        static const struct {
                const char *key;
                int result;
                uint64_t value;
        } rows[] = {
                { "low",            0,       0          },
                { "oom",            0,       1          },
                { "oom_kill",       0,       22         },
                { "oom_group_kill", 0,       UINT64_MAX },
                { "last",           0,       5          },
                { "kill",           -ENOENT, 0          }, /* the end of a key */
                { "oom_k",          -ENOENT, 0          }, /* its beginning */
                { "22",             -ENOENT, 0          }, /* a value */
                { "absent",         -ENOENT, 0          },
        };

        unit_write_text(unit_path("memory.events"),
                        "low 0\nhigh 3\noom 1\noom_kill 22\noom_group_kill 18446744073709551615\nlast 5");
        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                uint64_t value = 7;

                check_result(rows[i].key, cgroup_read_key(dir, "memory.events", rows[i].key, &value),
                                rows[i].result);
                check_uint(rows[i].key, value, rows[i].result < 0 ? 7 : rows[i].value);
        }
}

TEST(read_key_files) {
        _cleanup_close_ int dir = directory();
        char large[4097];
        uint64_t value = 7;

        check_result("missing", cgroup_read_key(dir, "no.such.file", "x", &value), -ENOENT);
        unit_write_text(unit_path("empty"), "");
        check_result("empty", cgroup_read_key(dir, "empty", "x", &value), -ENOENT);
        unit_write_text(unit_path("no-values"), "x\nx\n\nxx\n");
        check_result("keys alone", cgroup_read_key(dir, "no-values", "x", &value), -ENOENT);
        memset(large, '\n', sizeof(large));
        unit_write_file(unit_path("large"), large, sizeof(large));
        check_result("large", cgroup_read_key(dir, "large", "x", &value), -EFBIG);
        check_uint("output untouched", value, 7);
}

/* disk: the choice, which needs no file system */

TEST(disk_choice) {
        static const struct {
                uint64_t memory, disk;
                const char *keep;
                bool privileged;
                DiskBacking backing;
        } rows[] = {
                { 100, 50, NULL, true,  DISK_MEMORY    },
                { 100, 51, NULL, true,  DISK_IMAGE     },
                { 100, 51, NULL, false, DISK_MEMORY    },
                { 100, 51, "d",  true,  DISK_DIRECTORY },
                { 100, 10, "d",  false, DISK_DIRECTORY },
        };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                JailSpec spec = {
                        .keep_dir = rows[i].keep,
                        .limits = { .memory_bytes = rows[i].memory, .disk_bytes = rows[i].disk }
                };

                check_string("backing", disk_backing_name(disk_choose(&spec, rows[i].privileged)),
                                disk_backing_name(rows[i].backing));
        }
}

TEST(disk_names) {
        for (DiskBacking a = 0; a < _DISK_BACKING_MAX; a++)
                for (DiskBacking b = 0; b < a; b++)
                        check_true(disk_backing_name(a),
                                        strcmp(disk_backing_name(a), disk_backing_name(b)) != 0);
}
