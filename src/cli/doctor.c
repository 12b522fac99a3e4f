/* cove doctor: tries every guard for real, and prints the cure for each that is missing. */

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/json.h"
#include "base/log.h"
#include "cli/basis.h"
#include "cli/criu.h"
#include "cli/limits.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "cli/zygote.h"
#include "depot/depot.h"
#include "jail/probe.h"

#define STATE_PARENT  "/var/lib" /* the default place of a state directory */
#define DEPOT_NAME    "depot"
#define DEPOT_PURPOSE "keeps templates; with btrfs also disks, snapshots, volumes"

#define PURPOSE_COLUMN   16
#define WIDTH_OF_COLUMNS 120 /* narrower windows get the details behind the purposes, with breaks between words */

typedef struct DoctorOptions {
        bool json, help;
        uint32_t sandboxes;
} DoctorOptions;

static const Option doctor_options[] = {
        { "json", 0, NULL, "print the result as JSON", OPTION_FLAG(DoctorOptions, json) },
        { "sandboxes", 0, "N", "check whether the machine's limits suffice for so many idle sandboxes\nof root's daemon (default 10000)", OPTION_NUMBER32(DoctorOptions, sandboxes, 1, 49151) },
        { "help", 'h', NULL, "print this", OPTION_FLAG(DoctorOptions, help) },
};

static const char *const cgroup_names[] = {
        [CGROUP_NONE] = "none",
        [CGROUP_V1] = "v1",
        [CGROUP_V2] = "v2",
};

static const char *const level_words[_PROBE_LEVEL_MAX] = {
        [PROBE_FULL] = "every guard can be raised",
        [PROBE_PARTIAL] = "cove run works; the kernel does not have the rest",
        [PROBE_ROOTLESS] = "cove run works; a plain user cannot have the rest",
        [PROBE_REDUCED] = "cove run works only with --allow-missing for what is missing",
        [PROBE_NONE] = "no sandbox can be made here",
};

static int exit_status(const Probe *p) {
        return p->level == PROBE_FULL ? 0 : p->level == PROBE_NONE ? 2 : 1;
}

/* Breaks the text between words; its lines begin at the indent. */
static void print_wrapped(const char *text, size_t indent, size_t width) {
        size_t column = indent;

        while (*text) {
                size_t n = strcspn(text, " ");

                if (column > indent && column + 1 + n > width) {
                        printf("\n%*s", (int) indent, "");
                        column = indent;
                }
                printf("%s%.*s", column > indent ? " " : "", (int) n, text);
                column += n + (column > indent);
                text += n + strspn(text + n, " ");
        }
        putchar('\n');
}

static void print_finding(const Finding *f, const char *name, const char *purpose) {
        bool colour = isatty(STDOUT_FILENO);
        size_t width = colour ? terminal_size().ws_col : SIZE_MAX;
        char text[sizeof(f->detail) + 128];

        printf("%s%s%s %-13s ", colour ? (f->ok ? "\033[32m" : "\033[31m") : "", f->ok ? "✓" : "✗", colour ? "\033[0m" : "", name);
        if (width >= WIDTH_OF_COLUMNS)
                printf("%-60s %s\n", purpose, f->detail);
        else {
                (void) snprintf(text, sizeof(text), "%s: %s", purpose, f->detail);
                print_wrapped(text, PURPOSE_COLUMN, width);
        }
        if (!f->ok && f->cure[0]) {
                printf("%*scure: ", PURPOSE_COLUMN, "");
                print_wrapped(f->cure, PURPOSE_COLUMN + strlen("cure: "), width);
        }
}

/* The depot is not a guard, so it does not affect the level. The cure is the text in the last parentheses of
 * the reason. */
static Finding probe_depot(const Probe *p) {
        Depot d = { .backing = DEPOT_NONE, .fd = -EBADF, .reason = "a plain user's daemon has none (start `cove serve` as root)" };
        Finding f = { 0 };
        char *cure;

        if (p->privileged)
                depot_probe(&d, STATE_PARENT);
        f.ok = d.backing == DEPOT_BTRFS;
        cure = strrchr(d.reason, '(');
        if (cure && cure > d.reason) {
                (void) snprintf(f.cure, sizeof(f.cure), "%.*s", (int) strcspn(cure + 1, ")"), cure + 1);
                cure[-1] = '\0';
        }
        if (f.ok)
                (void) snprintf(f.detail, sizeof(f.detail), "%s: takes 2G of the disk when the first is made, and grows as needed to at most %lluG (storage.reserve, storage.size)",
                                depot_backing_name(d.backing), (unsigned long long) (depot_probe_most(STATE_PARENT) >> 30));
        else
                (void) snprintf(f.detail, sizeof(f.detail), "%s%s%.200s", depot_backing_name(d.backing), d.reason[0] ? ": " : "", d.reason);
        return f;
}

static void doctor_print_limits(const Probe *p, unsigned sandboxes) {
        printf("\nlimits, for %u sandboxes\n", sandboxes);
        for (size_t i = 0; i < limits_n; i++) {
                const Finding f = limits_find(i, sandboxes, p->privileged);

                print_finding(&f, limits_name(i), limits_purpose(i));
        }
}

static void doctor_print_table(const Probe *p, const struct utsname *host, unsigned sandboxes) {
        const Finding depot = probe_depot(p);
        const Finding criu = probe_criu();
        const Finding zygote = probe_zygote(p->privileged);

        printf("kernel %s, %s, cgroup %s\n\n", host->release, p->privileged ? "root" : "plain user",
                        cgroup_names[p->cgroup]);
        for (Guard g = 0; g < _GUARD_MAX; g++)
                print_finding(p->guards + g, guard_name(g), guard_purpose(g));
        printf("\nnetworks\n");
        for (SpawnNetwork n = 0; n < _SPAWN_NETWORK_MAX; n++)
                print_finding(p->networks + n, probe_network_name(n), probe_network_purpose(n));
        printf("\nstorage\n");
        print_finding(&depot, DEPOT_NAME, DEPOT_PURPOSE);
        printf("\nprocesses\n");
        print_finding(&criu, CRIU_NAME, CRIU_PURPOSE);
        print_finding(&zygote, ZYGOTE_NAME, ZYGOTE_PURPOSE);
        doctor_print_limits(p, sandboxes);
        printf("\ntemplate base\n");
        for (size_t i = 0; i < basis_n_items; i++) {
                const Finding f = basis_find(basis_items + i, /* root= */ "");

                print_finding(&f, basis_items[i].name, basis_items[i].purpose);
        }
        printf("\nlevel: %s (%s)\n", probe_level_name(p->level), level_words[p->level]);
}

static void write_finding(JsonWriter *w, const Finding *f, const char *name, const char *purpose) {
        json_begin_object(w, /* key= */ NULL);
        json_write_string(w, "name", name);
        json_write_bool(w, "ok", f->ok);
        json_write_string(w, "purpose", purpose);
        json_write_string(w, "detail", f->detail);
        json_write_string(w, "cure", f->cure[0] ? f->cure : NULL);
        json_end_object(w);
}

static void doctor_write_limits(JsonWriter *w, const Probe *p, unsigned sandboxes) {
        json_begin_list(w, "limits");
        for (size_t i = 0; i < limits_n; i++) {
                const Finding f = limits_find(i, sandboxes, p->privileged);

                write_finding(w, &f, limits_name(i), limits_purpose(i));
        }
        json_end_list(w);
}

static int doctor_print_json(const Probe *p, const struct utsname *host, unsigned sandboxes) {
        const Finding depot = probe_depot(p);
        const Finding criu = probe_criu();
        const Finding zygote = probe_zygote(p->privileged);
        JsonWriter w = { 0 };

        json_begin_object(&w, /* key= */ NULL);
        json_write_string(&w, "level", probe_level_name(p->level));
        json_write_string(&w, "kernel", host->release);
        json_write_bool(&w, "privileged", p->privileged);
        json_write_string(&w, "cgroup", cgroup_names[p->cgroup]);
        json_begin_list(&w, "guards");
        for (Guard g = 0; g < _GUARD_MAX; g++)
                write_finding(&w, p->guards + g, guard_name(g), guard_purpose(g));
        json_end_list(&w);
        json_begin_list(&w, "networks");
        for (SpawnNetwork n = 0; n < _SPAWN_NETWORK_MAX; n++)
                write_finding(&w, p->networks + n, probe_network_name(n), probe_network_purpose(n));
        json_end_list(&w);
        json_begin_list(&w, "storage");
        write_finding(&w, &depot, DEPOT_NAME, DEPOT_PURPOSE);
        json_end_list(&w);
        json_begin_list(&w, "processes");
        write_finding(&w, &criu, CRIU_NAME, CRIU_PURPOSE);
        write_finding(&w, &zygote, ZYGOTE_NAME, ZYGOTE_PURPOSE);
        json_end_list(&w);
        doctor_write_limits(&w, p, sandboxes);
        json_begin_list(&w, "base");
        for (size_t i = 0; i < basis_n_items; i++) {
                const Finding f = basis_find(basis_items + i, /* root= */ "");

                write_finding(&w, &f, basis_items[i].name, basis_items[i].purpose);
        }
        json_end_list(&w);
        json_end_object(&w);
        return json_finish(&w, STDOUT_FILENO);
}

int verb_doctor(int argc, char **argv) {
        DoctorOptions o = { .sandboxes = LIMITS_SANDBOXES };
        Error error = { 0 };
        struct utsname host;
        Probe p;
        int i;

        i = options_parse(doctor_options, ELEMENTSOF(doctor_options), argc, argv, &o, &error);
        if (i >= 0 && i < argc)
                i = error_set(&error, -EINVAL, "cove doctor takes no argument, got '%s'", argv[i]);
        if (i < 0) {
                log_error("%s", error.text);
                return EXIT_OWN_FAILURE;
        }
        if (o.help) {
                printf("usage: cove doctor [--json] [--sandboxes N]\n\n"
                       "Tries every guard and every network on this host, and shows what is missing and how to get it.\n\noptions:\n");
                options_print(doctor_options, ELEMENTSOF(doctor_options));
                printf("\nexit status: 0 every guard can be raised, 1 some cannot, 2 no sandbox can be made here.\n");
                return 0;
        }

        probe_host(&p);
        (void) uname(&host);
        if (!o.json)
                doctor_print_table(&p, &host, o.sandboxes);
        else if (doctor_print_json(&p, &host, o.sandboxes) < 0)
                return EXIT_OWN_FAILURE;
        return exit_status(&p);
}
