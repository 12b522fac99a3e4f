/* seccomp.h: which system calls a sandbox may make.
 *
 * Installs the filter compiled from policy/seccomp.policy; that table has the reasons. The process filters itself, by
 * raw system calls: no allocation, async-signal-safe, usable between clone and exec.
 * Irrevocable; inherited by all children, kept across exec. Needs no_new_privs and a process with one thread.
 * Must not know: what the guest is, the policy's text, libseccomp. */
#pragma once

#include <sys/types.h>

typedef enum SeccompFlags {
        /* Also closes the ways to make set-id files and file capabilities: for guests with a writable bind
         * whose files belong to host root. */
        SECCOMP_NOSUID = 1 << 0,
} SeccompFlags;

int seccomp_load(SeccompFlags flags);

struct sock_filter;
int seccomp_load_filter(const struct sock_filter *filter, size_t n);

/* An additional filter that forbids new processes. The process may still make threads and execute another program. */
int seccomp_load_no_processes(void);

/* A zygote's filter (policy/seccomp.policy, [zygote]): a guest's, plus the calls for entering a sandbox. */
int seccomp_load_zygote(void);

/* Added to a zygote's filter, for the guest that its child becomes: a process with one user and group and no
 * capability, which the kernel allows to set its ids to its own and nothing else. The zygote's filter closes these
 * calls altogether; this one answers them as the kernel would. */
int seccomp_load_settled(uid_t uid, gid_t gid);

/* Asks the kernel, changes nothing. -EOPNOTSUPP: no seccomp filters, or not the actions that our filters use
 * (Linux 4.14). */
int seccomp_probe(void);
