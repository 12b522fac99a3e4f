/* The descriptors of the daemon, shared out. */
#include "unit.h"

#include <errno.h>

#include "base/files.h"

TEST(the_sum_fits) {
        for (size_t all = 1; all <= 70000; all += all < 2000 ? 1 : 997)
                for (unsigned live = 0; live <= 12000; live = live * 3 + 1) {
                        FilesShare share = { 0 };
                        Error error = { 0 };
                        int r = files_share(all, live, 10000, 4096, &share, &error);

                        if (r < 0) {
                                check_result("refused", r, -EMFILE);
                                check_part("the cure", error.text, "raise the limit of open files");
                                continue;
                        }
                        check_true("who is there stays", share.reserve >= 2 * (size_t) live);
                        check_true("sandboxes", share.sandboxes_max > 0 && share.sandboxes_max <= 10000);
                        check_true("connections", share.connections_max >= 8 && share.connections_max <= 4096);
                        check_true("the reserve has room for all of them", share.reserve >= 2 * (size_t) share.sandboxes_max + 32);
                        check_true("the rest has room for the connections", all - share.reserve >= 7 * (size_t) share.connections_max + 40);
                }
}

TEST(what_is_configured_is_kept_where_it_fits) {
        FilesShare share;

        check_result("large", files_share(65536, 100, 10000, 4096, &share, NULL), 0);
        check_uint("sandboxes", share.sandboxes_max, 10000);
        check_uint("connections", share.connections_max, 4096);
        check_result("small", files_share(600, 3, 10000, 4096, &share, NULL), 0);
        check_true("sandboxes", share.sandboxes_max >= 100);
        check_true("connections", share.connections_max >= 30 && share.connections_max < 150);
        check_result("too small for who is there", files_share(600, 300, 10000, 4096, &share, NULL), -EMFILE);
}
