/* What `cove run` understands: defaults, every option, and the words about what it refuses. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "cli/run-options.h"

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)
#define TIB (1024 * GIB)

#define ARGV_MAX 64

static int parse(const char *const *words, RunOptions *ret, Error *error) {
        static char *argv[ARGV_MAX]; /* RunOptions borrows words of it */
        int argc = 1;

        argv[0] = (char *) "run";
        for (; words[argc - 1]; argc++)
                argv[argc] = (char *) words[argc - 1];
        argv[argc] = NULL;
        *error = (Error) { 0 };
        return run_options_parse(ret, argc, argv, error);
}

#define WORDS(...) ((const char *const[]) { __VA_ARGS__, NULL })

/* Options that must be taken; the command is added. */
#define accept(ret, ...) accept_words(ret, WORDS(__VA_ARGS__))
static void accept_words(RunOptions *ret, const char *const *words) {
        Error error;
        int r = parse(words, ret, &error);

        if (r < 0)
                print_error("%s\n", error.text);
        check_result(words[0], r, 0);
}

static void check_refused(const char *const *words, int code, const char *part) {
        RunOptions o;
        Error error;

        check_result(words[0], parse(words, &o, &error), code);
        check_result("code of the error", error.code, code);
        check_part(words[0], error.text, part);
        check_true("one line", strchr(error.text, '\n') == NULL);
        run_options_done(&o);
}

#define refuse(code, part, ...) check_refused(WORDS(__VA_ARGS__), code, part)

static const char *env_of(const RunOptions *o, const char *name) {
        return strv_get_env(&o->env, name);
}

TEST(defaults) {
        RunOptions o;

        accept(&o, "true", "--timeout", "x");
        check_uint("memory", o.spec.limits.memory_bytes, 2 * GIB);
        check_uint("disk", o.spec.limits.disk_bytes, 1 * GIB);
        check_uint("pids", o.spec.limits.pids, 512);
        check_uint("cpus", o.spec.limits.cpu_milli, 0);
        check_uint("nofile", o.nofile, 4096);
        check_uint("timeout", o.timeout, USEC_INFINITY);
        check_uint("cpu-time", o.cpu_time, USEC_INFINITY);
        check_uint("output-limit", o.output_max, UINT64_MAX);
        check_uint("uid", o.spec.uid, 1000);
        check_uint("gid", o.spec.gid, 1000);
        check_uint("allow-missing", o.spec.allow_missing, 0);
        check_uint("binds", o.spec.n_binds, 0);
        check_uint("files", o.spec.n_files, 0);
        check_string("workdir", o.spec.workdir, "/workspace");
        check_string("hostname", o.spec.hostname, "cove");
        check_string("template", o.spec.template_dir, NULL);
        check_string("keep", o.spec.keep_dir, NULL);
        check_string("report", o.report, NULL);
        check_true("no network, no terminal, no help", !o.spec.net_host && !o.tty && !o.help);
        check_uint("id", strlen(o.spec.id), JAIL_ID_LENGTH);

        /* What follows the command is the command's. */
        check_string("argv[0]", o.command.items[0], "true");
        check_string("argv[1]", o.command.items[1], "--timeout");
        check_string("argv[2]", o.command.items[2], "x");
        check_string("argv[3]", o.command.items[3], NULL);
        run_options_done(&o);
}

TEST(default_environment) {
        static const struct {
                const char *user, *name, *value;
        } rows[] = {
                { "user", "HOME",    "/home/user" },
                { "user", "USER",    "user"       },
                { "user", "LOGNAME", "user"       },
                { "user", "SHELL",   "/bin/bash"  },
                { "user", "LANG",    "C.UTF-8"    },
                { "user", "TERM",    NULL         },
                { "root", "HOME",    "/root"      },
                { "root", "USER",    "root"       },
                { "root", "LOGNAME", "root"       },
                { "0",    "HOME",    "/root"      },
        };

        (void) setenv("COVE_TEST_SECRET", "secret", /* overwrite= */ 1);
        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                RunOptions o;

                accept(&o, "--user", rows[i].user, "true");
                check_string(rows[i].name, env_of(&o, rows[i].name), rows[i].value);
                check_string("the caller's own variables", env_of(&o, "COVE_TEST_SECRET"), NULL);
                check_uint("variables", o.env.n, 6);
                check_string("PATH", run_options_path(&o), env_of(&o, "PATH"));
                run_options_done(&o);
        }
        (void) unsetenv("COVE_TEST_SECRET");
}

TEST(terminal_has_term) {
        static const char *const terms[][2] = {
                { "vt100", "vt100" },
                { "",     "xterm" },
        };
        const char *saved = getenv("TERM");
        _cleanup_free_ char *copy = saved ? strdup(saved) : NULL;

        for (size_t i = 0; i < ELEMENTSOF(terms); i++) {
                RunOptions o;

                (void) setenv("TERM", terms[i][0], 1);
                accept(&o, "-t", "true");
                check_true("tty", o.tty);
                check_string("TERM", env_of(&o, "TERM"), terms[i][1]);
                run_options_done(&o);
        }
        if (copy)
                (void) setenv("TERM", copy, 1);
        else
                (void) unsetenv("TERM");
}

TEST(every_limit) {
        RunOptions o;

        accept(&o, "--memory", "512M", "--cpus=0.5", "--cpu-time", "30s", "--timeout=1m30s", "--pids", "256",
                        "--disk", "3G", "--output-limit", "10M", "--nofile=64", "--", "true");
        check_uint("memory", o.spec.limits.memory_bytes, 512 * MIB);
        check_uint("cpus", o.spec.limits.cpu_milli, 500);
        check_uint("cpu-time", o.cpu_time, 30 * USEC_PER_SEC);
        check_true("CPU time is counted", o.spec.limits.count);
        check_uint("timeout", o.timeout, 90 * USEC_PER_SEC);
        check_uint("pids", o.spec.limits.pids, 256);
        check_uint("disk", o.spec.limits.disk_bytes, 3 * GIB);
        check_uint("output-limit", o.output_max, 10 * MIB);
        check_uint("nofile", o.nofile, 64);
        run_options_done(&o);
}

TEST(disk_follows_memory) {
        RunOptions o;

        accept(&o, "--memory", "100M", "true");
        check_uint("half of it", o.spec.limits.disk_bytes, 50 * MIB);
        run_options_done(&o);
        accept(&o, "--memory", "64G", "true");
        check_uint("at most", o.spec.limits.disk_bytes, 1 * GIB);
        run_options_done(&o);
}

TEST(last_wins) {
        RunOptions o;

        accept(&o, "--memory=1G", "--memory=64M", "--timeout", "1s", "--timeout", "2s", "--user", "root",
                        "--user", "7", "--workdir", "/a", "-w", "/b/", "--net", "host", "--net", "none",
                        "--hostname", "a", "--hostname", "b", "--env", "A=1", "-e", "A=2", "--keep", "x",
                        "--keep", "y", "--report", "-", "--report", "r", "--template", "/", "--template",
                        "host", "--", "true");
        check_uint("memory", o.spec.limits.memory_bytes, 64 * MIB);
        check_uint("timeout", o.timeout, 2 * USEC_PER_SEC);
        check_uint("uid", o.spec.uid, 7);
        check_uint("gid", o.spec.gid, 7);
        check_string("workdir", o.spec.workdir, "/b");
        check_true("net", !o.spec.net_host);
        check_string("hostname", o.spec.hostname, "b");
        check_string("A", env_of(&o, "A"), "2");
        check_string("keep", o.spec.keep_dir, "y");
        check_string("report", o.report, "r");
        check_string("template", o.spec.template_dir, NULL);
        run_options_done(&o);
}

TEST(bounds_are_taken) {
        static const char *const rows[][2] = {
                { "--memory",       "4M"      },
                { "--memory",       "1024T"   },
                { "--disk",         "1M"      },
                { "--disk",         "1024T"   },
                { "--output-limit", "1"       },
                { "--cpus",         "0.01"    },
                { "--cpus",         "4096"    },
                { "--cpu-time",     "1us"     },
                { "--timeout",      "365d"    },
                { "--pids",         "1"       },
                { "--pids",         "4194303" },
                { "--nofile",       "3"       },
                { "--nofile",       "1048576" },
                { "--user",         "0"       },
                { "--user",         "65534"   },
        };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                RunOptions o;

                accept(&o, rows[i][0], rows[i][1], "true");
                run_options_done(&o);
        }
}

TEST(out_of_range_is_named) {
        static const struct {
                const char *option, *value;
        } rows[] = {
                { "--memory",       "4095K"                    },
                { "--memory",       "0"                        },
                { "--memory",       "1025T"                    },
                { "--memory",       "99999999999999999999999G" },
                { "--disk",         "1023K"                    },
                { "--disk",         "1025T"                    },
                { "--output-limit", "0"                        },
                { "--output-limit", "1025T"                    },
                { "--cpus",         "0"                        },
                { "--cpus",         "0.001"                    },
                { "--cpus",         "4097"                     },
                { "--timeout",      "0"                        },
                { "--timeout",      "0.1us"                    },
                { "--timeout",      "366d"                     },
                { "--cpu-time",     "0s"                       },
                { "--cpu-time",     "18446744073709551615us"   },
                { "--pids",         "0"                        },
                { "--pids",         "4194304"                  },
                { "--nofile",       "2"                        },
                { "--nofile",       "1048577"                  },
                { "--user",         "65535"                    },
                { "--user",         "4294967296"               },
        };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                char quoted[64];

                (void) snprintf(quoted, sizeof(quoted), "%s: '%s' ", rows[i].option, rows[i].value);
                refuse(-ERANGE, quoted, rows[i].option, rows[i].value, "true");
        }
}

/* "out of range (0K to …)" about a 0 would be no help. */
TEST(range_does_not_hold_what_was_refused) {
        RunOptions o;
        Error error;

        check_result("result", parse(WORDS("--output-limit", "0", "true"), &o, &error), -ERANGE);
        check_true(error.text, strstr(error.text, "(0K to") == NULL);
        run_options_done(&o);
}

TEST(garbage_is_named) {
        static const char *const options[] = { "--memory", "--disk", "--output-limit", "--cpus",
                "--cpu-time", "--timeout", "--pids", "--nofile", "--user", "--net" };
        static const char *const values[] = { "", "-1", "lots", "1 ", "0x10", "1KiBs" };

        for (size_t i = 0; i < ELEMENTSOF(options); i++)
                for (size_t j = 0; j < ELEMENTSOF(values); j++) {
                        char quoted[64];

                        (void) snprintf(quoted, sizeof(quoted), "%s: '%s' ", options[i], values[j]);
                        refuse(-EINVAL, quoted, options[i], values[j], "true");
                }
}

TEST(command) {
        RunOptions o;

        refuse(-EINVAL, "no command given", "--memory", "1G");
        refuse(-EINVAL, "no command given", "--");
        refuse(-EINVAL, "the command is empty: ''", "--", "");
        refuse(-EINVAL, "unknown option '--nothing'", "--nothing", "true");
        refuse(-EINVAL, "option --memory needs a value", "--memory");
        refuse(-EINVAL, "option --tty takes no value, got 'yes'", "--tty=yes", "true");
        accept(&o, "--", "--help");
        check_string("argv[0]", o.command.items[0], "--help");
        check_true("no help", !o.help);
        run_options_done(&o);
}

TEST(help_needs_no_command) {
        RunOptions o;

        accept(&o, "--help");
        check_true("help", o.help);
        run_options_done(&o);
        accept(&o, "-h");
        check_true("help", o.help);
        run_options_done(&o);
}

TEST(verbose) {
        RunOptions o;

        log_verbosity = 0;
        accept(&o, "-v", "true");
        check_true("log_verbosity", log_verbosity > 0);
        log_verbosity = 0;
        run_options_done(&o);
}

TEST(inside_paths) {
        RunOptions o;

        accept(&o, "-w", "//a/./b/", "true");
        check_string("workdir", o.spec.workdir, "/a/b");
        run_options_done(&o);
        refuse(-EINVAL, "--workdir: 'a' must be an absolute path", "-w", "a", "true");
        refuse(-EINVAL, "--workdir: '' must be an absolute path", "-w", "", "true");
        refuse(-EXDEV, "--workdir: '/a/../b' must not contain '..'", "-w", "/a/../b", "true");
}

TEST(long_path_is_named_by_its_start) {
        char path[5000] = "/";

        memset(path + 1, 'x', sizeof(path) - 2);
        refuse(-ENAMETOOLONG, "--workdir: path of 4999 bytes is too long: '/xxxx", "-w", path, "true");
}

TEST(env) {
        RunOptions o;

        (void) setenv("COVE_TEST_GIVEN", "from here", 1);
        (void) unsetenv("COVE_TEST_ABSENT");
        accept(&o, "-e", "A=1", "-e", "B=", "-e", "C=x=y", "-e", "COVE_TEST_GIVEN", "-e", "PATH=/bin", "-e",
                        "HOME=/elsewhere", "true");
        check_string("A", env_of(&o, "A"), "1");
        check_string("B", env_of(&o, "B"), "");
        check_string("C", env_of(&o, "C"), "x=y");
        check_string("passed on", env_of(&o, "COVE_TEST_GIVEN"), "from here");
        check_string("PATH", run_options_path(&o), "/bin");
        check_string("HOME", env_of(&o, "HOME"), "/elsewhere");
        run_options_done(&o);
        (void) unsetenv("COVE_TEST_GIVEN");

        refuse(-EINVAL, "--env: '' has no name", "-e", "", "true");
        refuse(-EINVAL, "--env: '=1' has no name", "-e", "=1", "true");
        refuse(-EINVAL, "--env: 'COVE_TEST_ABSENT' is not set here", "-e", "COVE_TEST_ABSENT", "true");
}

TEST(env_longest) {
        const size_t most = 128 * 1024 - 1; /* the kernel's MAX_ARG_STRLEN has the NUL in it */
        _cleanup_free_ char *text = malloc(most + 2);
        RunOptions o;

        memset(text, 'x', most + 1);
        memcpy(text, "LONG=", 5);
        text[most] = '\0';
        accept(&o, "-e", text, "true");
        check_uint("length", strlen(env_of(&o, "LONG")), most - 5);
        run_options_done(&o);

        text[most] = 'x';
        text[most + 1] = '\0';
        refuse(-E2BIG, "environment variable 'LONG' has 131072 bytes", "-e", text, "true");
}

TEST(arguments_longest) {
        const size_t most = 128 * 1024 - 1;
        _cleanup_free_ char *text = malloc(most + 2);
        const char *words[40] = { "--", "true" };
        RunOptions o;

        memset(text, 'x', most + 1);
        text[most] = '\0';
        accept(&o, "--", "true", text);
        run_options_done(&o);

        for (size_t i = 2; i < 18; i++)
                words[i] = text;
        check_refused(words, -E2BIG, "command and environment have");

        text[most] = 'x';
        text[most + 1] = '\0';
        refuse(-E2BIG, "argument 1 of the command has 131072 bytes", "--", "true", text);
}

TEST(command_with_too_many_words) {
        enum { WORDS = RUN_ARGS_MAX + 1 };
        static char *argv[WORDS + 2] = { (char *) "run" };
        Error error = { 0 };
        RunOptions o;

        for (size_t i = 1; i <= WORDS; i++)
                argv[i] = (char *) "x";
        check_result("one too many", run_options_parse(&o, WORDS + 1, argv, &error), -E2BIG);
        check_part("error", error.text, "the command has more than 65536 words");
        run_options_done(&o);
        check_result("just as many", run_options_parse(&o, WORDS, argv, &error), 0);
        run_options_done(&o);
}

/* env-file */

static const char *env_file(const void *data, size_t size) {
        const char *path = unit_path("env");

        unit_write_file(path, data, size);
        return path;
}

#define ENV_FILE(text) env_file(text, sizeof(text) - 1)

TEST(env_file) {
        RunOptions o;

        accept(&o, "--env-file", ENV_FILE("# comment\nA=1\n\nB=\nC=x=y #z\nA=2\n D = 4\nE='5'"), "true");
        check_string("A, the last", env_of(&o, "A"), "2");
        check_string("B", env_of(&o, "B"), "");
        check_string("C, verbatim", env_of(&o, "C"), "x=y #z");
        check_string("D, verbatim", env_of(&o, " D "), " 4");
        check_string("E, verbatim and without a newline", env_of(&o, "E"), "'5'");
        check_uint("variables", o.env.n, 5 + 6);
        run_options_done(&o);
}

TEST(env_file_and_env) {
        RunOptions o;
        const char *path = ENV_FILE("A=file\n");

        accept(&o, "-e", "A=line", "--env-file", path, "true");
        check_string("A", env_of(&o, "A"), "file");
        run_options_done(&o);
        accept(&o, "--env-file", path, "-e", "A=line", "true");
        check_string("A", env_of(&o, "A"), "line");
        run_options_done(&o);
}

TEST(env_file_empty) {
        RunOptions o;

        accept(&o, "--env-file", ENV_FILE(""), "true");
        check_uint("variables", o.env.n, 6);
        run_options_done(&o);
        accept(&o, "--env-file", ENV_FILE("\n\n#"), "true");
        check_uint("variables", o.env.n, 6);
        run_options_done(&o);
}

TEST(env_file_refused) {
        refuse(-EINVAL, "line 2 is not NAME=value: 'rubbish'", "--env-file", ENV_FILE("A=1\nrubbish\n"),
                        "true");
        refuse(-EINVAL, "line 1 is not NAME=value: '=1'", "--env-file", ENV_FILE("=1"), "true");
        refuse(-EINVAL, "NUL byte in ", "--env-file", ENV_FILE("A=1\nB=\0\n"), "true");
        refuse(-EINVAL, " line 2", "--env-file", ENV_FILE("A=1\nB=\0\n"), "true");
        refuse(-EINVAL, "NUL byte in ", "--env-file", ENV_FILE("A=1\0"), "true");
        refuse(-ENOENT, "No such file or directory", "--env-file", unit_path("no-such-file"), "true");
        refuse(-ENOENT, unit_path("no-such-file"), "--env-file", unit_path("no-such-file"), "true");
        refuse(-EISDIR, "--env-file: cannot read '/'", "--env-file", "/", "true");
}

TEST(env_file_endless) {
        refuse(-EFBIG, "--env-file: cannot read '/dev/zero'", "--env-file", "/dev/zero", "true");
}

static const char *many_variables(size_t n) {
        static char text[200000];
        size_t used = 0;

        for (size_t i = 0; i < n; i++)
                used += (size_t) snprintf(text + used, sizeof(text) - used, "V%zu=%zu\n", i, i);
        return env_file(text, used);
}

TEST(ten_thousand_variables) {
        refuse(-E2BIG, "'V4096' is number 4097, at most 4096", "--env-file", many_variables(10000), "true");
        refuse(-E2BIG, "line 4097", "--env-file", many_variables(10000), "true");
}

/* As many as the message says are taken: what cove adds by itself is not the caller's to count. */
TEST(as_many_variables_as_promised) {
        RunOptions o;

        accept(&o, "--env-file", many_variables(RUN_ENV_MAX), "true");
        check_string("the last", env_of(&o, "V4095"), "4095");
        run_options_done(&o);
}

/* binds and files */

static const char *host_file(const char *name) {
        unit_write_text(unit_path(name), "x");
        return unit_path(name);
}

static const char *format(const char *f, const char *a) {
        static char texts[4][8192];
        static size_t next;
        char *text = texts[next++ % ELEMENTSOF(texts)];

        /* f is a literal of this file with one %s */
        const char *hole = strstr(f, "%s");
        (void) snprintf(text, sizeof(texts[0]), "%.*s%s%s", (int) (hole - f), f, a, hole + 2);
        return text;
}

TEST(bind) {
        const char *plain = host_file("plain"), *colons = host_file("with:two:colons"),
                   *ends_rw = host_file("x:rw");
        RunOptions o;

        accept(&o, "--bind", format("%s:/in", plain), "--bind", format("%s:/in/rw:rw", plain), "--bind",
                        format("%s:/in/ro/:ro", plain), "--bind=/:/host", "true");
        check_uint("binds", o.spec.n_binds, 4);
        check_string("source", o.spec.binds[0].source, plain);
        check_string("target", o.spec.binds[0].target, "/in");
        check_int("writable", o.spec.binds[0].writable, 0);
        check_string("target", o.spec.binds[1].target, "/in/rw");
        check_int("writable", o.spec.binds[1].writable, 1);
        check_string("target", o.spec.binds[2].target, "/in/ro");
        check_int("writable", o.spec.binds[2].writable, 0);
        check_string("source", o.spec.binds[3].source, "/");
        run_options_done(&o);

        accept(&o, "--bind", format("%s:/in", colons), "--bind", format("%s:/in2:rw", colons), "--bind",
                        format("%s:/in3", ends_rw), "true");
        check_string("source with colons", o.spec.binds[0].source, colons);
        check_string("target", o.spec.binds[0].target, "/in");
        check_string("source with colons", o.spec.binds[1].source, colons);
        check_int("writable", o.spec.binds[1].writable, 1);
        check_string("source that ends in :rw", o.spec.binds[2].source, ends_rw);
        check_int("writable", o.spec.binds[2].writable, 0);
        run_options_done(&o);
}

TEST(bind_refused) {
        static const char *const shapes[] = { "", ":", "x", "/x", ":/in", "/x:", "/x:rw", ":rw", "/x::rw" };

        for (size_t i = 0; i < ELEMENTSOF(shapes); i++) {
                char quoted[64];

                (void) snprintf(quoted, sizeof(quoted), "--bind: '%s' is not SOURCE:TARGET", shapes[i]);
                refuse(-EINVAL, quoted, "--bind", shapes[i], "true");
        }
        refuse(-EINVAL, "'in' must be an absolute path", "--bind", "/usr:in", "true");
        refuse(-EINVAL, "'RW' must be an absolute path", "--bind", "/usr:/in:RW", "true");
        refuse(-EXDEV, "'/in/../etc' must not contain '..'", "--bind", "/usr:/in/../etc", "true");
        refuse(-ENOENT, "--bind: source '/nowhere/at/all': No such file", "--bind", "/nowhere/at/all:/in",
                        "true");
        refuse(-EINVAL, "'/dev/null' is neither a directory nor a file", "--bind", "/dev/null:/in", "true");
}

TEST(guarded_targets) {
        static const char *const targets[] = { "/", "//", "/.", "/proc", "/proc/", "/proc/sys",
                "//proc//self", "/dev", "/dev/shm", "/sys", "/sys/fs/cgroup" };
        const char *plain = host_file("plain");
        RunOptions o;

        for (size_t i = 0; i < ELEMENTSOF(targets); i++) {
                char bind[128], file[8192];

                (void) snprintf(bind, sizeof(bind), "/usr:%s", targets[i]);
                refuse(-EINVAL, "is a place that the sandbox guards", "--bind", bind, "true");
                (void) snprintf(file, sizeof(file), "%s=%s", targets[i], plain);
                refuse(-EINVAL, "is a place that the sandbox guards", "--file", file, "true");
        }
        accept(&o, "--bind", "/usr:/processes", "--bind", "/usr:/devices", "--bind", "/usr:/home/dev",
                        "true");
        check_uint("names that only begin like them", o.spec.n_binds, 3);
        run_options_done(&o);
}

TEST(file) {
        const char *plain = host_file("plain"), *equals = host_file("a=b");
        RunOptions o;

        accept(&o, "--file", format("/in//f=%s", plain), "--file", format("/g=%s", equals), "true");
        check_uint("files", o.spec.n_files, 2);
        check_string("target", o.spec.files[0].target, "/in/f");
        check_string("source", o.spec.files[0].source, plain);
        check_string("source with =", o.spec.files[1].source, equals);
        check_int("open, close-on-exec", fcntl(o.spec.files[1].fd, F_GETFD), FD_CLOEXEC);
        run_options_done(&o);
}

TEST(file_refused) {
        static const char *const shapes[] = { "", "=", "x", "=/x", "/x=" };
        const char *fifo = unit_path("fifo");

        for (size_t i = 0; i < ELEMENTSOF(shapes); i++) {
                char quoted[64];

                (void) snprintf(quoted, sizeof(quoted), "--file: '%s' is not TARGET=SOURCE", shapes[i]);
                refuse(-EINVAL, quoted, "--file", shapes[i], "true");
        }
        refuse(-EINVAL, "'in' must be an absolute path", "--file", "in=/etc/passwd", "true");
        refuse(-EXDEV, "'/a/..' must not contain '..'", "--file", "/a/..=/etc/passwd", "true");
        refuse(-ENOENT, "--file: source '/nowhere/at/all': No such file", "--file", "/in=/nowhere/at/all",
                        "true");
        refuse(-EINVAL, "'/' is not a regular file", "--file", "/in=/", "true");
        check_int("mkfifo", mkfifo(fifo, 0600), 0);
        refuse(-EINVAL, "is not a regular file", "--file", format("/in=%s", fifo),
                        "true"); /* and does not wait */
}

TEST(lists_have_ceilings) {
        const char *argv[2 * 1025 + 2] = { "run" };
        Error error = { 0 };
        RunOptions o;

        for (size_t i = 0; i < 1025; i++) {
                argv[1 + 2 * i] = "--bind";
                argv[2 + 2 * i] = "/usr:/in";
        }
        argv[2 * 1025 + 1] = "true";
        check_result("1,025 binds", run_options_parse(&o, 2 * 1025 + 2, (char **) argv, &error), -E2BIG);
        check_part("error", error.text, "--bind: more than 1024, '/usr:/in' is one too many");
        check_uint("binds", o.spec.n_binds, 1024);
        run_options_done(&o);
}

TEST(no_descriptor_is_left) {
        size_t before = unit_count_descriptors();
        const char *plain = host_file("plain");
        RunOptions o;

        accept(&o, "--file", format("/f=%s", plain), "--env-file", ENV_FILE("A=1\n"), "true");
        run_options_done(&o);
        refuse(-EINVAL, "", "--file", format("/f=%s", plain), "--memory", "x", "true");
        refuse(-EINVAL, "", "--file", "/f=/", "true");
        refuse(-EINVAL, "", "--env-file", ENV_FILE("rubbish"), "true");
        check_uint("descriptors", unit_count_descriptors(), before);
}

/* the rest */

TEST(template) {
        RunOptions o;

        accept(&o, "--template", unit_directory(), "true");
        check_string("template", o.spec.template_dir, unit_directory());
        run_options_done(&o);
        refuse(-ENOENT, "--template: '/nowhere/at/all': No such file", "--template", "/nowhere/at/all",
                        "true");
        refuse(-ENOTDIR, "'/dev/null' is not a directory", "--template", "/dev/null", "true");
        refuse(-ENOENT, "--template: ''", "--template", "", "true");
}

TEST(net) {
        RunOptions o;

        accept(&o, "--net", "host", "true");
        check_true("net", o.spec.net_host);
        run_options_done(&o);
        refuse(-EINVAL, "--net: 'Host' is not 'none', 'egress', 'packages', 'open' or 'host'", "--net", "Host", "true");
        refuse(-EINVAL, "cove create --network isolated", "--net", "isolated", "true");

        accept(&o, "--net", "egress", "true");
        check_true("gated", o.spec.network.shape == SPAWN_NETWORK_GATED && !o.spec.net_host);
        run_options_done(&o);
        accept(&o, "--net", "host", "--net", "open", "-q", "--deny", "example.org", "true");
        check_true("gated", o.spec.network.shape == SPAWN_NETWORK_GATED && !o.spec.net_host && o.net.quiet);
        run_options_done(&o);
        accept(&o, "--allow", "example.org", "--allow=*.example.net", "true");
        check_int("rules mean egress", o.net.mode, RUN_NET_EGRESS);
        check_uint("rules", o.net.allow.n, 2);
        run_options_done(&o);
        refuse(-EINVAL, "--allow means nothing with --net none: take --net egress", "--net", "none", "--allow", "x", "true");
        refuse(-EINVAL, "--deny means nothing with --net host: take --net egress", "--deny", "x", "--net", "host", "true");
        refuse(-EINVAL, "--allow means nothing with --net open", "--net", "open", "--allow", "x", "true");
        refuse(-EINVAL, "--dns means nothing with --net none", "--dns", "192.0.2.1", "true");
        refuse(-EINVAL, "--plain-http means nothing", "--plain-http", "true");
        refuse(-EINVAL, "--allow: an empty value", "--allow", "", "true");
}

/* What the gate is told. */
TEST(net_policy) {
        char text[512] = "";
        RunOptions o;
        int fd;

        accept(&o, "--allow", "a\"b", "--deny", "c", "--plain-http", "true");
        check_result("policy", run_net_policy(&o.net, &fd), 0);
        check_true("read", read(fd, text, sizeof(text) - 1) > 0);
        check_part("mode", text, "\"mode\": \"egress\"");
        check_part("quoted", text, "\"a\\\"b\"");
        check_part("deny", text, "\"deny\": [");
        check_part("plain", text, "\"requireTls\": false");
        (void) close(fd);
        run_options_done(&o);
}

TEST(hostname) {
        static const char longest[] = "A12345678901234567890123456789012345678901234567890123456789012";
        static const char *const good[] = { "a", "a-b.c", "0", longest };
        static const char *const bad[] = { "", "-a", ".a", "a b", "a/b", "a_b", "\xc3\xa9", "a\n",
                "A123456789012345678901234567890123456789012345678901234567890123" };

        for (size_t i = 0; i < ELEMENTSOF(good); i++) {
                RunOptions o;

                accept(&o, "--hostname", good[i], "true");
                check_string("hostname", o.spec.hostname, good[i]);
                run_options_done(&o);
        }
        for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                RunOptions o;
                Error error;

                check_result(bad[i], parse(WORDS("--hostname", bad[i], "true"), &o, &error), -EINVAL);
                check_part(bad[i], error.text, bad[i]);
                run_options_done(&o);
        }
}

TEST(keep) {
        RunOptions o;

        accept(&o, "--keep", "some/where", "true");
        check_string("keep", o.spec.keep_dir, "some/where");
        run_options_done(&o);
        refuse(-EINVAL, "--keep: needs a directory", "--keep", "", "true");
        refuse(-EINVAL, "--disk cannot be enforced on the directory of --keep 'd'", "--keep", "d", "--disk",
                        "1G", "true");
}

TEST(txn) {
        static const struct {
                const char *value, *dir, *target; /* target NULL: none */
        } rows[] = {
                { "/a",       "/a",   NULL  },
                { ".",        ".",    NULL  },
                { "/a:/b",    "/a",   "/b"  },
                { "/a:b",     "/a:b", NULL  },
                { "/a:b:/c",  "/a:b", "/c"  },
        };
        RunOptions o;

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                _cleanup_free_ char *dir = NULL, *target = NULL;

                check_result(rows[i].value, run_txn_split(rows[i].value, &dir, &target), 0);
                check_string("dir", dir, rows[i].dir);
                check_true("target", (target == NULL) == (rows[i].target == NULL));
                if (target)
                        check_string("target", target, rows[i].target);
        }
        accept(&o, "--txn", "/", "--txn-auto", "discard", "true");
        check_string("target", o.spec.binds[o.txn.bind].target, "/workspace");
        check_string("working directory", o.spec.workdir, "/workspace");
        check_true("layer", !o.spec.binds[o.txn.bind].layer && o.spec.binds[o.txn.bind].layer_fd < 0);
        run_options_done(&o);
        accept(&o, "--txn", "/:/src", "-w", "/tmp", "true");
        check_string("target", o.spec.binds[0].target, "/src");
        check_string("working directory", o.spec.workdir, "/tmp");
        run_options_done(&o);
        refuse(-EINVAL, "one transaction", "--txn", "/", "--txn", "/", "true");
        refuse(-EINVAL, "--txn DIR", "--txn-id", "txn-abcdef", "true");
        refuse(-EINVAL, "'x'", "--txn", "/", "--txn-id", "x", "true");
        refuse(-EINVAL, "'maybe'", "--txn", "/", "--txn-auto", "maybe", "true");
        refuse(-ENOENT, "--txn: '/nowhere-at-all'", "--txn", "/nowhere-at-all", "true");
        refuse(-EINVAL, "/proc", "--txn", "/:/proc/x", "true");
}

TEST(report) {
        RunOptions o;

        accept(&o, "--report", "-", "true");
        check_string("report", o.report, "-");
        check_true("CPU time is counted", o.spec.limits.count);
        run_options_done(&o);
        refuse(-EINVAL, "--report: needs a file", "--report", "", "true");
}

TEST(allow_missing) {
        RunOptions o;

        accept(&o, "--allow-missing", "landlock", "--allow-missing", "seccomp", "--allow-missing=landlock",
                        "true");
        check_uint("guards", o.spec.allow_missing, GUARD_BIT(GUARD_LANDLOCK) | GUARD_BIT(GUARD_SECCOMP));
        run_options_done(&o);
        refuse(-EINVAL, "there is no guard 'nothing'", "--allow-missing", "nothing", "true");
        refuse(-EINVAL, "there is no guard ''", "--allow-missing", "", "true");
        refuse(-EINVAL, "there is no guard 'all'", "--allow-missing", "all", "true");
        refuse(-EINVAL, "the guard 'userns' cannot be left out", "--allow-missing", "userns",
                        "true");
}

TEST(ids_differ) {
        RunOptions a, b;

        accept(&a, "true");
        accept(&b, "true");
        check_true("another id", strcmp(a.spec.id, b.spec.id) != 0);
        run_options_done(&a);
        run_options_done(&b);
}
