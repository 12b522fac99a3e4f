/* The table of guards. */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "wire/guard.h"

TEST(every_guard_has_a_line) {
        for (Guard g = 0; g < _GUARD_MAX; g++) {
                const char *name = guard_name(g);

                check_true("a name", name && name[0]);
                check_uint(name, strspn(name, "abcdefghijklmnopqrstuvwxyz-"), strlen(name));
                check_true(name, guard_purpose(g) && guard_purpose(g)[0]);
        }
}

TEST(names_are_unique) {
        for (Guard a = 0; a < _GUARD_MAX; a++)
                for (Guard b = 0; b < a; b++)
                        check_true(guard_name(a), strcmp(guard_name(a), guard_name(b)) != 0);
}

TEST(names_lead_back) {
        for (Guard g = 0; g < _GUARD_MAX; g++)
                check_int(guard_name(g), guard_from_name(guard_name(g)), g);
}

TEST(unknown_names) {
        static const char *const names[] = { "", "USERNS", "userns ", "user", "no such guard" };

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                check_result(names[i], guard_from_name(names[i]), -EINVAL);
        check_result("_GUARD_INVALID", _GUARD_INVALID, -EINVAL);
}

TEST(sets) {
        GuardSet all = 0;

        for (Guard g = 0; g < _GUARD_MAX; g++)
                all |= GUARD_BIT(g);
        check_uint("GUARD_ALL", GUARD_ALL, all);
        check_uint("GUARDS_OF_CGROUP", GUARDS_OF_CGROUP,
                        GUARD_BIT(GUARD_MEMORY) | GUARD_BIT(GUARD_CPU) | GUARD_BIT(GUARD_PIDS) |
                                        GUARD_BIT(GUARD_IO));
}

/* The walls without which it would be no sandbox; written out here a second time, not taken from the table. */
TEST(no_sandbox_without) {
        static const Guard firm[] = { GUARD_USERNS, GUARD_PIDNS, GUARD_MOUNTNS, GUARD_ROOTFS, GUARD_DEV,
                GUARD_PROC, GUARD_CAPABILITIES, GUARD_NO_NEW_PRIVS, GUARD_RLIMITS, GUARD_SESSION,
                GUARD_ENVIRONMENT, GUARD_DESCRIPTORS };

        for (size_t i = 0; i < ELEMENTSOF(firm); i++)
                check_int(guard_name(firm[i]), guard_is_optional(firm[i]), 0);
        check_int("landlock", guard_is_optional(GUARD_LANDLOCK), 1);
        check_int("memory", guard_is_optional(GUARD_MEMORY), 1);
}
