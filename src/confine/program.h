/* program.h: how our own programs shut themselves in: what cove-archive, cove-gate and cove-tree have in common.
 *
 * Each has a list of named steps and a filter of its own beside it, since what is left to each is its own thought; here are the words that
 * filters are written in (short ones: nobody but the programs' confine.c includes this), and what is the same in all.
 * Must not know: what the programs are for. */
#pragma once

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/error.h"

#if defined(__SANITIZE_ADDRESS__)
#define PROGRAM_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PROGRAM_SANITIZED 1
#endif
#endif
#ifndef PROGRAM_SANITIZED
#define PROGRAM_SANITIZED 0
#endif

#if defined(__x86_64__)
#define FILTER_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define FILTER_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define LOAD(field)    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ANSWER(action) BPF_STMT(BPF_RET | BPF_K, action)
#define ALLOW(name)    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), ANSWER(SECCOMP_RET_ALLOW)
/* Skips the lines that follow when it is another one. */
#define NUMBER_IS(name, lines) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, lines)

/* Every filter begins and ends with these. */
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

/* Soft and hard. */
int program_limit(int resource, uint64_t value);

/* Capabilities but for these, of which only those that are there; not dumpable; no_new_privs, which Landlock and filters ask for. */
int program_drop_privileges(uint64_t keep);

int program_filter(const struct sock_filter *filter, size_t n);

typedef struct ProgramStep {
        const char *name;
        int (*function)(void);
} ProgramStep;

/* In order; irrevocable. */
int program_confine(const ProgramStep *steps, size_t n, Error *reterr);
