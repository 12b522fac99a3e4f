/* seccomp.h: which system calls a sandbox may make.
 *
 * Installs the filter that policy/seccomp.policy was compiled into; the table has the reasons. What a process
 * does to itself, by raw system calls: no allocation, async-signal-safe, usable between clone and exec.
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

/* A filter of its own, beside whatever is there: no further process. Threads can be made and another program executed. */
int seccomp_load_no_processes(void);

/* A zygote's own (policy/seccomp.policy, [zygote]): a guest's, and what it takes to enter a sandbox. */
int seccomp_load_zygote(void);

/* On top of a zygote's, for the guest that its child becomes: a process with one user and group and no capability, to which the kernel allows to become who it
 * is and nothing else. The zygote's filter closes these calls altogether; this one answers them as the kernel would. */
int seccomp_load_settled(uid_t uid, gid_t gid);

/* Asks the kernel, changes nothing. -EOPNOTSUPP when it has no seccomp filters, or not the actions which ours
 * uses (Linux 4.14). */
int seccomp_probe(void);
