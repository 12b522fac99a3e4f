/* cove-probe: tries to get out of a sandbox, one way at a time.
 *
 *     probe NAME [ARGUMENT…]    0: the sandbox held, 1: escaped (and says what was reached), 2: could not be tried
 *     probe --list              one line per attempt: name, who should try (user, root, both), flags, why it must fail
 *     probe --whoami            own ids and capabilities, for the attempts that execute a copy of the probe */
#include "probe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INITIAL_PID_NAMESPACE "pid:[4026531836]" /* the same number on every kernel */

static const Attempt *const themes[] = {
        fs_attempts,
        bind_attempts,
        mount_attempts,
        device_attempts,
        proc_attempts,
        process_attempts,
        ns_attempts,
        caps_attempts,
        syscall_attempts,
        abi_attempts,
        tty_attempts,
        ipc_attempts,
        net_attempts,
        gate_attempts,
        info_attempts,
        limit_attempts,
        wreck_attempts,
};

static const Attempt *attempt_find(const char *name) {
        for (size_t i = 0; i < ELEMENTSOF(themes); i++)
                for (const Attempt *a = themes[i]; a->name; a++)
                        if (strcmp(a->name, name) == 0)
                                return a;
        return NULL;
}

static int list(void) {
        for (size_t i = 0; i < ELEMENTSOF(themes); i++)
                for (const Attempt *a = themes[i]; a->name; a++) {
                        const char *who = (a->flags & AS_BOTH) == AS_BOTH ? "both"
                                          : a->flags & AS_USER            ? "user"
                                                                          : "root";

                        printf("%s\t%s\t%s\t%s\n", a->name, who, a->flags & WRECKS ? "wrecks" : "-", a->why);
                }
        return 0;
}

static int whoami(void) {
        unsigned long long effective = 0;

        if (!status_number("CapEff", &effective))
                return BROKEN;
        printf("%u %llx\n", (unsigned) geteuid(), effective);
        return 0;
}

static void outside_or_die(bool outside, const char *because) {
        if (!outside)
                return;
        fprintf(stderr, "probe: not inside a sandbox (%s): nothing was tried\n", because);
        exit(BROKEN);
}

static bool has_line_beginning(const char *path, const char *beginning) {
        char text[16384];

        if (read_file(path, text, sizeof(text)) < 0)
                return false;
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
                if (strncmp(line, beginning, strlen(beginning)) == 0)
                        return true;
        return false;
}

static bool maps_all_ids(void) {
        unsigned inside, outside, count;
        char text[256];

        return read_file("/proc/self/uid_map", text, sizeof(text)) < 0 ||
               sscanf(text, "%u %u %u", &inside, &outside, &count) != 3 || outside == 0 || count > 1u << 24;
}

/* Several signs, each enough to refuse. A broken sandbox may show one of them: the test then fails, and nothing is done
 * to the machine. */
static void verify_inside_or_die(void) {
        const char *mark = getenv("COVE_ESCAPE_TEST");
        char pidns[64] = "", root[64];
        struct stat st;

        outside_or_die(!mark || strcmp(mark, "1") != 0, "COVE_ESCAPE_TEST is not set to 1");
        outside_or_die(readlink("/proc/self/ns/pid", pidns, sizeof(pidns) - 1) < 0, "no /proc");
        outside_or_die(strcmp(pidns, INITIAL_PID_NAMESPACE) == 0, "this is the first pid namespace");
        outside_or_die(strcmp(pidns, fact_or_die("PIDNS")) == 0, "this is the runner's pid namespace");
        outside_or_die(maps_all_ids(), "user ids are the host's");
        outside_or_die(!has_line_beginning("/etc/passwd", "user:"), "/etc/passwd is not a sandbox's");
        outside_or_die(access(fact_or_die("MARKER"), F_OK) == 0 || errno != ENOENT,
                        "the host's marker is visible");

        outside_or_die(stat("/", &st) < 0, "no root directory");
        (void) snprintf(root, sizeof(root), "%llu:%llu", (unsigned long long) st.st_dev,
                        (unsigned long long) st.st_ino);
        outside_or_die(strcmp(root, fact_or_die("ROOT")) == 0, "the root directory is the host's");
}

static Verdict attempt_run(const Attempt *a, char **args) {
        const char *wreck = getenv("COVE_ESCAPE_WRECK");

        verify_inside_or_die();
        if (a->flags & WRECKS && (!wreck || strcmp(wreck, "1") != 0))
                return broken("%s destroys what it reaches; COVE_ESCAPE_WRECK is not set to 1", a->name);
        return a->flags & IN_PROCESS ? a->run(args) : in_child(a->run, args);
}

int main(int argc, char **argv) {
        const Attempt *a;

        if (argc == 2 && strcmp(argv[1], "--list") == 0)
                return list();
        if (argc == 2 && strcmp(argv[1], "--whoami") == 0)
                return whoami();
        if (argc < 2) {
                fprintf(stderr, "usage: probe NAME [ARGUMENT…] | --list | --whoami\n");
                return BROKEN;
        }
        a = attempt_find(argv[1]);
        if (!a) {
                fprintf(stderr, "probe: there is no attempt \"%s\"\n", argv[1]);
                return BROKEN;
        }
        return (int) attempt_run(a, argv + 2);
}
