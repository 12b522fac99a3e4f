/* Command line options as tables, and the command line as others see it. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/title.h"
#include "cli/options.h"

/* Writes down what was applied, in order. */
typedef struct Record {
        char text[512];
} Record;

static int note(Record *r, const char *name, const char *value) {
        size_t n = strlen(r->text);

        (void) snprintf(r->text + n, sizeof(r->text) - n, "[%s%s%s]", name, value ? "=" : "",
                        value ? value : "");
        return 0;
}

static int apply_size(const Option *o, void *target, const char *value, Error *reterr) {
        return note(target, "size", value);
}

static int apply_si(const Option *o, void *target, const char *value, Error *reterr) {
        return note(target, "si", value);
}

static int apply_flag(const Option *o, void *target, const char *value, Error *reterr) {
        return note(target, "flag", value);
}

static int apply_bad(const Option *o, void *target, const char *value, Error *reterr) {
        (void) note(target, "bad", value);
        return error_set(reterr, -ERANGE, "bad: '%s'", value);
}

static const Option options[] = {
        { "size", 's', "SIZE", "how much\nof it",            apply_size },
        { "si",   0,   "N",    "a name that begins another", apply_si   },
        { "flag", 'f', NULL,   "yes or no",                  apply_flag },
        { "bad",  0,   "X",    "always refused",             apply_bad  },
};

#define ARGV_MAX 16

/* Words after the program's name; returns the result of the parser, and the record and the words on failure. */
static int parse(const char *const *words, Record *record, Error *error) {
        char *argv[ARGV_MAX] = { (char *) "program" };
        int argc = 1;

        *record = (Record) { "" };
        *error = (Error) { 0 };
        for (; words[argc - 1]; argc++)
                argv[argc] = (char *) words[argc - 1];
        return options_parse(options, ELEMENTSOF(options), argc, argv, record, error);
}

#define WORDS(...) ((const char *const[]) { __VA_ARGS__ __VA_OPT__(, ) NULL })

static void check_parsed(const char *const *words, int expected, const char *applied) {
        const char *what = words[0] ? words[0] : "no words";
        Record record;
        Error error;
        int r = parse(words, &record, &error);

        if (r < 0)
                print_error("%s\n", error.text);
        check_result(what, r, expected);
        check_string(what, record.text, applied);
}

static void check_refused(const char *const *words, int expected, const char *text) {
        Record record;
        Error error;

        check_result(words[0], parse(words, &record, &error), expected);
        check_string(words[0], error.text, text);
}

TEST(forms) {
        check_parsed(WORDS("--size", "1"), 3, "[size=1]");
        check_parsed(WORDS("--size=1"), 2, "[size=1]");
        check_parsed(WORDS("-s", "1"), 3, "[size=1]");
        check_parsed(WORDS("--flag"), 2, "[flag]");
        check_parsed(WORDS("-f"), 2, "[flag]");
        check_parsed(WORDS("-f", "--size=1", "--flag", "-s", "2"), 6, "[flag][size=1][flag][size=2]");
}

TEST(names_are_whole) {
        check_parsed(WORDS("--si", "1"), 3, "[si=1]");
        check_parsed(WORDS("--si=size"), 2, "[si=size]");
        check_refused(WORDS("--siz", "1"), -EINVAL, "unknown option '--siz': did you mean --size?");
        check_refused(WORDS("--sizes=1"), -EINVAL, "unknown option '--sizes=1': did you mean --size?");
        check_refused(WORDS("--s", "1"), -EINVAL, "unknown option '--s'");
        check_refused(WORDS("--SIZE", "1"), -EINVAL, "unknown option '--SIZE': did you mean --size?");
}

TEST(values) {
        check_parsed(WORDS("--size="), 2, "[size=]");
        check_parsed(WORDS("--size", ""), 3, "[size=]");
        check_parsed(WORDS("--size=a=b"), 2, "[size=a=b]");
        check_parsed(WORDS("--size", "--flag"), 3, "[size=--flag]");
        check_parsed(WORDS("--size", "--", "x"), 3, "[size=--]");
        check_parsed(WORDS("-s", "-f"), 3, "[size=-f]");
}

TEST(end_of_options) {
        check_parsed(WORDS(), 1, "");
        check_parsed(WORDS("command", "--flag"), 1, "");
        check_parsed(WORDS("--flag", "command", "--flag"), 2, "[flag]");
        check_parsed(WORDS("--", "--flag"), 2, "");
        check_parsed(WORDS("--flag", "--", "--", "x"), 3, "[flag]");
        check_parsed(WORDS("--"), 2, "");
        check_parsed(WORDS("-", "--flag"), 1, "");
        check_parsed(WORDS("", "--flag"), 1, "");
}

TEST(unknown) {
        check_refused(WORDS("--nothing"), -EINVAL, "unknown option '--nothing'");
        check_refused(WORDS("--nothing=1"), -EINVAL, "unknown option '--nothing=1'");
        check_refused(WORDS("-x"), -EINVAL, "unknown option '-x'");
        check_refused(WORDS("-fs"), -EINVAL, "option --size needs a value: --size SIZE"); /* letters share a word, the last may have a value */
        check_refused(WORDS("-fx"), -EINVAL, "unknown option '-fx'");
        check_refused(WORDS("-s1"), -EINVAL, "unknown option '-s1'");
        check_refused(WORDS("-s=1"), -EINVAL, "unknown option '-s=1'");
        check_refused(WORDS("--=x"), -EINVAL, "unknown option '--=x'");
        check_refused(WORDS("---"), -EINVAL, "unknown option '---'");
        check_refused(WORDS("---flag"), -EINVAL, "unknown option '---flag': did you mean --flag?");
}

TEST(missing_value) {
        check_refused(WORDS("--size"), -EINVAL, "option --size needs a value: --size SIZE");
        check_refused(WORDS("-s"), -EINVAL, "option --size needs a value: --size SIZE");
        check_refused(WORDS("--flag", "--si"), -EINVAL, "option --si needs a value: --si N");
}

TEST(value_for_a_flag) {
        check_refused(WORDS("--flag=yes"), -EINVAL, "option --flag takes no value, got 'yes'");
        check_refused(WORDS("--flag="), -EINVAL, "option --flag takes no value, got ''");
}

TEST(refused_value_stops) {
        Record record;
        Error error;

        check_result("result", parse(WORDS("--flag", "--bad", "1", "--size=2"), &record, &error), -ERANGE);
        check_string("error", error.text, "bad: '1'");
        check_string("applied", record.text, "[flag][bad=1]");
}

TEST(long_unknown_word) {
        char word[2000] = "--";
        Record record;
        Error error;

        memset(word + 2, 'x', sizeof(word) - 3);
        check_result("result", parse(WORDS(word), &record, &error), -EINVAL);
        check_part("error", error.text, "unknown option '--xxx");
}

TEST(help) {
        char text[1024];
        int fds[2], saved = dup(STDOUT_FILENO);
        ssize_t n;

        check_int("pipe", pipe2(fds, O_CLOEXEC), 0);
        (void) fflush(stdout);
        (void) dup2(fds[1], STDOUT_FILENO);
        (void) close(fds[1]);
        options_print(options, ELEMENTSOF(options));
        (void) fflush(stdout);
        (void) dup2(saved, STDOUT_FILENO);
        (void) close(saved);
        n = fd_read_full(fds[0], text, sizeof(text) - 1);
        (void) close(fds[0]);
        check_true("read", n > 0);
        text[n] = '\0';
        check_string("help", text,
                        "  -s, --size SIZE           how much\n"
                        "                            of it\n"
                        "      --si N                a name that begins another\n"
                        "  -f, --flag                yes or no\n"
                        "      --bad X               always refused\n");
}

/* our own command line */

static void replace_arguments(void *userdata) {
        /* As the kernel lays them out, with the environment behind them. */
        char area[] = "./cove\0run\0--env\0SECRET=1\0--bind=/home/me:/x\0true\0HOME=/home/me";
        char *argv[8];
        int argc = 0;

        for (char *p = area; argc < 6; p += strlen(p) + 1)
                argv[argc++] = p;
        title_init(argc, argv);
        title_set(userdata);
        check_string("name", area, userdata);
        for (const char *p = area + strlen(userdata); p < argv[5] + 5; p++)
                check_int("byte", *p, 0);
        check_string("what is behind", argv[5] + 5, "HOME=/home/me");
}

TEST(arguments_are_replaced) {
        unit_run_in_child(replace_arguments, (void *) "cove-init");
        unit_run_in_child(replace_arguments, (void *) "");
}

/* Words that somebody else has put there are not ours to overwrite. */
static void replace_scattered(_unused_ void *userdata) {
        char first[] = "a-long-program-name", other[] = "elsewhere", *argv[] = { first, other, NULL };

        title_init(2, argv);
        title_set("cove-init");
        check_string("ours", first, "cove-init");
        check_string("elsewhere", other, "elsewhere");
}

TEST(arguments_elsewhere_are_left) {
        unit_run_in_child(replace_scattered, NULL);
}

static void replace_nothing(_unused_ void *userdata) {
        title_set("cove-init");
}

TEST(arguments_never_remembered) {
        unit_run_in_child(replace_nothing, NULL);
}
