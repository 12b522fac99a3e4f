/* abi.c: the same doors by another number: the 32-bit and x32 tables, and registers with more in them than the kernel
 * looks at. A filter that compares the wrong width lets these pass. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

#define HIGH 0xffffffff00000000ul

#ifdef __x86_64__

#define X32         0x40000000l
#define I386_GETPID 20
#define I386_MOUNT  21

/* Runs the call in a child. To be killed by any signal is as good as to be refused. */
static Verdict dies_or_fails(const char *what, long (*call)(void)) {
        int status;
        pid_t pid;

        pid = fork();
        if (pid < 0)
                return broken("fork: %m");
        if (pid == 0)
                _exit(call() < 0 ? 0 : 1);
        if (waitpid(pid, &status, 0) < 0)
                return broken("waitpid: %m");
        if (WIFSIGNALED(status) || WEXITSTATUS(status) == 0)
                return HELD;
        return escaped("%s went through", what);
}

static long i386_call(long number) {
        long result;

        /* r8 to r11 are not kept by the kernel's 32-bit entry */
        __asm__ volatile("int $0x80"
                         : "=a"(result)
                         : "a"(number), "b"(0), "c"(0), "d"(0)
                         : "memory", "r8", "r9", "r10", "r11");
        return (int) result;
}

static long i386_getpid(void) {
        return i386_call(I386_GETPID);
}

static long i386_mount(void) {
        return i386_call(I386_MOUNT) == -EFAULT ? 0 : -1; /* it came as far as looking at the pointers */
}

static Verdict try_int80(char **args) {
        return worst(dies_or_fails("int 0x80 (getpid)", i386_getpid),
                        dies_or_fails("int 0x80 (mount)", i386_mount));
}

static long x32_getpid(void) {
        return syscall(X32 | SYS_getpid);
}

static long x32_unshare(void) {
        return syscall(X32 | SYS_unshare, CLONE_NEWUSER);
}

/* Numbers of x32 only; old kernels took them without the bit as well. */
static long x32_ptrace(void) {
        long result = syscall(521, 0, 0, 0, 0);

        return result < 0 && (errno == ENOSYS || errno == EPERM) ? -1 : 0;
}

static Verdict try_x32(char **args) {
        Verdict v = dies_or_fails("getpid by x32", x32_getpid);

        v = worst(v, dies_or_fails("unshare by x32", x32_unshare));
        return worst(v, dies_or_fails("ptrace by an x32 number", x32_ptrace));
}

/* mov $1,%eax; mov $42,%ebx; int $0x80 */
static const unsigned char code[] = { 0xb8, 1, 0, 0, 0, 0xbb, 42, 0, 0, 0, 0xcd, 0x80 };

#define BASE 0x10000u

static int write_elf32(const char *path) {
        struct {
                Elf32_Ehdr header;
                Elf32_Phdr segment;
                unsigned char code[sizeof(code)];
        } file = {
                .header = {
                        .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB, EV_CURRENT },
                        .e_type = ET_EXEC, .e_machine = EM_386, .e_version = EV_CURRENT,
                        .e_entry = BASE + sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr), .e_phoff = sizeof(Elf32_Ehdr),
                        .e_ehsize = sizeof(Elf32_Ehdr), .e_phentsize = sizeof(Elf32_Phdr), .e_phnum = 1,
                },
                .segment = {
                        .p_type = PT_LOAD, .p_vaddr = BASE, .p_paddr = BASE,
                        .p_filesz = sizeof(file), .p_memsz = sizeof(file),
                        .p_flags = PF_R | PF_X, .p_align = 0x1000,
                },
        };
        int fd;
        ssize_t n;

        memcpy(file.code, code, sizeof(code));
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
        if (fd < 0)
                return -1;
        n = write(fd, &file, sizeof(file));
        (void) close(fd);
        return n == (ssize_t) sizeof(file) ? 0 : -1;
}

static Verdict try_elf32(char **args) {
        int status;
        pid_t pid;

        if (write_elf32("/tmp/elf32") < 0)
                return broken("/tmp/elf32: %m");
        pid = fork();
        if (pid < 0)
                return broken("fork: %m");
        if (pid == 0) {
                (void) execl("/tmp/elf32", "/tmp/elf32", (char *) NULL);
                _exit(0);
        }
        if (waitpid(pid, &status, 0) < 0)
                return broken("waitpid: %m");
        return WIFEXITED(status) && WEXITSTATUS(status) == 42
                               ? escaped("a 32-bit program made a system call")
                               : HELD;
}

#else /* no second table that a 64-bit program can reach */

static Verdict try_int80(char **args) {
        return HELD;
}

static Verdict try_x32(char **args) {
        return HELD;
}

static Verdict try_elf32(char **args) {
        return HELD;
}

#endif

/* The kernel takes the lower half of the number's register. */
static Verdict try_wide_number(char **args) {
        Verdict v = refused("mount by a wide number",
                        syscall((long) (HIGH | SYS_mount), "none", "/tmp", "tmpfs", 0, NULL));

        v = worst(v, refused("unshare by a wide number",
                                     syscall((long) (HIGH | SYS_unshare), CLONE_NEWUSER)));
        return worst(v, refused("system call -1", syscall(-1)));
}

static Verdict try_wide_unshare(char **args) {
        long pid;

        pid = syscall(SYS_clone, HIGH | CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL);
        if (pid == 0)
                _exit(0);
        return worst(refused("clone with a wide flag", pid),
                        refused("unshare with a wide flag", syscall(SYS_unshare, HIGH | CLONE_NEWUSER)));
}

static Verdict try_wide_socket(char **args) {
        Verdict v = HELD;

        v = worst(v, failed("AF_PACKET by a wide number",
                                     syscall(SYS_socket, HIGH | AF_PACKET, SOCK_RAW, 0)));
        v = worst(v, failed("AF_VSOCK by a wide number",
                                     syscall(SYS_socket, HIGH | AF_VSOCK, SOCK_STREAM, 0)));
        v = worst(v, failed("AF_ALG by a wide number",
                                     syscall(SYS_socket, HIGH | AF_ALG, SOCK_SEQPACKET, 0)));
        return worst(v, failed("SOCK_RAW by a wide number",
                                        syscall(SYS_socket, AF_INET, HIGH | SOCK_RAW, 1)));
}

/* clang-format off */
const Attempt abi_attempts[] = {
        { "abi-int80", try_int80, AS_BOTH,
          "the 32-bit table has other numbers for the same doors, and is closed" },
        { "abi-x32", try_x32, AS_BOTH,
          "so is the x32 table" },
        { "abi-elf32", try_elf32, AS_BOTH,
          "a 32-bit program makes no system call" },
        { "abi-wide-number", try_wide_number, AS_BOTH,
          "the upper half of the number's register changes nothing" },
        { "abi-wide-unshare", try_wide_unshare, AS_BOTH,
          "nor that of flags" },
        { "abi-wide-socket", try_wide_socket, AS_BOTH,
          "nor that of socket families and types" },
        { NULL },
};
/* clang-format on */
