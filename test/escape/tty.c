/* tty.c: typing into the terminal of the person who started the sandbox. */
#include <errno.h>
#include <fcntl.h>
#include <linux/kd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include "probe.h"

#define HIGH 0xdeadbeef00000000ul

/* A terminal of our own that is our controlling terminal: the kernel itself would let us type into it. */
static int own_terminal(void) {
        char name[64];
        int master, slave;

        master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
        if (master < 0 || unlockpt(master) < 0 || ptsname_r(master, name, sizeof(name)) != 0)
                return -1;
        (void) setsid();
        slave = open(name, O_RDWR | O_CLOEXEC);
        if (slave < 0)
                return -1;
        (void) ioctl(slave, TIOCSCTTY, 0);
        return slave;
}

static Verdict type_into(int fd) {
        Verdict v = refused("TIOCSTI", syscall(SYS_ioctl, fd, (unsigned long) TIOCSTI, "x"));

        return worst(v, refused("TIOCSTI with a full register",
                                        syscall(SYS_ioctl, fd, HIGH | TIOCSTI, "x")));
}

static Verdict paste_into(int fd) {
        char paste = 3;
        Verdict v = refused("TIOCLINUX", syscall(SYS_ioctl, fd, (unsigned long) TIOCLINUX, &paste));

        return worst(v, refused("TIOCLINUX with a full register",
                                        syscall(SYS_ioctl, fd, HIGH | TIOCLINUX, &paste)));
}

static Verdict try_type(char **args) {
        int fd = own_terminal();

        return fd < 0 ? broken("no terminal: %m") : type_into(fd);
}

static Verdict try_paste(char **args) {
        int fd = own_terminal();

        return fd < 0 ? broken("no terminal: %m") : paste_into(fd);
}

static Verdict try_discipline(char **args) {
        int fd = own_terminal(), n_gsm = 21;
        Verdict v;

        if (fd < 0)
                return broken("no terminal: %m");
        v = refused("TIOCSETD", syscall(SYS_ioctl, fd, (unsigned long) TIOCSETD, &n_gsm));
        return worst(v, refused("TIOCSETD with a full register",
                                        syscall(SYS_ioctl, fd, HIGH | TIOCSETD, &n_gsm)));
}

static Verdict try_console(char **args) {
        int fd = own_terminal();

        if (fd < 0)
                return broken("no terminal: %m");
        return worst(refused("TIOCCONS", ioctl(fd, TIOCCONS)),
                        refused("KDSETKEYCODE", ioctl(fd, KDSETKEYCODE, NULL)));
}

/* stdin is the terminal of the runner's session, as when a person types "cove run". */
static Verdict try_stdin(char **args) {
        Verdict v;

        if (!isatty(STDIN_FILENO))
                return broken("stdin is not a terminal");
        v = worst(type_into(STDIN_FILENO), paste_into(STDIN_FILENO));
        v = worst(v, failed("becoming the foreground", tcsetpgrp(STDIN_FILENO, getpgrp())));
        (void) setsid();
        v = worst(v, failed("taking the terminal", ioctl(STDIN_FILENO, TIOCSCTTY, 0)));
        v = worst(v, failed("stealing the terminal", ioctl(STDIN_FILENO, TIOCSCTTY, 1)));
        v = worst(v, failed("/dev/tty", open("/dev/tty", O_RDWR | O_CLOEXEC)));
        return worst(v, type_into(STDIN_FILENO));
}

/* clang-format off */
const Attempt tty_attempts[] = {
        { "tty-type", try_type, AS_BOTH,
          "TIOCSTI types as if at the keyboard, and is closed on every terminal" },
        { "tty-paste", try_paste, AS_BOTH,
          "TIOCLINUX pastes the console's selection: the same by another name" },
        { "tty-discipline", try_discipline, AS_BOTH,
          "line disciplines load modules with a long list of CVEs" },
        { "tty-console", try_console, AS_BOTH,
          "the console's output and keys are the host's" },
        { "tty-stdin", try_stdin, AS_BOTH,
          "the caller's terminal can be read and written, and neither typed into nor taken" },
        { NULL },
};
/* clang-format on */
