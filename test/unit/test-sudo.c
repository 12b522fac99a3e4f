/* The template base: the sudo of its sandboxes (command line, environment), what it takes of the host, the boot id's form. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/strv.h"
#include "cli/basis.h"
#include "jail/bootid.h"
#include "sudo/environment.h"
#include "sudo/options.h"

#define ARGV(...) ((char **) (const char *[]) { "sudo", __VA_ARGS__, NULL })

static int parse(char **argv, SudoOptions *ret, Error *reterr) {
        int argc = 0;

        while (argv[argc])
                argc++;
        return sudo_options_parse(argc, argv, ret, reterr);
}

TEST(options) {
        SudoOptions o;
        Error e = { 0 };

        check_result("plain", parse(ARGV("id", "-u"), &o, &e), 0);
        check_uint("command", o.n_command, 2);
        check_true("its own options are its own", !o.user);

        check_result("many in one", parse(ARGV("-nEHu", "www-data", "-D/srv", "A=1", "B=2", "id"), &o, &e), 0);
        check_string("user", o.user, "www-data");
        check_string("directory", o.directory, "/srv");
        check_true("flags", o.keep_all && o.set_home);
        check_uint("assignments", o.n_assignments, 2);
        check_string("command", o.command[0], "id");

        check_result("words", parse(ARGV("--user=bob", "--preserve-env=A,B", "--non-interactive", "--", "A=1", "x"), &o, &e), 0);
        check_string("user", o.user, "bob");
        check_string("keep", o.keep, "A,B");
        check_string("command", o.command[0], "x");

        check_result("a prompt means nothing", parse(ARGV("-S", "-p", "", "true"), &o, &e), 0);
        check_string("command", o.command[0], "true");

        check_result("-k and a command", parse(ARGV("-k", "true"), &o, &e), 0);
        check_int("runs", o.action, SUDO_DO_RUN);
        check_result("-v", parse(ARGV("-v"), &o, &e), 0);
        check_int("nothing", o.action, SUDO_DO_NOTHING);
        check_result("-l", parse(ARGV("-l"), &o, &e), 0);
        check_int("list", o.action, SUDO_DO_LIST);
        check_result("a login shell", parse(ARGV("-i"), &o, &e), 0);
        check_true("login", o.login);
}

TEST(options_refused) {
        SudoOptions o;
        Error e = { 0 };

        check_result("nothing to do", parse(ARGV("-n"), &o, &e), -EINVAL);
        check_result("unknown letter", parse(ARGV("-T", "5", "true"), &o, &e), -EINVAL);
        check_part("names it", e.text, "'-T'");
        check_result("unknown word", parse(ARGV("--edit", "/etc/passwd"), &o, &e), -EINVAL);
        check_part("names it", e.text, "'--edit'");
        check_result("no value", parse(ARGV("-u"), &o, &e), -EINVAL);
        check_result("a value too many", parse(ARGV("--login=yes"), &o, &e), -EINVAL);
        check_result("two shells", parse(ARGV("-i", "-s"), &o, &e), -EINVAL);
        check_result("a shell in the background", parse(ARGV("-b", "-s"), &o, &e), -EINVAL);
}

static const SudoAccount root = { .name = "root", .home = "/root", .shell = "/bin/bash" };
static const SudoAccount user = { .name = "user", .home = "/home/user", .shell = "/bin/bash", .uid = 1000, .gid = 1000 };
static char *const environment[] = { (char *) "HOME=/home/user", (char *) "PATH=/evil", (char *) "TERM=xterm", (char *) "SECRET=1", (char *) "LC_ALL=C",
                                     (char *) "USER=user", (char *) "SHELL=/bin/zsh", (char *) "LD_PRELOAD=/x", (char *) "SSL_CERT_FILE=/c", NULL };

static void make(char **argv, Strv *command, Strv *env) {
        SudoOptions o;
        Error e = { 0 };

        *command = (Strv) STRV_INIT(100);
        *env = (Strv) STRV_INIT(100);
        check_result("parse", parse(argv, &o, &e), 0);
        check_result("command", sudo_command(&o, &root, "/bin/zsh", command), 0);
        check_result("environment", sudo_environment(&o, &user, &root, environment, command, env), 0);
}

static const char *get(const Strv *env, const char *name) {
        const char *value = strv_get_env(env, name);

        return value ? value : "(none)";
}

TEST(environment) {
        Strv command, env;

        make(ARGV("X=1", "/bin/echo", "a b"), &command, &env);
        check_string("HOME", get(&env, "HOME"), "/root");
        check_string("PATH", get(&env, "PATH"), SUDO_PATH);
        check_string("TERM", get(&env, "TERM"), "xterm");
        check_string("LC_ALL", get(&env, "LC_ALL"), "C");
        check_string("SECRET", get(&env, "SECRET"), "(none)");
        check_string("LD_PRELOAD", get(&env, "LD_PRELOAD"), "(none)");
        check_string("certificates", get(&env, "SSL_CERT_FILE"), "/c");
        check_string("X", get(&env, "X"), "1");
        check_string("USER", get(&env, "USER"), "root");
        check_string("SHELL", get(&env, "SHELL"), "/bin/bash");
        check_string("SUDO_USER", get(&env, "SUDO_USER"), "user");
        check_string("SUDO_UID", get(&env, "SUDO_UID"), "1000");
        check_string("SUDO_GID", get(&env, "SUDO_GID"), "1000");
        check_string("SUDO_COMMAND", get(&env, "SUDO_COMMAND"), "/bin/echo a b");
        strv_done(&command);
        strv_done(&env);

        make(ARGV("-E", "true"), &command, &env);
        check_string("kept", get(&env, "SECRET"), "1");
        check_string("HOME is kept too", get(&env, "HOME"), "/home/user");
        check_string("PATH is not", get(&env, "PATH"), SUDO_PATH);
        check_string("USER is not", get(&env, "USER"), "root");
        strv_done(&command);
        strv_done(&env);

        make(ARGV("--preserve-env=SECRET", "true"), &command, &env);
        check_string("kept", get(&env, "SECRET"), "1");
        check_string("and no other", get(&env, "LD_PRELOAD"), "(none)");
        strv_done(&command);
        strv_done(&env);
}

TEST(shells) {
        Strv command, env;

        make(ARGV("-i", "echo", "a b", "$HOME;x"), &command, &env);
        check_uint("words", command.n, 4);
        check_string("shell", command.items[0], "/bin/bash");
        check_string("login", command.items[1], "-l");
        check_string("line", command.items[3], "echo a\\ b $HOME\\;x");
        check_string("TERM", get(&env, "TERM"), "xterm");
        check_string("LC_ALL", get(&env, "LC_ALL"), "(none)");
        strv_done(&command);
        strv_done(&env);

        make(ARGV("-s"), &command, &env);
        check_uint("words", command.n, 1);
        check_string("the caller's", command.items[0], "/bin/zsh");
        strv_done(&command);
        strv_done(&env);
}

/* What `cove doctor` says of the template base: a host with nothing lacks all of it, with a cure for each. */
TEST(basis) {
        for (size_t i = 0; i < basis_n_items; i++) {
                Finding f = basis_find(basis_items + i, "/nowhere");

                check_true(basis_items[i].name, !f.ok);
                check_part(basis_items[i].name, f.cure, basis_items[i].package);
        }
        check_true("python3", basis_find(&(BasisItem) { .places = (const char *const[]) { "/proc", NULL } }, "").ok);
}

TEST(boot_id) {
        uint8_t bytes[16];
        char id[BOOTID_LENGTH + 1];

        memset(bytes, 0xff, sizeof(bytes));
        bootid_format(bytes, id);
        check_string("ones", id, "ffffffff-ffff-4fff-bfff-ffffffffffff");
        memset(bytes, 0, sizeof(bytes));
        bootid_format(bytes, id);
        check_string("zeros", id, "00000000-0000-4000-8000-000000000000");
}

