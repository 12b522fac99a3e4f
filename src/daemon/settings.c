#include "daemon/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "daemon/options.h"
#include "json/json.h"
#include "observe/alert-rules.h"

#define FILE_OF_ROOT "/etc/cove/cove.yaml"
#define FILE_OF_USER ".config/cove/cove.yaml"

char *settings_default_path(void) {
        const char *home = getenv("HOME");
        char *path = NULL;

        if (geteuid() == 0)
                return strdup(FILE_OF_ROOT);
        if (!home || home[0] != '/' || asprintf(&path, "%s/" FILE_OF_USER, home) < 0)
                return NULL;
        return path;
}

const ConfigHooks *settings_hooks(void) {
        static ConfigHooks hooks = {
                .check_option = daemon_options_check,
                .option_name = daemon_options_name,
        };

        hooks.alert_rules = alert_rule_names();
        return &hooks;
}

typedef struct Counter {
        unsigned n;
} Counter;

static void log_complaint(const char *text, void *userdata) {
        Counter *counter = userdata;

        counter->n++;
        log_error("%s", text);
}

int settings_read(const char *path, Config **ret, Error *reterr) {
        Counter counter = { 0 };
        int r = config_read(settings_hooks(), path, log_complaint, &counter, ret, reterr);

        if (r < 0 && counter.n > 0)
                return error_set(reterr, r, "%u %s in '%s': not started", counter.n, counter.n == 1 ? "mistake" : "mistakes", path);
        return r;
}

/* --check-config */

static void print_complaint(const char *text, void *userdata) {
        printf("✗ %s\n", text);
}

static void add_complaint(const char *text, void *userdata) {
        unsigned line, column;
        const char *message = config_complaint_split(text, &line, &column);

        (void) json_array_append_new(userdata, json_pack("{s:i,s:i,s:o}", "line", (int) line, "column", (int) column, "message",
                        json_text_or_null(message)));
}

static int check_json(const char *path) {
        _cleanup_config_ Config *c = NULL;
        _cleanup_json_ json_t *list = json_array(), *answer = NULL;
        _cleanup_free_ char *text = NULL;
        Error error = { 0 };
        size_t size;
        int r;

        r = config_read(settings_hooks(), path, add_complaint, list, &c, &error);
        if (r < 0 && json_array_size(list) == 0)
                add_complaint(error.text, list);
        answer = json_pack("{s:o,s:b,s:O}", "path", json_text_or_null(path), "ok", r >= 0, "complaints", list);
        text = answer ? json_print(answer, &size) : NULL;
        if (text)
                printf("%s", text);
        return r < 0 || !text;
}

static int check_words(const char *path) {
        _cleanup_config_ Config *c = NULL;
        Error error = { 0 };
        int r;

        r = config_read(settings_hooks(), path, print_complaint, NULL, &c, &error);
        if (r >= 0)
                printf("✓ %s\n", path);
        else if (r != -EINVAL)
                printf("✗ %s\n", error.text);
        return r < 0;
}

int settings_check(const char *path, bool json) {
        _cleanup_free_ char *standard = *path ? NULL : settings_default_path();

        if (standard)
                path = standard;
        if (!*path) {
                log_error("HOME is not set: name the file");
                return 1;
        }
        if (standard && !json && access(standard, F_OK) < 0 && errno == ENOENT) {
                printf("✓ there is no %s: the defaults apply\n", standard);
                return 0;
        }
        return json ? check_json(path) : check_words(path);
}
