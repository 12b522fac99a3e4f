/* filter.h: the words that seccomp filters are written in.
 *
 * Short ones: only files that hold a filter include this. Every filter looks at the architecture first, since the numbers of another one mean
 * other calls. Which calls a filter allows is the thought of whoever writes it. */
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
/* Skips the lines that follow when it is another one. */
#define NUMBER_IS(name, lines) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, (lines))

#define FILTER_BEGIN                                                                                         \
        LOAD(arch),                                                                                          \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FILTER_ARCHITECTURE, 1, 0),                                      \
        ANSWER(SECCOMP_RET_KILL_PROCESS),                                                                    \
        LOAD(nr)
#define FILTER_END ANSWER(SECCOMP_RET_ERRNO | EPERM)

/* Memory, but none that can be executed: mmap, mprotect. */
#define ALLOW_UNLESS_EXEC(name)                                                                              \
        NUMBER_IS(name, 4),                                                                                  \
        LOAD(args[2]),                                                                                       \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0),                                               \
        ANSWER(SECCOMP_RET_ALLOW),                                                                           \
        LOAD(nr)
