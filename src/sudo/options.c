#include "sudo/options.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/macro.h"

typedef struct Flag {
        char letter;
        const char *word;
        bool wants_value;
        void (*apply)(SudoOptions *o, const char *value); /* NULL: the option has no effect here */
} Flag;

static void apply_background(SudoOptions *o, const char *value) {
        o->background = true;
}

static void apply_directory(SudoOptions *o, const char *value) {
        o->directory = value;
}

static void apply_keep_all(SudoOptions *o, const char *value) {
        o->keep_all = true;
}

static void sudo_options_apply_group(SudoOptions *o, const char *value) {
        o->group = value;
}

static void sudo_options_apply_help(SudoOptions *o, const char *value) {
        o->action = SUDO_DO_HELP;
}

static void apply_home(SudoOptions *o, const char *value) {
        o->set_home = true;
}

static void sudo_options_apply_list(SudoOptions *o, const char *value) {
        o->action = SUDO_DO_LIST;
}

static void apply_login(SudoOptions *o, const char *value) {
        o->login = true;
}

static void apply_nothing(SudoOptions *o, const char *value) {
        o->action = SUDO_DO_NOTHING;
}

static void sudo_options_apply_shell(SudoOptions *o, const char *value) {
        o->shell = true;
}

static void sudo_options_apply_user(SudoOptions *o, const char *value) {
        o->user = value;
}

static void apply_version(SudoOptions *o, const char *value) {
        o->action = SUDO_DO_VERSION;
}

static const Flag flags[] = {
        { 'A', "askpass",          false, NULL             },
        { 'B', "bell",             false, NULL             },
        { 'b', "background",       false, apply_background },
        { 'D', "chdir",            true,  apply_directory  },
        { 'E', "preserve-env",     false, apply_keep_all   },
        { 'g', "group",            true,  sudo_options_apply_group      },
        { 'H', "set-home",         false, apply_home       },
        { 'h', "help",             false, sudo_options_apply_help       },
        { 'i', "login",            false, apply_login      },
        { 'K', "remove-timestamp", false, apply_nothing    },
        { 'k', "reset-timestamp",  false, apply_nothing    },
        { 'l', "list",             false, sudo_options_apply_list       },
        { 'N', "no-update",        false, NULL             },
        { 'n', "non-interactive",  false, NULL             },
        { 'P', "preserve-groups",  false, NULL             },
        { 'p', "prompt",           true,  NULL             },
        { 'S', "stdin",            false, NULL             },
        { 's', "shell",            false, sudo_options_apply_shell      },
        { 'u', "user",             true,  sudo_options_apply_user       },
        { 'V', "version",          false, apply_version    },
        { 'v', "validate",         false, apply_nothing    },
};

static const Flag *sudo_options_find_letter(char letter) {
        for (size_t i = 0; i < ELEMENTSOF(flags); i++)
                if (flags[i].letter == letter)
                        return flags + i;
        return NULL;
}

static void sudo_options_apply(SudoOptions *o, const Flag *f, const char *value) {
        if (f->apply)
                f->apply(o, value);
}

/* Parses "--user=root" or "--user root". Only --preserve-env has an optional value. Returns the number of arguments
 * used. */
static int sudo_options_parse_word(SudoOptions *o, char *const *argv, Error *reterr) {
        const char *word = argv[0] + 2, *value = strchr(word, '=');
        size_t n = value ? (size_t) (value - word) : strlen(word);

        if (value && n == strlen("preserve-env") && strncmp(word, "preserve-env", n) == 0) {
                o->keep = value + 1;
                return 1;
        }
        for (size_t i = 0; i < ELEMENTSOF(flags); i++) {
                if (strlen(flags[i].word) != n || strncmp(flags[i].word, word, n) != 0)
                        continue;
                if (!flags[i].wants_value && value)
                        return error_set(reterr, -EINVAL, "--%s has no value", flags[i].word);
                if (flags[i].wants_value && !value && !argv[1])
                        return error_set(reterr, -EINVAL, "--%s needs a value", flags[i].word);
                sudo_options_apply(o, flags + i, value ? value + 1 : flags[i].wants_value ? argv[1] : NULL);
                return flags[i].wants_value && !value ? 2 : 1;
        }
        return error_set(reterr, -EINVAL, "there is no option '%.*s' in this sudo", (int) (n + 2), argv[0]);
}

/* "-nEu root", "-uroot". */
static int parse_letters(SudoOptions *o, char *const *argv, Error *reterr) {
        for (const char *p = argv[0] + 1; *p; p++) {
                const Flag *f = sudo_options_find_letter(*p);

                if (!f)
                        return error_set(reterr, -EINVAL, "there is no option '-%c' in this sudo", *p);
                if (!f->wants_value) {
                        sudo_options_apply(o, f, NULL);
                        continue;
                }
                if (!p[1] && !argv[1])
                        return error_set(reterr, -EINVAL, "-%c wants a value", *p);
                sudo_options_apply(o, f, p[1] ? p + 1 : argv[1]);
                return p[1] ? 1 : 2;
        }
        return 1;
}

static bool is_assignment(const char *text) {
        size_t n = strcspn(text, "=");

        if (n == 0 || text[n] != '=' || isdigit((unsigned char) text[0]))
                return false;
        for (size_t i = 0; i < n; i++)
                if (!isalnum((unsigned char) text[i]) && text[i] != '_')
                        return false;
        return true;
}

static int parse_flags(int argc, char *const *argv, SudoOptions *o, Error *reterr) {
        int at = 1;

        while (at < argc && argv[at][0] == '-' && argv[at][1] != '\0') {
                int r;

                if (strcmp(argv[at], "--") == 0)
                        return at + 1;
                r = argv[at][1] == '-' ? sudo_options_parse_word(o, argv + at, reterr) : parse_letters(o, argv + at, reterr);
                if (r < 0)
                        return r;
                at += r;
        }
        return at;
}

int sudo_options_parse(int argc, char *const *argv, SudoOptions *ret, Error *reterr) {
        SudoOptions o = { .action = SUDO_DO_RUN };
        int at = parse_flags(argc, argv, &o, reterr);

        if (at < 0)
                return at;
        o.assignments = argv + at;
        while (at < argc && is_assignment(argv[at])) {
                at++;
                o.n_assignments++;
        }
        o.command = argv + at;
        o.n_command = (size_t) (argc - at);
        if (o.login && o.shell)
                return error_set(reterr, -EINVAL, "-i and -s are two different things");
        if (o.action == SUDO_DO_NOTHING && o.n_command > 0) /* sudo -k COMMAND */
                o.action = SUDO_DO_RUN;
        if (o.action == SUDO_DO_RUN && o.n_command == 0 && !o.login && !o.shell)
                return error_set(reterr, -EINVAL, "no command");
        if (o.background && o.action == SUDO_DO_RUN && o.n_command == 0)
                return error_set(reterr, -EINVAL, "-b wants a command: a shell in the background is of no use");
        *ret = o;
        return 0;
}
