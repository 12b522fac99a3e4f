#include "agent/language.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

#define NAMES_MAX    4
#define PROGRAMS_MAX 4
#define TEXT_MAX     512

static const struct {
        const char *names[NAMES_MAX];
        const char *file;
        const char *programs[PROGRAMS_MAX]; /* the first that exists; words after it are arguments */
} languages[] = {
        { { "python", "python3", "py" },     "main.py",  { "python3" }                       },
        { { "javascript", "js", "node" },    "main.js",  { "node", "deno run", "bun run" }   },
        { { "typescript", "ts" },            "main.ts",  { "deno run", "bun run", "tsx", "ts-node" } },
        { { "bash" },                        "main.sh",  { "bash" }                          },
        { { "sh", "shell" },                 "main.sh",  { "sh" }                            },
        { { "perl", "pl" },                  "main.pl",  { "perl" }                          },
        { { "ruby", "rb" },                  "main.rb",  { "ruby" }                          },
        { { "php" },                         "main.php", { "php" }                           },
        { { "lua" },                         "main.lua", { "lua", "lua5.4", "luajit" }       },
        { { "r" },                           "main.R",   { "Rscript" }                       },
};

/* As the guest sees it: a link to /etc/alternatives is resolved below the root. */
static bool exists_below(int root, const char *path) {
        struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };
        _cleanup_close_ int fd = (int) syscall(SYS_openat2, root, path, &how, sizeof(how));

        return fd >= 0;
}

static bool has_program(int root, const char *words) {
        static const char *const places[] = { "usr/local/bin", "usr/bin", "bin" };

        for (size_t i = 0; i < ELEMENTSOF(places); i++) {
                char path[64];

                (void) snprintf(path, sizeof(path), "%s/%.*s", places[i], (int) strcspn(words, " "), words);
                if (exists_below(root, path))
                        return true;
        }
        return false;
}

static int push_words(Strv *v, const char *words) {
        for (const char *p = words; *p;) {
                size_t n = strcspn(p, " ");
                char word[32];
                int r;

                (void) snprintf(word, sizeof(word), "%.*s", (int) n, p);
                r = strv_push(v, word);
                if (r < 0)
                        return r;
                p += n + (p[n] == ' ');
        }
        return 0;
}

static void language_list_names(char *ret, size_t size) {
        size_t used = 0;

        for (size_t i = 0; i < ELEMENTSOF(languages) && used < size; i++)
                used += (size_t) snprintf(ret + used, size - used, "%s%s", i > 0 ? ", " : "", languages[i].names[0]);
}

static int agent_language_find(const char *name) {
        for (size_t i = 0; i < ELEMENTSOF(languages); i++)
                for (size_t k = 0; k < NAMES_MAX && languages[i].names[k]; k++)
                        if (strcasecmp(languages[i].names[k], name) == 0)
                                return (int) i;
        return -EINVAL;
}

int language_programs(const char *name, Strv *ret) {
        int at = agent_language_find(name), r = 0;

        for (size_t i = 0; at >= 0 && r >= 0 && i < PROGRAMS_MAX && languages[at].programs[i]; i++) {
                char word[32];

                (void) snprintf(word, sizeof(word), "%.*s", (int) strcspn(languages[at].programs[i], " "), languages[at].programs[i]);
                r = strv_push(ret, word);
        }
        return r;
}

static int refuse_missing(size_t at, const char *name, Error *reterr) {
        char text[TEXT_MAX];
        size_t used = 0;

        for (size_t i = 0; i < PROGRAMS_MAX && languages[at].programs[i]; i++)
                used += (size_t) snprintf(text + used, sizeof(text) - used, "%s%.*s", i > 0 ? ", " : "",
                                (int) strcspn(languages[at].programs[i], " "), languages[at].programs[i]);
        return error_set(reterr, -ENOENT, "'%s' cannot be run here: the template has none of: %s", name, text);
}

int language_find(const char *name, const char *root_dir, const char **ret_file, Strv *ret_command, Error *reterr) {
        _cleanup_close_ int root = -EBADF;
        int at = agent_language_find(name), r;

        if (at < 0) {
                char names[TEXT_MAX];

                language_list_names(names, sizeof(names));
                return error_set(reterr, -EINVAL, "there is no language '%.60s' (there are: %s)", name, names);
        }
        if (root_dir)
                root = open(root_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (root_dir && root < 0)
                return error_set(reterr, -errno, "cannot look into the template's directory '%s': %m", root_dir);
        for (size_t i = 0; i < PROGRAMS_MAX && languages[at].programs[i]; i++) {
                if (root_dir && !has_program(root, languages[at].programs[i]))
                        continue;
                r = push_words(ret_command, languages[at].programs[i]);
                if (r < 0)
                        return error_set(reterr, r, "out of memory");
                *ret_file = languages[at].file;
                return 0;
        }
        return refuse_missing((size_t) at, name, reterr);
}
