#include "config/reload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "base/log.h"

#define LISTENERS_MAX  32
#define COMPLAINTS_MAX 128
#define OPTIONS_MAX    128

struct Reload {
        Manager *manager;
        const ConfigHooks *hooks;
        char *path;
        Config **settings;
        struct {
                ReloadTold function;
                void *userdata;
        } listeners[LISTENERS_MAX];
        size_t n_listeners;
        Strv started_with; /* options of the section daemon */
        Strv complaints, restart;
        usec_t failed_at;
        Error error;
        char *changes;
};

DEFINE_CLEANUP(Reload, reload_free)

int reload_new(Manager *m, const ConfigHooks *hooks, const char *path, Config **settings, Reload **ret) {
        _cleanup_(reload_freep) Reload *l = calloc(1, sizeof(*l));
        int r;

        if (!l)
                return -ENOMEM;
        *l = (Reload) {
                .manager = m,
                .hooks = hooks,
                .path = path ? strdup(path) : NULL,
                .settings = settings,
                .started_with = STRV_INIT(OPTIONS_MAX),
                .complaints = STRV_INIT(COMPLAINTS_MAX),
                .restart = STRV_INIT(OPTIONS_MAX),
        };
        r = strv_extend(&l->started_with, &(*settings)->daemon);
        if (r < 0 || (path && !l->path))
                return -ENOMEM;
        *ret = TAKE_PTR(l);
        return 0;
}

Reload *reload_free(Reload *l) {
        if (!l)
                return NULL;
        strv_done(&l->started_with);
        strv_done(&l->complaints);
        strv_done(&l->restart);
        free(l->changes);
        free(l->path);
        free(l);
        return NULL;
}

int reload_add(Reload *l, ReloadTold function, void *userdata) {
        if (l->n_listeners >= ELEMENTSOF(l->listeners))
                return -E2BIG;
        l->listeners[l->n_listeners].function = function;
        l->listeners[l->n_listeners++].userdata = userdata;
        return 0;
}

static bool reload_has(const Strv *list, const char *text) {
        for (size_t i = 0; i < list->n; i++)
                if (strcmp(list->items[i], text) == 0)
                        return true;
        return false;
}

/* The names of the assignments in one list that are not in the other with the same value. */
static int reload_add_missing(const Strv *from, const Strv *in, Strv *names) {
        for (size_t i = 0; i < from->n; i++) {
                _cleanup_free_ char *name = strndup(from->items[i], strcspn(from->items[i], "="));

                if (!name)
                        return -ENOMEM;
                if (!reload_has(in, from->items[i]) && !reload_has(names, name)) {
                        int r = strv_push(names, name);
                        if (r < 0)
                                return r;
                }
        }
        return 0;
}

static void find_restart(Reload *l, const Config *fresh) {
        strv_done(&l->restart);
        (void) reload_add_missing(&fresh->daemon, &l->started_with, &l->restart);
        (void) reload_add_missing(&l->started_with, &fresh->daemon, &l->restart);
        for (size_t i = 0; i < l->restart.n; i++)
                log_warning("config: '%s' of the section daemon differs from what was started with, and waits for a restart",
                                l->restart.items[i]);
}

static void on_complaint(const char *text, void *userdata) {
        Reload *l = userdata;

        log_error("%s", text);
        (void) strv_push(&l->complaints, text);
}

/* A missing file is no error if there was none before either. */
static int read_again(Reload *l, Config **ret, Error *reterr) {
        struct stat st;

        if ((!l->path || access(l->path, F_OK) < 0) && !(*l->settings)->path) {
                int r = config_defaults(ret);
                return r < 0 ? error_set(reterr, r, "out of memory") : 0;
        }
        if (stat(l->path, &st) == 0 && !S_ISREG(st.st_mode)) /* a pipe would block the daemon */
                return error_set(reterr, -EINVAL, "'%s' is no regular file", l->path);
        return config_read(l->hooks, l->path, on_complaint, l, ret, reterr);
}

static int reload_fail(Reload *l, int r, const Error *error) {
        l->failed_at = clock_wall_usec();
        if (l->complaints.n > 0)
                (void) error_set(&l->error, r, "%zu %s in '%s': the running configuration stays", l->complaints.n,
                                l->complaints.n == 1 ? "mistake" : "mistakes", l->path);
        else
                (void) error_set(&l->error, r, "%.300s%s: the running configuration stays", error->text,
                                r == -EACCES ? " (the daemon is not root: its user must be able to read it)" : "");
        log_error("config: %s", l->error.text);
        return r;
}

static void reload_replace(Reload *l, Config *fresh) {
        Config *old = *l->settings;

        free(l->changes);
        l->changes = config_diff(old, fresh);
        find_restart(l, fresh);
        *l->settings = fresh;
        l->manager->settings = fresh;
        for (size_t i = 0; i < l->n_listeners; i++)
                l->listeners[i].function(fresh, l->listeners[i].userdata);
        config_free(old);
        log_notice("config reloaded from %s: %s", fresh->path ? fresh->path : "the defaults (there is no file)",
                        l->changes ? l->changes : "out of memory for what changed");
}

static void notify_begin(void) {
        (void) sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%llu", (unsigned long long) clock_usec());
}

int reload_now(Reload *l) {
        Config *fresh = NULL;
        Error error = { 0 };
        int r;

        notify_begin();
        strv_done(&l->complaints);
        r = read_again(l, &fresh, &error);
        if (r < 0)
                r = reload_fail(l, r, &error);
        else {
                l->failed_at = 0;
                l->error = (Error) { 0 };
                reload_replace(l, fresh);
        }
        (void) sd_notify(0, "READY=1");
        return r;
}

void reload_status(const Reload *l, ReloadStatus *ret) {
        *ret = (ReloadStatus) {
                .path = (*l->settings)->path,
                .read_at = (*l->settings)->read_at,
                .failed_at = l->failed_at,
                .error = l->failed_at ? l->error.text : NULL,
                .complaints = &l->complaints,
                .changes = l->changes,
                .restart = &l->restart,
        };
}
