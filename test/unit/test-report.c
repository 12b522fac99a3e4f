/* The report: its keys are a contract, their spelling and order included. */
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "cli/report.h"

static char *report(const RunOptions *o, const Outcome *out, char *buffer, size_t size) {
        _cleanup_close_ int fd = memfd_create("report", MFD_CLOEXEC);
        ssize_t n;

        check_result("report_write", report_write(fd, o, out), 0);
        check_int("rewind", lseek(fd, 0, SEEK_SET), 0);
        n = fd_read_full(fd, buffer, size - 1);
        check_true("read", n >= 0);
        buffer[n] = '\0';
        return buffer;
}

/* `"key": value` without what follows. */
static void check_value(const char *text, const char *key, const char *expected) {
        char quoted[64], found[256];
        const char *p;

        (void) snprintf(quoted, sizeof(quoted), "\n  \"%s\": ", key);
        p = strstr(text, quoted);
        check_true(key, p != NULL);
        p += strlen(quoted);
        (void) snprintf(found, sizeof(found), "%.*s", (int) strcspn(p, ",\n"), p);
        check_string(key, found, expected);
}

TEST(keys) {
        static const char *const keys[] = { "id", "reason", "exit_code", "signal", "exit_status", "message",
                "wall_ms", "cpu_user_ms", "cpu_system_ms", "memory_peak_bytes", "oom_kills", "pids_peak",
                "io_read_bytes", "io_write_bytes", "stdout_bytes", "stderr_bytes", "stdout_truncated",
                "stderr_truncated", "disk_backing", "disk_used_bytes", "disk_full", "guards",
                "guards_missing", "transaction" };
        const RunOptions o = { .spec.id = "a23456789012345678901" };
        const Outcome out = { .exit_code = -1 };
        char text[4096];
        const char *p = report(&o, &out, text, sizeof(text));

        for (size_t i = 0; i < ELEMENTSOF(keys); i++) {
                char quoted[64];

                (void) snprintf(quoted, sizeof(quoted), "\n  \"%s\": ", keys[i]);
                p = strstr(p, quoted);
                check_true(keys[i], p != NULL);
                p += 1;
        }
        check_true("no others", strstr(p, "\n  \"") == NULL);
}

TEST(exited) {
        const RunOptions o = { .spec.id = "a23456789012345678901" };
        const Outcome out = {
                .reason = REASON_EXITED,
                .exit_code = 3,
                .exit_status = 3,
                .wall_usec = 1234567,
                .counted = true,
                .stdout_bytes = UINT64_C(1) << 40,
                .stderr_bytes = 5,
                .disk_bytes = 4096,
                .guards = GUARD_BIT(GUARD_USERNS) | GUARD_BIT(GUARD_DISK),
                .guards_missing = GUARD_BIT(GUARD_LANDLOCK),
                .usage = {
                        .cgroup = { .has_memory = true, .memory_peak_bytes = 77, .has_cpu = true, .cpu_usec = 3000,
                                .cpu_user_usec = 2000, .cpu_system_usec = 1000, .has_pids_peak = true, .pids_peak = 4,
                                .has_io_read = true, .has_io_write = true, .io_read_bytes = 8, .io_write_bytes = 9 },
                        .user_usec = 1, .system_usec = 1, .max_rss_bytes = 1,
                },
        };
        char text[4096];

        (void) report(&o, &out, text, sizeof(text));
        check_value(text, "id", "\"a23456789012345678901\"");
        check_value(text, "reason", "\"exited\"");
        check_value(text, "exit_code", "3");
        check_value(text, "signal", "null");
        check_value(text, "exit_status", "3");
        check_value(text, "message", "null");
        check_value(text, "wall_ms", "1234.567");
        check_value(text, "cpu_user_ms", "2.000");
        check_value(text, "cpu_system_ms", "1.000");
        check_value(text, "memory_peak_bytes", "77");
        check_value(text, "oom_kills", "0");
        check_value(text, "pids_peak", "4");
        check_value(text, "io_read_bytes", "8");
        check_value(text, "io_write_bytes", "9");
        check_value(text, "stdout_bytes", "1099511627776");
        check_value(text, "stderr_bytes", "5");
        check_value(text, "stdout_truncated", "false");
        check_value(text, "disk_used_bytes", "4096");
        check_value(text, "disk_full", "false");
        check_part("guards", text, "\"guards\": [\n    \"userns\",\n    \"disk\"\n  ]");
        check_part("guards_missing", text, "\"guards_missing\": [\n    \"landlock\"\n  ]");
}

/* What nobody counted is not zero. */
TEST(unknown_is_null) {
        const RunOptions o = { 0 };
        const Outcome out = {
                .reason = REASON_TIMEOUT,
                .exit_code = -1,
                .signal = 9,
                .exit_status = 124,
                .message = "timed \"out\"",
                .usage = { .user_usec = 10, .system_usec = 20, .max_rss_bytes = 30 }
        };
        char text[4096];

        (void) report(&o, &out, text, sizeof(text));
        check_value(text, "reason", "\"timeout\"");
        check_value(text, "exit_code", "null");
        check_value(text, "signal", "9");
        check_value(text, "exit_status", "124");
        check_value(text, "message", "\"timed \\\"out\\\"\"");
        check_value(text, "stdout_bytes", "null");
        check_value(text, "stderr_bytes", "null");
        check_value(text, "oom_kills", "null");
        check_value(text, "pids_peak", "null");
        check_value(text, "io_read_bytes", "null");
        check_value(text, "disk_used_bytes", "null");
        check_value(text, "cpu_user_ms", "0.010"); /* by wait(2) */
        check_value(text, "cpu_system_ms", "0.020");
        check_value(text, "memory_peak_bytes", "30");
        check_part("guards", text, "\"guards\": []");
}

/* A short run on v1, where the split by ticks has missed it: the sum is the cgroup's. */
TEST(cpu_split) {
        const RunOptions o = { 0 };
        const Outcome out = {
                .usage = { .cgroup = { .has_cpu = true, .cpu_usec = 9000 },
                          .user_usec = 1,
                          .system_usec = 2 }
        };
        char text[4096];

        (void) report(&o, &out, text, sizeof(text));
        check_value(text, "cpu_user_ms", "3.000");
        check_value(text, "cpu_system_ms", "6.000");
}

TEST(reasons) {
        static const char *const names[] = { "exited", "signaled", "timeout", "cpu_time", "memory",
                "output_limit", "disk", "cancelled", "internal" };

        check_uint("reasons", _REASON_MAX, ELEMENTSOF(names));
        for (Reason r = 0; r < _REASON_MAX; r++)
                check_string("reason", reason_name(r), names[r]);
}
