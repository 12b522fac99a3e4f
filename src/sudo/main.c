/* main.c: sudo inside a sandbox. See README.md. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "config.h"
#include "sudo/account.h"
#include "sudo/ask.h"
#include "sudo/environment.h"
#include "sudo/options.h"
#include "sudo/relay.h"
#include "wire/channel.h"

static const char usage[] =
        "usage: sudo [-nEHbis] [-u USER] [-g GROUP] [-D DIR] [NAME=VALUE…] COMMAND [ARG…]\n"
        "       sudo -l | -v | -k | -K | -V | -h\n"
        "\n"
        "  -u USER     as this user, or #UID (default: root)        -g GROUP   with this group\n"
        "  -E          keep the environment                         -H         set HOME to the user's\n"
        "  -i          a login shell of the user                    -s         a shell\n"
        "  -b          in the background                            -D DIR     in this directory\n"
        "  -A -B -N -n -P -S -p PROMPT   are accepted without effect: no password is needed\n";

typedef struct SudoJob {
        SudoOptions options;
        SudoAccount caller, target;
        Strv command, environment;
        char directory[PATH_MAX];
} SudoJob;

static int sudo_complain(const Error *error) {
        (void) dprintf(2, "sudo: %s\n", error->text);
        return 1;
}

static int show_version(void) {
        printf("sudo of cove " COVE_VERSION ": asks PID 1 of this sandbox, and has no privilege of its own\n");
        return 0;
}

static int show_list(const SudoJob *j) {
        char program[PATH_MAX], host[64] = "cove";

        if (j->options.n_command > 0) {
                sudo_find_program(j->options.command[0], program, sizeof(program));
                if (!strchr(program, '/'))
                        return 1;
                puts(program);
                return 0;
        }
        (void) gethostname(host, sizeof(host) - 1);
        printf("User %s may run the following commands on %s:\n    (ALL : ALL) NOPASSWD: ALL\n", j->caller.name, host);
        return 0;
}

static int choose_directory(SudoJob *j, Error *reterr) {
        const char *chosen = j->options.directory ? j->options.directory : j->options.login ? j->target.home : NULL;

        if (chosen && chosen[0] == '/') {
                if (strlen(chosen) >= sizeof(j->directory))
                        return error_set(reterr, -ENAMETOOLONG, "'%.100s…' is too long for a directory", chosen);
                (void) snprintf(j->directory, sizeof(j->directory), "%s", chosen);
                return 0;
        }
        if (!getcwd(j->directory, sizeof(j->directory)))
                (void) snprintf(j->directory, sizeof(j->directory), "/");
        if (!chosen)
                return 0;
        if (strlen(j->directory) + 1 + strlen(chosen) >= sizeof(j->directory))
                return error_set(reterr, -ENAMETOOLONG, "'%.100s…' is too long for a directory", chosen);
        (void) strcat(strcat(j->directory, "/"), chosen);
        return 0;
}

static int sudo_prepare(SudoJob *j, Error *reterr) {
        const SudoOptions *o = &j->options;
        int r = sudo_account_find(o->user ? o->user : "root", &j->target, reterr);

        if (r >= 0 && o->group)
                r = account_find_group(o->group, &j->target.gid, reterr);
        if (r < 0)
                return r;
        r = choose_directory(j, reterr);
        if (r < 0)
                return r;
        r = sudo_command(o, &j->target, getenv("SHELL"), &j->command);
        if (r >= 0)
                r = sudo_environment(o, &j->caller, &j->target, environ, &j->command, &j->environment);
        return r < 0 ? error_set(reterr, r, "cannot put the command together: %s", strerror(-r)) : 0;
}

/* A descriptor that the caller has closed becomes /dev/null for the command. */
static void fill_descriptors(void) {
        for (int fd = 0; fd < 3; fd++)
                if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
                        _exit(1);
}

/* A background command has no terminal, and the caller does not wait for it. */
static int sudo_run(const SudoJob *j, Error *reterr) {
        Terminal t = TERMINAL_EMPTY;
        Asking a = {
                .uid = j->target.uid,
                .gid = j->target.gid,
                .directory = j->directory,
                .command = &j->command,
                .environment = &j->environment,
                .stays = j->options.background,
        };
        int channel = ask_connect(reterr), signals, r;

        if (channel < 0)
                return channel;
        r = j->options.background ? 0 : terminal_open(&t);
        if (r < 0)
                return error_set(reterr, r, "no terminal for the command: %s", strerror(-r));
        signals = relay_signals();
        if (signals < 0)
                return error_set(reterr, signals, "signals: %s", strerror(-signals));
        for (int i = 0; i < 3; i++)
                a.fds[i] = terminal_replace(&t, i);
        a.terminal_fd = t.slave_fd;
        terminal_enter(&t); /* before the command can print anything: its terminal then translates newlines itself */
        r = ask_send(channel, &a, reterr);
        if (r < 0) {
                terminal_leave(&t);
                return r;
        }
        t.slave_fd = fd_close(t.slave_fd);
        return j->options.background ? relay_start(channel, j->command.items[0]) : relay_run(channel, signals, &t, j->command.items[0]);
}

int main(int argc, char **argv) {
        static SudoJob j = { .command = STRV_INIT(SUDO_STRINGS_MAX), .environment = STRV_INIT(SUDO_STRINGS_MAX) };
        Error error = { 0 };
        int r;

        fill_descriptors();
        if (sudo_options_parse(argc, argv, &j.options, &error) < 0) {
                (void) sudo_complain(&error);
                (void) dprintf(2, "%s", usage);
                return 1;
        }
        account_of(getuid(), getgid(), &j.caller);
        switch (j.options.action) {
        case SUDO_DO_HELP:
                (void) fputs(usage, stdout);
                return 0;
        case SUDO_DO_VERSION:
                return show_version();
        case SUDO_DO_LIST:
                return show_list(&j);
        case SUDO_DO_NOTHING:
                return 0;
        case SUDO_DO_RUN:
                break;
        }
        r = sudo_prepare(&j, &error);
        if (r >= 0)
                r = sudo_run(&j, &error);
        return r < 0 ? sudo_complain(&error) : r;
}
