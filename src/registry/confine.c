#include "registry/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "confine/caps.h"
#include "confine/seccomp.h"

#define DESCRIPTORS_MAX 128
#define MEMORY_MAX      (UINT64_C(4) * 1024 * 1024 * 1024) /* of addresses: the threads that look names up have large stacks */

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#define FS_ALL  ((UINT64_C(1) << 13) - 1) /* what the first version can forbid */
#define FS_READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define FS_BLOBS                                                                                              \
        (FS_READ | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_REMOVE_FILE)
#define FS_FILE (LANDLOCK_ACCESS_FS_READ_FILE)

/* What names and certificates are looked up with. Libraries of the name service are loaded when they are needed. */
static const char *const readable[] = {
        "/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/usr/share/ca-certificates", "/usr/local/share/ca-certificates", "/usr/lib/ssl",
        "/etc/resolv.conf", "/run/systemd/resolve", "/etc/hosts", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/host.conf", "/etc/services",
        "/etc/ld.so.cache", "/usr/lib", "/lib", "/lib64", "/dev/urandom",
};

static int registry_confine_limit(int resource, rlim_t value) {
        struct rlimit now;

        if (getrlimit(resource, &now) < 0)
                return -errno;
        if (now.rlim_max < value) /* lower already */
                return 0;
        return setrlimit(resource, &(struct rlimit) { .rlim_cur = value, .rlim_max = value }) < 0 ? -errno : 0;
}

static int registry_confine_limits(void) {
        int r = registry_confine_limit(RLIMIT_CORE, 0);

        if (r >= 0)
                r = registry_confine_limit(RLIMIT_NOFILE, DESCRIPTORS_MAX);
        if (r >= 0 && !SANITIZED) /* a sanitizer's shadow alone is larger */
                r = registry_confine_limit(RLIMIT_AS, MEMORY_MAX);
        return r;
}

static int registry_confine_privileges(void) {
        int r;

        if (geteuid() == 0) {
                r = caps_drop_bounding(CAPS_ALL, 0);
                if (r < 0 && r != -EPERM)
                        return r;
        }
        r = caps_set(0);
        if (r < 0)
                return r;
        return (!SANITIZED && prctl(PR_SET_DUMPABLE, 0) < 0) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : 0;
}

static int registry_confine_allow(int ruleset, int fd, uint64_t access) {
        struct landlock_path_beneath_attr rule = { .allowed_access = access, .parent_fd = fd };

        return syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0 ? -errno : 0;
}

/* What is not there need not be readable. A file can be given no rights of a directory. */
static int registry_confine_allow_reading(int ruleset, const char *path) {
        _cleanup_close_ int fd = open(path, O_PATH | O_CLOEXEC);
        int r;

        if (fd < 0)
                return errno == ENOENT || errno == EACCES || errno == ENOTDIR ? 0 : -errno;
        r = registry_confine_allow(ruleset, fd, FS_READ);
        return r == -EINVAL ? registry_confine_allow(ruleset, fd, FS_FILE) : r;
}

static int registry_confine_files(int blobs_fd, const char *ca, bool network) {
        uint64_t handled = FS_ALL;
        _cleanup_close_ int ruleset = (int) syscall(SYS_landlock_create_ruleset, &handled, sizeof(handled), 0);
        int r;

        if (ruleset < 0)
                return errno == ENOSYS || errno == EOPNOTSUPP ? 0 : -errno;
        r = registry_confine_allow(ruleset, blobs_fd, FS_BLOBS);
        for (size_t i = 0; i < ELEMENTSOF(readable) && network && r >= 0; i++)
                r = registry_confine_allow_reading(ruleset, readable[i]);
        if (r >= 0 && ca)
                r = registry_confine_allow_reading(ruleset, ca);
        if (r >= 0 && SANITIZED) /* for what looks for leaks at the end */
                r = registry_confine_allow_reading(ruleset, "/proc");
        if (r >= 0 && syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
                r = -errno;
        return r;
}

#define LOAD(field)    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ANSWER(action) BPF_STMT(BPF_RET | BPF_K, action)
#define DENY(name)     BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), ANSWER(SECCOMP_RET_ERRNO | EPERM)

/* What nothing here has a use for and an attacker would begin with. That there is no other process, the next filter sees to, which looks at the architecture
 * as well. */
static const struct sock_filter denied[] = {
        LOAD(nr),
        DENY(execve), DENY(execveat), DENY(ptrace), DENY(process_vm_readv), DENY(process_vm_writev), DENY(bpf), DENY(perf_event_open), DENY(userfaultfd),
        DENY(mount), DENY(umount2), DENY(pivot_root), DENY(chroot), DENY(unshare), DENY(setns), DENY(open_by_handle_at), DENY(kexec_load), DENY(init_module),
        DENY(finit_module), DENY(add_key), DENY(request_key), DENY(keyctl), DENY(io_uring_setup), DENY(linkat), DENY(symlinkat), DENY(mknodat), DENY(kill),
        DENY(tkill), DENY(setuid), DENY(setgid), DENY(listen), DENY(accept4),
        ANSWER(SECCOMP_RET_ALLOW),
};
static const struct sock_filter no_network[] = {
        LOAD(nr),
        DENY(socket), DENY(socketpair), DENY(connect), DENY(bind), DENY(sendto),
        ANSWER(SECCOMP_RET_ALLOW),
};

static int registry_confine_load(const struct sock_filter *filter, size_t n) {
        const struct sock_fprog program = { .len = (unsigned short) n, .filter = (struct sock_filter *) filter /* only read */ };

        return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0 ? -errno : 0;
}

static int registry_confine_calls(bool network) {
        int r;

        if (SANITIZED) /* sanitizers look around as they like */
                return 0;
        r = registry_confine_load(denied, ELEMENTSOF(denied));
        if (r >= 0 && !network)
                r = registry_confine_load(no_network, ELEMENTSOF(no_network));
        return r < 0 ? r : seccomp_load_no_processes();
}

int registry_confine(int blobs_fd, const char *ca, bool network, Error *reterr) {
        const char *step = "limits";
        int r = registry_confine_limits();

        if (r >= 0) {
                step = "privileges"; /* no_new_privs, which the next two ask for */
                r = registry_confine_privileges();
        }
        if (r >= 0) {
                step = "files";
                r = registry_confine_files(blobs_fd, ca, network);
        }
        if (r >= 0) {
                step = "calls"; /* last: it forbids what the others use */
                r = registry_confine_calls(network);
        }
        return r < 0 ? error_set(reterr, r, "cannot shut itself in (%s): %m", step) : 0;
}
