#include "registry/confine.h"

#include "base/macro.h"
#include "confine/filter.h"
#include "registry/verbs.h"

#define FS_READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define FS_BLOBS                                                                                              \
        (FS_READ | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_REMOVE_FILE)

/* Files needed to look up names and to verify certificates. Libraries of the name service are loaded on
 * demand. */
static const char *const readable[] = {
        "/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/usr/share/ca-certificates", "/usr/local/share/ca-certificates", "/usr/lib/ssl",
        "/etc/resolv.conf", "/run/systemd/resolve", "/etc/hosts", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/host.conf", "/etc/services",
        "/etc/ld.so.cache", "/usr/lib", "/lib", "/lib64", "/dev/urandom",
};

/* System calls that this program does not need and that an attacker would use first. The next filter, which
 * checks the architecture as well, prevents other processes. */
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

static void registry_allow_reading(ProgramWalls *w, const char *path) {
        w->rules[w->n_rules++] = (LandlockRule) { .path = path, .access = FS_READ, .optional = true };
}

void registry_walls(const void *options, ProgramWalls *ret) {
        const Arguments *a = options;
        const bool network = a->remote != NULL;

        *ret = (ProgramWalls) {
                .descriptors_max = 128,
                .memory_max = UINT64_C(4) * 1024 * 1024 * 1024, /* the threads of the resolver have large stacks */
                .forbidden.files = LANDLOCK_FILES,
                .rules = { { .fd = a->blobs.dirfd, .access = FS_BLOBS } },
                .n_rules = 1,
                .filters = { { denied, ELEMENTSOF(denied) }, { no_network, network ? 0 : ELEMENTSOF(no_network) } },
                .no_processes = true,
        };
        _Static_assert(ELEMENTSOF(readable) + 3 <= PROGRAM_RULES_MAX, "more rules than a program may have");
        for (size_t i = 0; i < ELEMENTSOF(readable) && network; i++)
                registry_allow_reading(ret, readable[i]);
        if (a->ca)
                registry_allow_reading(ret, a->ca);
        if (PROGRAM_SANITIZED) /* for the leak check at exit */
                registry_allow_reading(ret, "/proc");
}
