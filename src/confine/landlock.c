#include "confine/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

#define ACCESS_FS_ALL   (LANDLOCK_FILES | LANDLOCK_REFER | LANDLOCK_TRUNCATE | LANDLOCK_IOCTL_DEV)
#define ACCESS_FS_NEVER (LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK)
#define ACCESS_FS_READ  (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define ACCESS_FS_PROC  (ACCESS_FS_READ | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_TRUNCATE)
/* The rights that a rule for a file may have. */
#define ACCESS_FS_FILES                                                                                       \
        (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_TRUNCATE)

int landlock_probe(void) {
        long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

        if (abi < 0)
                return errno == ENOSYS || errno == EOPNOTSUPP ? -EOPNOTSUPP : -errno;
        return (int) abi;
}

/* What each ABI level brought. The size is that of the attribute structure which the level understands. */
static size_t rights_for_abi(int abi, LandlockRights *rights) {
        rights->files &= LANDLOCK_FILES | (abi >= 2 ? LANDLOCK_REFER : 0) | (abi >= 3 ? LANDLOCK_TRUNCATE : 0) | (abi >= 5 ? LANDLOCK_IOCTL_DEV : 0);
        if (abi < 4)
                rights->net = 0;
        if (abi < 6)
                rights->scoped = 0;
        return abi >= 6 ? sizeof(*rights) : abi >= 4 ? offsetof(LandlockRights, scoped) : offsetof(LandlockRights, net);
}

static int ruleset_new(LandlockRights *rights) {
        size_t size;
        int abi, ruleset;

        abi = landlock_probe();
        if (abi < 0)
                return abi;
        size = rights_for_abi(abi, rights);
        ruleset = (int) syscall(SYS_landlock_create_ruleset, rights, size, 0);
        return ruleset < 0 ? -errno : ruleset;
}

static int ruleset_allow(int ruleset, const LandlockRights *rights, const LandlockRule *rule) {
        _cleanup_close_ int opened = rule->path ? open(rule->path, O_PATH | O_CLOEXEC) : -EBADF;
        const int fd = rule->path ? opened : rule->fd;
        struct landlock_path_beneath_attr beneath = { .allowed_access = rule->access & rights->files, .parent_fd = fd };
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0)
                return rule->optional ? 0 : -errno;
        if (!S_ISDIR(st.st_mode))
                beneath.allowed_access &= ACCESS_FS_FILES;
        return syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) < 0 ? -errno : 0;
}

/* All paths beside the rules get the same rights. */
static int landlock_enforce(LandlockRights rights, const LandlockRule *rules, size_t n, const char *const *paths, size_t n_paths, uint64_t access) {
        _cleanup_close_ int ruleset = ruleset_new(&rights);
        int r = ruleset < 0 ? ruleset : 0;

        for (size_t i = 0; i < n && r >= 0; i++)
                r = ruleset_allow(ruleset, &rights, rules + i);
        for (size_t i = 0; i < n_paths && r >= 0; i++)
                r = ruleset_allow(ruleset, &rights, &(LandlockRule) { .path = paths[i], .access = access });
        if (r < 0)
                return r;
        return syscall(SYS_landlock_restrict_self, ruleset, 0) < 0 ? -errno : 0;
}

int landlock_restrict(const LandlockRights *forbidden, const LandlockRule *rules, size_t n) {
        return landlock_enforce(*forbidden, rules, n, /* paths= */ NULL, 0, 0);
}

#define ALL_RIGHTS { .files = ACCESS_FS_ALL, .scoped = LANDLOCK_ABSTRACT_SOCKETS | LANDLOCK_SIGNALS }

static int confine_to_root(LandlockRights rights) {
        static const LandlockRule rules[] = {
                { .path = "/",    .access = ACCESS_FS_ALL & ~(ACCESS_FS_NEVER | LANDLOCK_IOCTL_DEV) },
                { .path = "/dev", .access = ACCESS_FS_ALL & ~ACCESS_FS_NEVER                        },
        };

        return landlock_restrict(&rights, rules, ELEMENTSOF(rules));
}

int landlock_confine_to_root(void) {
        return confine_to_root((LandlockRights) ALL_RIGHTS);
}

int landlock_confine_to_root_unscoped(void) {
        return confine_to_root((LandlockRights) { .files = ACCESS_FS_ALL });
}

int landlock_confine_sealed(const char *const *writable, size_t n) {
        static const LandlockRule rules[] = {
                { .path = "/",     .access = ACCESS_FS_READ                   },
                { .path = "/proc", .access = ACCESS_FS_PROC                   },
                { .path = "/dev",  .access = ACCESS_FS_ALL & ~ACCESS_FS_NEVER },
        };

        return landlock_enforce((LandlockRights) ALL_RIGHTS, rules, ELEMENTSOF(rules), writable, n,
                        ACCESS_FS_ALL & ~(ACCESS_FS_NEVER | LANDLOCK_IOCTL_DEV));
}
