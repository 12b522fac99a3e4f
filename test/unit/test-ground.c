/* What a sandbox stands on: which words a request may use for it. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>

#include "spawner/ground.h"

static SpawnCreate with_volumes(const char *first, const char *second) {
        const char *const targets[] = { first, second };
        SpawnCreate q = { 0 };

        for (size_t i = 0; i < 2 && targets[i]; i++) {
                SpawnVolume *v = &q.volumes[q.n_volumes++];

                (void) snprintf(v->name, sizeof(v->name), "v%zu", i);
                (void) snprintf(v->target, sizeof(v->target), "%s", targets[i]);
        }
        return q;
}

TEST(where_a_volume_may_be) {
        static const struct {
                const char *first, *second;
                int result;
        } cases[] = {
                { "/data",         NULL,         0       },
                { "/data",         "/date",      0       },
                { "/a/b",          "/a/c",       0       },
                { "/",             NULL,         -EINVAL },
                { "",              NULL,         -EINVAL },
                { "data",          NULL,         -EINVAL },
                { "/data/",        NULL,         -EINVAL },
                { "/a/../b",       NULL,         -EINVAL },
                { "/a//b",         NULL,         -EINVAL },
                { "/proc",         NULL,         -EINVAL },
                { "/proc/1",       NULL,         -EINVAL },
                { "/dev/shm",      NULL,         -EINVAL },
                { "/sys",          NULL,         -EINVAL },
                { "/processes",    NULL,         0       },
                { "/data",         "/data",      -EINVAL },
                { "/data",         "/data/in",   -EINVAL },
                { "/data/in",      "/data",      -EINVAL },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                SpawnCreate q = with_volumes(cases[i].first, cases[i].second);
                Error error = { 0 };

                check_result(cases[i].first, ground_check(&q, /* privileged= */ true, &error), cases[i].result);
        }
}

TEST(names_are_names_and_never_paths) {
        SpawnCreate q = with_volumes("/data", NULL), layer = { .layer = "../disk" }, kept = { .kept = true };
        Error error = { 0 };

        check_result("one", ground_check(&q, true, &error), 0);
        (void) snprintf(q.volumes[0].name, sizeof(q.volumes[0].name), "../disk/x");
        check_result("a path", ground_check(&q, true, &error), -EINVAL);
        check_result("a layer's too", ground_check(&layer, true, &error), -EINVAL);
        check_result("a plain user", ground_check(&kept, false, &error), -EOPNOTSUPP);
        check_result("nothing asked", ground_check(&(SpawnCreate) { 0 }, false, &error), 0);
}

TEST(what_is_not_there_is_refused_and_leaves_no_descriptor) {
        const Depot none = DEPOT_EMPTY;
        SpawnCreate q = with_volumes("/data", NULL);
        JailTrees trees = JAIL_TREES_EMPTY;
        Error error = { 0 };

        q.kept = true;
        check_true("refused", ground_open(&none, &q, &trees, &error) < 0);
        check_true("says why", error.text[0] != '\0');
        check_uint("nothing", trees.n_volumes, 0);
        check_true("nothing", trees.disk_fd < 0 && trees.layer_fd < 0);
}
