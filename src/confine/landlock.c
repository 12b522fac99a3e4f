#include "confine/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

/* Rights and scopes younger than the distribution's kernel headers (Linux 6.1). */
#define ACCESS_FS_TRUNCATE   (UINT64_C(1) << 14) /* ABI 3 */
#define ACCESS_FS_IOCTL_DEV  (UINT64_C(1) << 15) /* ABI 5 */
#define SCOPE_ABSTRACT_UNIX  (UINT64_C(1) << 0)  /* ABI 6 */
#define SCOPE_SIGNAL         (UINT64_C(1) << 1)  /* ABI 6 */
#define ACCESS_FS_ABI_1      ((UINT64_C(1) << 13) - 1)
#define ACCESS_FS_REFER      (UINT64_C(1) << 13) /* ABI 2 */

#define ACCESS_FS_NEVER (LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK)

typedef struct RulesetAttr {
        uint64_t handled_access_fs;
        uint64_t handled_access_net; /* ABI 4; the network has its own namespace */
        uint64_t scoped;             /* ABI 6 */
} RulesetAttr;

int landlock_probe(void) {
        long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

        if (abi < 0)
                return errno == ENOSYS || errno == EOPNOTSUPP ? -EOPNOTSUPP : -errno;
        return (int) abi;
}

/* What each ABI level brought. The size is that of the attribute structure which the level understands. */
static size_t attr_for_abi(int abi, RulesetAttr *ret) {
        ret->handled_access_fs = ACCESS_FS_ABI_1;
        if (abi >= 2)
                ret->handled_access_fs |= ACCESS_FS_REFER;
        if (abi >= 3)
                ret->handled_access_fs |= ACCESS_FS_TRUNCATE;
        if (abi >= 5)
                ret->handled_access_fs |= ACCESS_FS_IOCTL_DEV;
        if (abi >= 6)
                ret->scoped = SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL;
        return abi >= 6 ? sizeof(RulesetAttr) : abi >= 4 ? offsetof(RulesetAttr, scoped) : sizeof(uint64_t);
}

#define ACCESS_FS_READ  (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define ACCESS_FS_PROC  (ACCESS_FS_READ | LANDLOCK_ACCESS_FS_WRITE_FILE | ACCESS_FS_TRUNCATE)
/* What a rule for something that is no directory may name. */
#define ACCESS_FS_FILES                                                                                       \
        (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | ACCESS_FS_TRUNCATE)

static int allow_beneath(int ruleset, const char *path, uint64_t access) {
        _cleanup_close_ int fd = open(path, O_PATH | O_CLOEXEC);
        struct landlock_path_beneath_attr rule = { .allowed_access = access, .parent_fd = fd };
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0)
                return -errno;
        if (!S_ISDIR(st.st_mode))
                rule.allowed_access &= ACCESS_FS_FILES;
        if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0)
                return -errno;
        return 0;
}

static int ruleset_new(bool scoped, uint64_t *ret_access) {
        RulesetAttr attr = { 0 };
        size_t size;
        int abi, ruleset;

        abi = landlock_probe();
        if (abi < 0)
                return abi;
        size = attr_for_abi(abi, &attr);
        if (!scoped)
                attr.scoped = 0;
        ruleset = (int) syscall(SYS_landlock_create_ruleset, &attr, size, 0);
        if (ruleset < 0)
                return -errno;
        *ret_access = attr.handled_access_fs;
        return ruleset;
}

static int confine_to_root(bool scoped) {
        uint64_t access;
        _cleanup_close_ int ruleset = ruleset_new(scoped, &access);
        int r;

        if (ruleset < 0)
                return ruleset;
        r = allow_beneath(ruleset, "/", access & ~(ACCESS_FS_NEVER | ACCESS_FS_IOCTL_DEV));
        if (r < 0)
                return r;
        r = allow_beneath(ruleset, "/dev", access & ~ACCESS_FS_NEVER);
        if (r < 0)
                return r;
        return syscall(SYS_landlock_restrict_self, ruleset, 0) < 0 ? -errno : 0;
}

int landlock_confine_to_root(void) {
        return confine_to_root(/* scoped= */ true);
}

int landlock_confine_to_root_unscoped(void) {
        return confine_to_root(/* scoped= */ false);
}

int landlock_confine_sealed(const char *const *writable, size_t n) {
        uint64_t access;
        _cleanup_close_ int ruleset = ruleset_new(/* scoped= */ true, &access);
        int r;

        if (ruleset < 0)
                return ruleset;
        r = allow_beneath(ruleset, "/", access & ACCESS_FS_READ);
        if (r >= 0)
                r = allow_beneath(ruleset, "/proc", access & ACCESS_FS_PROC);
        if (r >= 0)
                r = allow_beneath(ruleset, "/dev", access & ~ACCESS_FS_NEVER);
        for (size_t i = 0; i < n && r >= 0; i++)
                r = allow_beneath(ruleset, writable[i], access & ~(ACCESS_FS_NEVER | ACCESS_FS_IOCTL_DEV));
        if (r < 0)
                return r;
        return syscall(SYS_landlock_restrict_self, ruleset, 0) < 0 ? -errno : 0;
}
