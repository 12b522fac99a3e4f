/* pressure.c: frees resources when the machine runs short.
 *
 * Memory is measured by MemAvailable, disk by the file system of the state directory, places by the cap on sandboxes,
 * and stalls for lack of memory by PSI where the kernel has it. Beyond the configured limit a run ends sandboxes,
 * oldest first, until it is enough: first idle pooled ones, then agents' sandboxes in which nothing runs. If the disk
 * is short, it deletes records of ended sandboxes before those. `critical` and plain sandboxes stay.
 * A run that did not help is not repeated at once: each time that there is still pressure after a run, the pause before
 * the next one doubles. */

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "core/admission.h"
#include "core/tally.h"
#include "reaper/internal.h"

#define AT_ONCE   4
#define QUIET_MAX (600 * USEC_PER_SEC)

static int pressure_read_text(const char *path, char *buffer, size_t size) {
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, buffer, size - 1);

        if (n < 0)
                return -errno;
        buffer[n] = '\0';
        return 0;
}

static double pressure_memory_usage(void) {
        char text[4096];
        unsigned long long total = 0, available = 0;
        const char *t, *a;

        if (pressure_read_text("/proc/meminfo", text, sizeof(text)) < 0)
                return NAN;
        t = strstr(text, "MemTotal:");
        a = strstr(text, "MemAvailable:");
        if (!t || !a || sscanf(t, "MemTotal: %llu", &total) != 1 || sscanf(a, "MemAvailable: %llu", &available) != 1 || total == 0)
                return NAN;
        return 1 - (double) available / (double) total;
}

/* Like df(1): space that only root may use does not count as free. */
static double pressure_disk_usage(const char *path) {
        struct statvfs fs;
        double used, usable;

        if (statvfs(path, &fs) < 0 || fs.f_blocks == 0)
                return NAN;
        used = (double) (fs.f_blocks - fs.f_bfree);
        usable = used + (double) fs.f_bavail;
        return usable > 0 ? used / usable : 1;
}

static double memory_stall(void) {
        char text[512];
        const char *full;
        double value;

        if (pressure_read_text("/proc/pressure/memory", text, sizeof(text)) < 0)
                return NAN;
        full = strstr(text, "full avg10=");
        return full && sscanf(full, "full avg10=%lf", &value) == 1 ? value : NAN;
}

/* Without sandboxes that are ending, which free their places in a moment. */
static uint64_t live(const Manager *m) {
        TallySums all = tally_of_all(m);

        return all.live - MIN_OF(all.live, all.n_by_status[SANDBOX_TERMINATING]);
}

void pressure_read(const Manager *m, PressureStatus *ret) {
        unsigned places = m->admission ? admission_cap(m->admission) : m->config.sandboxes_max;

        *ret = (PressureStatus) {
                .memory_usage = pressure_memory_usage(),
                .disk_usage = pressure_disk_usage(m->config.state_dir),
                .places_usage = places > 0 ? (double) live(m) / places : NAN,
                .psi = memory_stall(),
        };
}

bool pressure_is_over(const Config *c, PressureStatus *p) {
        const struct {
                const char *what;
                double value, limit;
                const char *unit;
        } all[] = {
                { "memory in use",           100 * p->memory_usage, 100 * c->cleanup.pressure_usage, "%" },
                { "disk in use",             100 * p->disk_usage,   100 * c->cleanup.pressure_usage, "%" },
                { "places for sandboxes in use", 100 * p->places_usage, 100 * c->cleanup.pressure_usage, "%" },
                { "time stalled on memory",  p->psi,                c->cleanup.pressure_psi,         "%" },
        };

        p->over = false;
        p->text[0] = '\0';
        for (size_t i = 0; i < ELEMENTSOF(all) && !p->over; i++)
                if (all[i].limit > 0 && all[i].value > all[i].limit) { /* never true of NAN */
                        (void) snprintf(p->text, sizeof(p->text), "%s: %.1f%s, more than %.1f%s", all[i].what, all[i].value, all[i].unit,
                                        all[i].limit, all[i].unit);
                        p->over = true;
                }
        return p->over;
}

/* The order of ending, cheapest first. 0: never. */
static unsigned rank(const Sandbox *sb, bool disk) {
        if (sandbox_status_is_ended(sb->status))
                return disk ? 1 : 0;
        if (sb->spec.critical || sb->n_alive > 0 || sb->status == SANDBOX_INITIALIZING || sb->status == SANDBOX_TERMINATING)
                return 0;
        if (sb->pooled)
                return 2;
        return sandbox_is_agents(sb) ? 3 : 0;
}

#define RANKS 4

void pressure_scan(ReaperRun *run) {
        Manager *m = run->reaper->manager;
        PressureStatus *p = &run->reaper->pressure;
        bool disk = p->disk_usage > m->settings->cleanup.pressure_usage;
        char text[CLEANUP_TEXT_MAX];

        (void) snprintf(text, sizeof(text), "pressure: %.200s", p->text);
        for (unsigned wanted = 1; wanted < RANKS; wanted++)
                for (size_t i = 0; i < run->n_records; i++) {
                        const Sandbox *sb = sandbox_unless_gone(run->records[i]);

                        if (!sb || rank(sb, disk) != wanted)
                                continue;
                        if (run->report.n_items < run->n_max)
                                (void) sweep_run_add(run, sb->id, RULE_PRESSURE, text);
                        else
                                run->report.counts.deferred++;
                }
        run->report.counts.scanned = run->n_records;
        run->next_record = run->n_records;
}

int pressure_next(ReaperRun *run) {
        Reaper *r = run->reaper;

        if (run->n_pending >= AT_ONCE)
                return -EAGAIN;
        pressure_read(r->manager, &r->pressure);
        return pressure_is_over(r->manager->settings, &r->pressure);
}

/* After a run: checks whether it has helped. */
void pressure_after(Reaper *r, const ReaperRun *run) {
        usec_t interval = MAX_OF(r->manager->settings->cleanup.pressure_interval_usec, USEC_PER_MSEC);

        pressure_read(r->manager, &r->pressure);
        if (!pressure_is_over(r->manager->settings, &r->pressure)) {
                r->pressure_quiet = 0;
                return;
        }
        r->pressure_quiet = r->pressure_quiet == 0 ? 2 * interval : MIN_OF(2 * r->pressure_quiet, MAX_OF(QUIET_MAX, interval));
        r->pressure_quiet_until = clock_usec() + r->pressure_quiet;
}
