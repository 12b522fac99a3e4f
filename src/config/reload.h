/* reload.h: reads cove.yaml again while the daemon runs.
 *
 * On SIGHUP, or when an admin asks for it, the file is read and checked. If all of it is valid, it replaces the old
 * settings as a whole (Manager.settings), the registered callbacks are called, and the old settings are freed.
 * Otherwise nothing changes, and every complaint is logged. It is an error to keep a pointer into the settings beyond
 * one's own call.
 * The daemon is not root any more at that time: a file that only root can read works at the start and fails here.
 * Options of the section `daemon` are read at the start only; those that differ by now are named.
 * Must not know: what the settings mean. */
#pragma once

#include "config/config.h"
#include "core/manager.h"

typedef struct Reload Reload;

/* settings: where the owner keeps the current ones; replaced together with m->settings. path: the file. If the daemon
 * started without a file, it may be missing, and the defaults apply. NULL: there is never a file. */
int reload_new(Manager *m, const ConfigHooks *hooks, const char *path, Config **settings, Reload **ret);
Reload *reload_free(Reload *l);

/* Registers a function that is called after each change, with the new settings in place. */
typedef void (*ReloadTold)(const Config *settings, void *userdata);
int reload_add(Reload *l, ReloadTold function, void *userdata);

typedef struct ReloadStatus {
        const char *path;        /* NULL: there is no file */
        usec_t read_at;          /* wall clock, of the settings that are in force */
        usec_t failed_at;        /* wall clock, if the last reload failed; 0: it succeeded */
        const char *error;       /* then: what was wrong, in one sentence */
        const Strv *complaints;  /* then: all complaints, as "FILE:LINE:COLUMN: text"; may be empty */
        const char *changes;     /* what the last successful reload changed, for a person; NULL: there was none yet */
        const Strv *restart;     /* options of the section `daemon` that wait for a restart */
} ReloadStatus;

/* Negative: nothing was changed, and the status says why. Logs. */
int reload_now(Reload *l);
void reload_status(const Reload *l, ReloadStatus *ret);
