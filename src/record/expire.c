/* expire.c: removes recordings of ended sandboxes by their age, counted from the last line, and to make room. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/fd.h"
#include "base/id.h"
#include "base/log.h"
#include "config/config.h"
#include "record/internal.h"

#define INTERVAL (60 * USEC_PER_SEC)
#define AT_ONCE  16

static int expire_remove_files(int dirfd) {
        _cleanup_directory_ DIR *directory = directory_open(dirfd, ".");
        const struct dirent *entry;
        int r = directory ? 0 : -errno;

        while ((entry = directory_next(directory)))
                if (unlinkat(dirfd, entry->d_name, 0) < 0)
                        r = -errno;
        return r;
}

int record_remove(Recorder *r, const char *id) {
        _cleanup_close_ int fd = recording_open_dir(r, id);
        Recording *found = recording_find(r, id);
        int k = fd < 0 ? fd : expire_remove_files(fd);

        if (k >= 0)
                k = unlinkat(r->dirfd, id, AT_REMOVEDIR) < 0 ? -errno : 0;
        if (found && k >= 0)
                recording_free(r, found); /* otherwise its remains are still charged */
        return k;
}

/* Room. */

static Recording *record_expire_owner(const LedgerEntry *e) {
        return (Recording *) (void *) ((char *) e - offsetof(Recording, charge));
}

static unsigned record_expire_rank(const LedgerEntry *e) {
        return record_expire_owner(e)->is_over ? 1 : 0;
}

/* Stops when a recording cannot be removed: the others could not be either. */
void record_make_room(Recorder *r, const Recording *spare, uint64_t more) {
        uint64_t total = r->manager->settings->recording.total_bytes, budget = total - MIN_OF(more, total);
        const LedgerEntry *e;
        int k = 0;

        if (total == 0 || r->manager->recovering || ledger_total(r->manager, LEDGER_RECORDING) <= budget)
                return;
        for (Recording *recording = r->recordings; recording; recording = recording->hh.next) {
                const Sandbox *sb = manager_by_id(r->manager, recording->id);

                recording->is_over = recording != spare && (!sb || sandbox_status_is_ended(sb->status)) && !record_is_busy(r, recording->id);
        }
        while (k >= 0 && (e = ledger_victim(r->manager, LEDGER_RECORDING, budget, record_expire_rank))) {
                char id[SANDBOX_ID_LENGTH + 1];

                memcpy(id, record_expire_owner(e)->id, sizeof(id));
                log_debug("sandbox %s: its recording is removed to make room", id);
                k = record_remove(r, id);
        }
        if (k < 0)
                log_warning("a recording cannot be removed to make room, ignoring: %s", strerror(-k));
}

static bool expire_is_over(Recorder *r, const char *id, usec_t before) {
        _cleanup_close_ int fd = recording_open_dir(r, id);
        const Sandbox *sb = manager_by_id(r->manager, id);
        struct stat st;

        if (sb && !sandbox_status_is_ended(sb->status))
                return false;
        if (fd < 0 || (fstatat(fd, "log", &st, AT_SYMLINK_NOFOLLOW) < 0 && fstat(fd, &st) < 0))
                return false;
        return (usec_t) st.st_mtim.tv_sec * USEC_PER_SEC + (usec_t) st.st_mtim.tv_nsec / 1000 < before;
}

static size_t remove_old(Recorder *r, usec_t before) {
        _cleanup_directory_ DIR *directory = directory_open(r->dirfd, ".");
        const struct dirent *entry;
        size_t n = 0;

        while (n < AT_ONCE && (entry = directory_next(directory))) {
                int k;

                if (!id_is_valid(entry->d_name) || !expire_is_over(r, entry->d_name, before))
                        continue;
                k = record_remove(r, entry->d_name);
                if (k < 0)
                        log_warning("cannot remove the recording of sandbox %s, ignoring: %s", entry->d_name, strerror(-k));
                else
                        n++;
        }
        return n;
}

static int record_expire_on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        Recorder *r = userdata;
        usec_t keep = r->manager->settings->recording.keep_usec, now = clock_wall_usec(), pause = INTERVAL;

        if (keep > 0 && now > keep && !r->manager->recovering && manager_trusts_calendar(r->manager) && remove_old(r, now - keep) == AT_ONCE)
                pause = 0;
        if (keep > 0 && keep < pause)
                pause = MAX_OF(keep, USEC_PER_SEC);
        record_make_room(r, /* spare= */ NULL, /* more= */ 0);
        (void) sd_event_source_set_time_relative(source, pause);
        return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

int record_expire_start(Recorder *r, Error *reterr) {
        int k = sd_event_add_time_relative(r->manager->event, &r->expire, CLOCK_MONOTONIC, USEC_PER_SEC, 0, record_expire_on_timer, r);

        return k < 0 ? error_set(reterr, k, "cannot add recordings to the loop: %s", strerror(-k)) : 0;
}
