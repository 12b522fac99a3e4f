/* What is kept: names, sizes, slices, room, and what a full disk leaves (item 77). */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "artifact/artifact.h"
#include "core/ledger.h"
#include "base/fd.h"
#include "config/config.h"
#include "core/rows.h"
#include "store/store.h"

typedef struct World {
        char state[512];
        sd_event *event;
        Store *store;
        Access *access;
        Config *settings;
        Manager *manager;
        Artifacts *artifacts;
} World;

static void world_open(World *w, const char *name) {
        static const char *const directories[] = { "", "/run", "/box" };
        ManagerConfig config = { .state_dir = w->state, .sandboxes_max = 10 };
        char path[600];
        Error error = { 0 };

        (void) snprintf(w->state, sizeof(w->state), "%s", unit_path(name));
        for (size_t i = 0; i < ELEMENTSOF(directories); i++) {
                (void) snprintf(path, sizeof(path), "%s%s", w->state, directories[i]);
                (void) mkdir(path, 0700);
        }
        (void) snprintf(path, sizeof(path), "%s/cove.db", w->state);
        check_true("loop", sd_event_new(&w->event) >= 0);
        check_result("store", store_open(path, &w->store, &error), 0);
        check_result("access", access_new(w->store, w->state, &w->access, &error), 0);
        check_result("settings", config_defaults(&w->settings), 0);
        check_result("manager", manager_new(&config, w->settings, w->event, w->store, w->access, &w->manager, &error), 0);
        check_result("artifacts", artifacts_new(w->manager, NULL, &w->artifacts, &error), 0);
}

static void world_close(World *w) {
        w->artifacts = artifacts_free(w->artifacts);
        w->manager = manager_free(w->manager);
        w->settings = config_free(w->settings);
        w->access = access_free(w->access);
        w->store = store_close(w->store);
        w->event = sd_event_unref(w->event);
}

typedef struct Told {
        unsigned n;
        int r;
        Artifact artifact; /* its texts are not kept */
        int fd;
} Told;

static void on_kept(int r, const Artifact *artifact, const char *text, void *userdata) {
        Told *t = userdata;

        t->n++;
        t->r = r;
        if (artifact)
                t->artifact = *artifact;
}

static void on_opened(int fd, const char *text, void *userdata) {
        Told *t = userdata;

        t->n++;
        t->fd = fd;
}

static void run_until(World *w, const unsigned *n, unsigned wanted) {
        usec_t deadline = clock_usec() + 60 * USEC_PER_SEC;

        while (*n < wanted && clock_usec() < deadline)
                check_true("loop", sd_event_run(w->event, USEC_PER_SEC) >= 0);
        check_uint("told", *n, wanted);
}

static Told put(World *w, const char *owner, const char *name, const void *data, size_t size) {
        const ArtifactSpec spec = { .owner_kind = ARTIFACT_OF_AGENT, .owner_id = owner, .name = name, .data = data, .size = size, .fd = -EBADF };
        Error error = { 0 };
        Told t = { 0 };

        check_result(name, artifacts_put(w->artifacts, &spec, on_kept, &t, &error), 0);
        check_uint("not at once", t.n, 0);
        run_until(w, &t.n, 1);
        return t;
}

static char *get(World *w, const char *id, size_t *ret_size) {
        Told t = { 0 };
        Error error = { 0 };
        char *data = malloc(4 << 20);
        ssize_t n;

        check_result("open", artifacts_open(w->artifacts, id, on_opened, &t, &error), 0);
        run_until(w, &t.n, 1);
        check_true("opened", t.fd >= 0);
        n = fd_read_full(t.fd, data, 4 << 20);
        (void) fd_close(t.fd);
        *ret_size = (size_t) n;
        return data;
}

static unsigned count_files(const World *w) {
        char path[600];
        struct dirent *entry;
        unsigned n = 0;
        DIR *d;

        (void) snprintf(path, sizeof(path), "%s/artifacts", w->state);
        d = opendir(path);
        while (d && (entry = readdir(d)))
                n += entry->d_name[0] != '.';
        if (d)
                (void) closedir(d);
        return n;
}

static int count_row(const Artifact *artifact, void *userdata) {
        (*(unsigned *) userdata)++;
        return 0;
}

static unsigned count_rows(World *w, const char *owner) {
        unsigned n = 0;

        check_result("each", artifacts_each(w->artifacts, ARTIFACT_OF_AGENT, owner, 0, 1000, count_row, &n), 0);
        return n;
}

TEST(there_and_back) {
        World w = { 0 };
        size_t size;
        char *data;
        Told t;

        world_open(&w, "memory");
        t = put(&w, "x1", "files/ü/a b.txt", "hello\0there", 11);
        check_result("kept", t.r, 0);
        check_string("hash", t.artifact.sha256, "85ef9e87128ef19cf627c81cd236bd13d57467ac0760dfa3a71291d8fbb97905");
        data = get(&w, t.artifact.id, &size);
        check_uint("size", size, 11);
        check_true("bytes", memcmp(data, "hello\0there", 11) == 0);
        free(data);
        t = put(&w, "x1", "empty", "", 0);
        check_uint("nothing is something too", t.artifact.size, 0);
        check_string("known hash", t.artifact.sha256, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        check_uint("rows", count_rows(&w, "x1"), 2);
        check_uint("deleted", (unsigned) artifacts_delete_owner(w.artifacts, ARTIFACT_OF_AGENT, "x1"), 2);
        check_uint("files", count_files(&w), 0);
        world_close(&w);
}

/* A journal of more than one slice, from an offset, to its end; and more than may be kept. */
TEST(from_a_file) {
        World w = { 0 };
        const size_t size = 1000003;
        char *data = malloc(size), *back;
        ArtifactSpec spec = { .owner_kind = ARTIFACT_OF_AGENT, .owner_id = "x", .name = "log", .size = UINT64_MAX, .offset = 5 };
        Error error = { 0 };
        size_t n;
        Told t = { 0 };

        for (size_t i = 0; i < size; i++)
                data[i] = (char) (i * 7919 >> 3);
        unit_write_file(unit_path("journal"), data, size);
        world_open(&w, "file");
        spec.fd = open(unit_path("journal"), O_RDONLY | O_CLOEXEC);
        check_result("put", artifacts_put(w.artifacts, &spec, on_kept, &t, &error), 0);
        run_until(&w, &t.n, 1);
        back = get(&w, t.artifact.id, &n);
        check_uint("size", n, size - 5);
        check_true("bytes", memcmp(back, data + 5, n) == 0);
        free(back);

        w.settings->artifacts.file_bytes_max = 300000;
        spec.fd = open(unit_path("journal"), O_RDONLY | O_CLOEXEC);
        check_result("too large", artifacts_put(w.artifacts, &spec, on_kept, &t, &error), -EFBIG);
        check_part("says how large it may be", error.text, "300000");
        check_true("its descriptor is closed", fcntl(spec.fd, F_GETFD) < 0);
        spec.fd = open(unit_path("journal"), O_RDONLY | O_CLOEXEC);
        spec.truncate = true;
        check_result("cut", artifacts_put(w.artifacts, &spec, on_kept, &t, &error), 0);
        run_until(&w, &t.n, 2);
        check_true("says so", t.artifact.truncated);
        check_uint("size", t.artifact.size, 300000);
        world_close(&w);
        free(data);
}

TEST(names) {
        static const char *const bad[] = { "", ".", "..", "a/../b", "../x", "a//b", "/etc/passwd", "a/", "a\nb", "a\x7f", "\xff", "a/./b" };
        World w = { 0 };
        char longest[ARTIFACT_NAME_MAX + 2];
        ArtifactSpec spec = { .owner_kind = ARTIFACT_OF_AGENT, .owner_id = "x", .data = "x", .size = 1, .fd = -EBADF };
        Error error = { 0 };

        world_open(&w, "names");
        for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                spec.name = bad[i];
                check_result(bad[i], artifacts_put(w.artifacts, &spec, NULL, NULL, &error), -EINVAL);
        }
        memset(longest, 'n', sizeof(longest));
        longest[sizeof(longest) - 1] = '\0';
        spec.name = longest;
        check_result("too long", artifacts_put(w.artifacts, &spec, NULL, NULL, &error), -EINVAL);
        check_result("as long as may be", put(&w, "x", longest + 1, "x", 1).r, 0);
        check_result("dots in a name", put(&w, "x", "..a/b..", "x", 1).r, 0);
        spec.name = "n";
        spec.owner_id = "";
        check_result("no owner", artifacts_put(w.artifacts, &spec, NULL, NULL, &error), -EINVAL);
        w.settings->artifacts.enabled = false;
        check_result("off", artifacts_put(w.artifacts, &spec, NULL, NULL, &error), -EOPNOTSUPP);
        world_close(&w);
}

/* How many of one owner, those that wait included. */
TEST(how_many) {
        const ArtifactSpec spec = { .owner_kind = ARTIFACT_OF_AGENT, .owner_id = "x", .name = "n", .data = "x", .size = 1, .fd = -EBADF };
        World w = { 0 };
        Error error = { 0 };
        Told t = { 0 };

        world_open(&w, "many");
        w.settings->artifacts.files_max = 3;
        for (unsigned i = 0; i < 3; i++)
                check_result("put", artifacts_put(w.artifacts, &spec, on_kept, &t, &error), 0);
        check_result("one too many", artifacts_put(w.artifacts, &spec, on_kept, &t, &error), -EDQUOT);
        run_until(&w, &t.n, 3);
        check_result("still", artifacts_put(w.artifacts, &spec, on_kept, &t, &error), -EDQUOT);
        check_result("of another", put(&w, "y", "n", "x", 1).r, 0);
        world_close(&w);
}

/* The oldest make room. */
TEST(room) {
        World w = { 0 };
        ArtifactsStats stats;
        char *data = calloc(1, 1000);
        Told first, last = { 0 };
        Artifact found = { 0 };

        world_open(&w, "room");
        w.settings->artifacts.total_bytes = 5000;
        first = put(&w, "x", "n", data, 1000);
        for (unsigned i = 0; i < 7; i++)
                last = put(&w, "x", "n", data, 1000);
        artifacts_stats(w.artifacts, &stats);
        check_uint("bytes", stats.local_bytes, 5000);
        check_uint("evicted", stats.evicted, 3);
        check_uint("files", count_files(&w), 5);
        check_result("the oldest is gone", artifacts_find(w.artifacts, first.artifact.id, &found), -ENOENT);
        check_result("the newest is there", artifacts_find(w.artifacts, last.artifact.id, &found), 0);
        artifact_done(&found);
        world_close(&w);
        free(data);
}

/* … of the tenant that holds most, and of nobody within its share. Also when another daemon has counted. */
TEST(room_of_tenants) {
        ArtifactSpec spec = { .owner_kind = ARTIFACT_OF_AGENT, .owner_id = "mild", .tenant = "mild", .name = "n", .size = 1000, .fd = -EBADF };
        char *data = calloc(1, 1000);
        World w = { 0 };
        Error error = { 0 };
        Told kept = { 0 }, t = { 0 };
        Artifact found = { 0 };

        spec.data = data;
        world_open(&w, "room-of-tenants");
        check_result("put", artifacts_put(w.artifacts, &spec, on_kept, &kept, &error), 0);
        run_until(&w, &kept.n, 1);
        spec.tenant = spec.owner_id = "loud";
        for (unsigned i = 0; i < 9; i++) {
                w.settings->artifacts.total_bytes = 5000;
                check_result("put", artifacts_put(w.artifacts, &spec, on_kept, &t, &error), 0);
                run_until(&w, &t.n, i + 1);
                if (i == 4) {
                        world_close(&w);
                        world_open(&w, "room-of-tenants");
                }
        }
        check_result("the other's is there", artifacts_find(w.artifacts, kept.artifact.id, &found), 0);
        artifact_done(&found);
        check_uint("loud", ledger_of_tenant(w.manager, "loud").amounts[LEDGER_ARTIFACT], 4000);
        check_uint("mild", ledger_of_tenant(w.manager, "mild").amounts[LEDGER_ARTIFACT], 1000);
        check_result("verify", ledger_verify(w.manager, &error), 0);
        world_close(&w);
        free(data);
}

/* A quota with room for one: the second is refused while the first is still being written. */
TEST(two_at_once) {
        ArtifactSpec spec = { .owner_kind = ARTIFACT_OF_AGENT, .owner_id = "a", .tenant = "a", .name = "n", .size = 1000, .fd = -EBADF };
        Tenant tenant = { .name = "a", .disk_bytes_max = 1500, .created_at = 1 };
        char *data = calloc(1, 1000);
        Told first = { 0 }, second = { 0 };
        Error error = { 0 };
        World w = { 0 };

        spec.data = data;
        world_open(&w, "two-at-once");
        check_true("tenant", access_tenant_put(w.access, &tenant, /* inherit= */ false, &error) >= 0);
        check_result("first", artifacts_put(w.artifacts, &spec, on_kept, &first, &error), 0);
        check_result("second", artifacts_put(w.artifacts, &spec, on_kept, &second, &error), -EDQUOT);
        run_until(&w, &first.n, 1);
        check_uint("held", ledger_of_tenant(w.manager, "a").amounts[LEDGER_ARTIFACT], 1000);
        check_result("deleted", artifacts_delete(w.artifacts, first.artifact.id), 0);
        check_uint("nothing is held", ledger_of_tenant(w.manager, "a").amounts[LEDGER_ARTIFACT], 0);
        check_result("put", artifacts_put(w.artifacts, &spec, on_kept, &second, &error), 0);
        check_true("dropped", artifacts_delete_owner(w.artifacts, ARTIFACT_OF_AGENT, "a") >= 0);
        check_uint("nothing is held", ledger_of_tenant(w.manager, "a").amounts[LEDGER_ARTIFACT], 0);
        check_result("verify", ledger_verify(w.manager, &error), 0);
        world_close(&w);
        free(data);
}

/* Whoever has gone is not told; whoever is deleted takes along what waits. */
TEST(forgotten) {
        const ArtifactSpec spec = { .owner_kind = ARTIFACT_OF_AGENT, .owner_id = "x", .name = "n", .data = "x", .size = 1, .fd = -EBADF };
        World w = { 0 };
        Error error = { 0 };
        Told gone = { 0 }, there = { 0 };

        world_open(&w, "forgotten");
        check_result("put", artifacts_put(w.artifacts, &spec, on_kept, &gone, &error), 0);
        artifacts_forget(w.artifacts, &gone);
        check_result("put", artifacts_put(w.artifacts, &spec, on_kept, &there, &error), 0);
        run_until(&w, &there.n, 1);
        check_uint("not told", gone.n, 0);
        check_uint("but kept", count_rows(&w, "x"), 2);
        check_result("put", artifacts_put(w.artifacts, &spec, on_kept, &there, &error), 0);
        check_int("two rows", artifacts_delete_owner(w.artifacts, ARTIFACT_OF_AGENT, "x"), 2);
        check_uint("told at once", there.n, 2);
        check_result("that it will not be", there.r, -ECANCELED);
        check_uint("files", count_files(&w), 0);
        world_close(&w);
}

/* A file that may not grow stands for a full disk: nothing is left of what did not fit. */
static void fill_disk(void *userdata) {
        World w = { 0 };
        struct rlimit limit = { 0 };
        ArtifactsStats stats;
        char *data = calloc(1, 2000000);
        Told t;

        (void) signal(SIGXFSZ, SIG_IGN);
        world_open(&w, "full");
        (void) getrlimit(RLIMIT_FSIZE, &limit);
        limit.rlim_cur = 1000000;
        check_result("limit", setrlimit(RLIMIT_FSIZE, &limit), 0);
        t = put(&w, "x", "n", data, 2000000);
        check_result("told", t.r, -EFBIG);
        check_uint("no row", count_rows(&w, "x"), 0);
        check_uint("no file", count_files(&w), 0);
        artifacts_stats(w.artifacts, &stats);
        check_part("visible", stats.last_error, "File too large");
        check_result("others go on", put(&w, "x", "n", data, 1000).r, 0);
        world_close(&w);
        free(data);
}

TEST(full_disk) {
        unit_run_in_child(fill_disk, NULL);
}
