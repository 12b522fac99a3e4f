/* filter.h: macros for seccomp filters.
 *
 * Their names are short: only files that contain a filter include this header. Every filter checks the architecture
 * first, since system call numbers differ between architectures. Each filter decides for itself which calls it
 * allows. */
#pragma once

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define FILTER_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define FILTER_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "Which AUDIT_ARCH_ is this?"
#endif

#define LOAD(field)    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ANSWER(action) BPF_STMT(BPF_RET | BPF_K, (action))
#define ALLOW(name)    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), ANSWER(SECCOMP_RET_ALLOW)
#define DENY(name)     BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), ANSWER(SECCOMP_RET_ERRNO | EPERM)
/* Skips the given number of instructions if it is another call. */
#define NUMBER_IS(name, lines) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, (lines))

#define FILTER_BEGIN                                                                                         \
        LOAD(arch),                                                                                          \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FILTER_ARCHITECTURE, 1, 0),                                      \
        ANSWER(SECCOMP_RET_KILL_PROCESS),                                                                    \
        LOAD(nr)
#define FILTER_END ANSWER(SECCOMP_RET_ERRNO | EPERM)

/* For mmap and mprotect: allows memory that is not executable. */
#define ALLOW_UNLESS_EXEC(name)                                                                              \
        NUMBER_IS(name, 4),                                                                                  \
        LOAD(args[2]),                                                                                       \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0),                                               \
        ANSWER(SECCOMP_RET_ALLOW),                                                                           \
        LOAD(nr)
