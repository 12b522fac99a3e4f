/* reload.h: cove.yaml, read again while the daemon runs.
 *
 * On SIGHUP or when an admin asks: the file is read and checked; if all of it is good, it takes the place of the old settings as a
 * whole (Manager.settings), everybody who wants to know is told, and the old ones are freed. Otherwise nothing changes, and every
 * complaint is in the log. Who keeps something of the settings beyond its own call has a mistake.
 * The daemon is no longer root then: a file that only root can read was good for the start and is not for this.
 * Options of the section `daemon` are taken at the start only; those that differ by now are named.
 * Must not know: what the settings mean. */
#pragma once

#include "config/config.h"
#include "core/manager.h"

typedef struct Reload Reload;

/* settings: where the owner of the current ones keeps them; replaced along with m->settings. path: what is read; there need be no such
 * file as long as there was none at the start. NULL: there is no place for one. */
int reload_new(Manager *m, const ConfigHooks *hooks, const char *path, Config **settings, Reload **ret);
Reload *reload_free(Reload *l);

/* To be called after each change, with the new settings in place. */
typedef void (*ReloadTold)(const Config *settings, void *userdata);
int reload_add(Reload *l, ReloadTold function, void *userdata);

typedef struct ReloadStatus {
        const char *path;        /* NULL: there is no file */
        usec_t read_at;          /* wall clock, of the settings that are in force */
        usec_t failed_at;        /* of the last attempt; 0: it was good */
        const char *error;       /* then: what was wrong, in one sentence */
        const Strv *complaints;  /* then: all, as "FILE:LINE:COLUMN: text"; may be empty */
        const char *changes;     /* what the last good one changed, for a person; NULL: there was none yet */
        const Strv *restart;     /* options of the section `daemon` that wait for a restart */
} ReloadStatus;

/* Negative: nothing has changed, the status says why. Logs. */
int reload_now(Reload *l);
void reload_status(const Reload *l, ReloadStatus *ret);
