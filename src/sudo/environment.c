#include "sudo/environment.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"

/* Variables of the caller that are always kept: terminal, language, and the proxy and certificate settings of this
 * sandbox's network. */
static const char *const kept[] = {
        "COLORTERM", "COLORS", "DISPLAY", "HOSTNAME", "LANG", "LANGUAGE", "LINGUAS", "LS_COLORS", "PS1", "PS2", "TERM", "TZ", "XAUTHORITY",
        "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "NODE_EXTRA_CA_CERTS", "PIP_CERT", "REQUESTS_CA_BUNDLE", "SSL_CERT_DIR", "SSL_CERT_FILE", "npm_config_cafile",
        "UV_BREAK_SYSTEM_PACKAGES",
        "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
};
static const char *const kept_by_login[] = { "COLORTERM", "DISPLAY", "TERM", "XAUTHORITY" };

static bool environment_has(const char *const *list, size_t n_list, const char *name, size_t n) {
        for (size_t i = 0; i < n_list; i++)
                if (strlen(list[i]) == n && strncmp(list[i], name, n) == 0)
                        return true;
        return false;
}

/* "A,B,C" */
static bool sudo_environment_is_listed(const char *list, const char *name, size_t n) {
        while (list && *list) {
                size_t k = strcspn(list, ",");

                if (k == n && strncmp(list, name, n) == 0)
                        return true;
                list += k + (list[k] == ',');
        }
        return false;
}

static bool stays(const SudoOptions *o, const char *assignment) {
        size_t n = strcspn(assignment, "=");

        if (n == 0 || assignment[n] != '=')
                return false;
        if (o->login)
                return environment_has(kept_by_login, ELEMENTSOF(kept_by_login), assignment, n);
        return o->keep_all || sudo_environment_is_listed(o->keep, assignment, n) || (n > 3 && strncmp(assignment, "LC_", 3) == 0) ||
                        environment_has(kept, ELEMENTSOF(kept), assignment, n);
}

static int environment_set(Strv *env, const char *name, const char *value) {
        char *text;
        int r;

        if (asprintf(&text, "%s=%s", name, value) < 0)
                return -ENOMEM;
        r = strv_set_env(env, text);
        free(text);
        return r;
}

static int environment_set_number(Strv *env, const char *name, unsigned value) {
        char text[16];

        (void) snprintf(text, sizeof(text), "%u", value);
        return environment_set(env, name, text);
}

/* Quotes all characters that a shell would interpret. */
static int quote(char *const *words, size_t n, char **ret) {
        size_t size = 1;
        char *text, *p;

        for (size_t i = 0; i < n; i++)
                size += 2 * strlen(words[i]) + 1;
        p = text = malloc(size);
        if (!text)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                if (i > 0)
                        *p++ = ' ';
                for (const char *w = words[i]; *w; w++) {
                        if (!isalnum((unsigned char) *w) && !strchr("_-$", *w))
                                *p++ = '\\';
                        *p++ = *w;
                }
        }
        *p = '\0';
        *ret = text;
        return 0;
}

static int push_shell(const SudoOptions *o, const char *shell, Strv *ret) {
        _cleanup_free_ char *line = NULL;
        int r = strv_push(ret, shell);

        if (r >= 0 && o->login)
                r = strv_push(ret, "-l");
        if (r < 0 || o->n_command == 0)
                return r;
        r = quote(o->command, o->n_command, &line);
        if (r >= 0)
                r = strv_push(ret, "-c");
        return r < 0 ? r : strv_push(ret, line);
}

int sudo_command(const SudoOptions *o, const SudoAccount *target, const char *shell, Strv *ret) {
        if (o->login)
                return push_shell(o, target->shell, ret);
        if (o->shell)
                return push_shell(o, shell && *shell ? shell : target->shell, ret);
        for (size_t i = 0; i < o->n_command; i++) {
                int r = strv_push(ret, o->command[i]);
                if (r < 0)
                        return r;
        }
        return 0;
}

void sudo_find_program(const char *name, char *ret, size_t size) {
        if (!strchr(name, '/'))
                for (const char *p = SUDO_PATH; *p; p += strcspn(p, ":") + (p[strcspn(p, ":")] == ':')) {
                        (void) snprintf(ret, size, "%.*s/%s", (int) strcspn(p, ":"), p, name);
                        if (access(ret, X_OK) == 0)
                                return;
                }
        (void) snprintf(ret, size, "%s", name);
}

/* The program by its path, and all of its arguments. */
static int environment_set_command(Strv *env, const Strv *command) {
        char program[512], text[4096];
        size_t used;

        sudo_find_program(command->items[0], program, sizeof(program));
        used = (size_t) snprintf(text, sizeof(text), "%s", program);
        for (size_t i = 1; i < command->n && used < sizeof(text); i++)
                used += (size_t) snprintf(text + used, sizeof(text) - used, " %s", command->items[i]);
        return environment_set(env, "SUDO_COMMAND", text);
}

static int set_identity(const SudoOptions *o, const SudoAccount *target, Strv *env) {
        char mail[96];
        bool home = o->set_home || !o->keep_all || !strv_get_env(env, "HOME");
        int r = home && !sudo_environment_is_listed(o->keep, "HOME", 4) ? environment_set(env, "HOME", target->home) : 0;

        (void) snprintf(mail, sizeof(mail), "/var/mail/%s", target->name);
        if (r >= 0 && !strv_get_env(env, "MAIL"))
                r = environment_set(env, "MAIL", mail);
        if (r >= 0)
                r = environment_set(env, "LOGNAME", target->name);
        if (r >= 0)
                r = environment_set(env, "USER", target->name);
        if (r >= 0 && (o->login || !o->keep_all))
                r = environment_set(env, "SHELL", target->shell);
        if (r >= 0 && !strv_get_env(env, "TERM"))
                r = environment_set(env, "TERM", "unknown");
        return r < 0 ? r : environment_set(env, "PATH", SUDO_PATH);
}

int sudo_environment(const SudoOptions *o, const SudoAccount *caller, const SudoAccount *target, char *const *environment, const Strv *command, Strv *ret) {
        int r = 0;

        for (; *environment && r >= 0; environment++)
                if (stays(o, *environment))
                        r = strv_set_env(ret, *environment);
        if (r >= 0)
                r = set_identity(o, target, ret);
        for (size_t i = 0; i < o->n_assignments && r >= 0; i++)
                r = strv_set_env(ret, o->assignments[i]);
        if (r >= 0)
                r = environment_set_command(ret, command);
        if (r >= 0)
                r = environment_set(ret, "SUDO_USER", caller->name);
        if (r >= 0)
                r = environment_set_number(ret, "SUDO_UID", caller->uid);
        if (r >= 0)
                r = environment_set_number(ret, "SUDO_GID", caller->gid);
        return r < 0 ? r : environment_set(ret, "SUDO_HOME", caller->home);
}
