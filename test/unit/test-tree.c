/* cove-tree's small parts: names, options, users, compression, what was seen. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "tree/accounts.h"
#include "tree/attributes.h"
#include "tree/codec.h"
#include "base/links.h"
#include "tree/listing.h"
#include "tree/options.h"
#include "tree/patch.h"
#include "tree/place.h"
#include "tree/seen.h"
#include "tree/tree.h"

TEST(names_are_cleaned) {
        static const struct {
                const char *name, *clean;
                int result;
        } cases[] = {
                { "a/b", "a/b", 0 },           { "/a//b/", "a/b", 0 },    { "./a/./b/.", "a/b", 0 }, { "", "", 0 },          { "/", "", 0 },
                { ".", "", 0 },                { "./", "", 0 },           { "..", NULL, -EXDEV },    { "a/..", NULL, -EXDEV }, { "/../x", NULL, -EXDEV },
                { "a/../b", NULL, -EXDEV },    { "..a/b..", "..a/b..", 0 }, { "...", "...", 0 },     { ".wh.x", ".wh.x", 0 },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                char path[64];
                int r;

                (void) strcpy(path, cases[i].name);
                r = place_clean(path);
                check_result(cases[i].name, r, cases[i].result);
                if (r >= 0)
                        check_string(cases[i].name, path, cases[i].clean);
        }
}

TEST(names_have_a_length) {
        static char path[5000];

        memset(path, 'a', 255);
        check_result("255", place_clean(path), 0);
        path[255] = 'a';
        check_result("256", place_clean(path), -ENAMETOOLONG);
        for (size_t i = 0; i < 4095; i += 2) {
                path[i] = 'a';
                path[i + 1] = '/';
        }
        path[4095] = '\0';
        check_result("PATH_MAX", place_clean(path), 0);
        memset(path, '/', 4999);
        check_result("beyond", place_clean(path), -ENAMETOOLONG);
}

TEST(parents_stay_below) {
        _cleanup_close_ int tree = -EBADF;
        const char *name;
        Error error;
        Places p;
        int fd;

        check_int("tree", mkdir(unit_path("tree"), 0755), 0);
        check_int("outside", mkdir(unit_path("outside"), 0755), 0);
        check_int("link", symlink("../outside", unit_path("tree/up")), 0);
        check_int("link", symlink("/deep/er", unit_path("tree/abs")), 0);
        check_int("link", symlink("around", unit_path("tree/around")), 0);
        tree = open(unit_path("tree"), O_PATH | O_DIRECTORY | O_CLOEXEC);
        places_init(&p, tree);

        fd = places_parent(&p, "up/x", /* make= */ false, &name, &error);
        check_result("not there, and not made", fd, -ENOENT);
        fd = places_parent(&p, "up/x", /* make= */ true, &name, &error);
        check_result("a link that leads up and out is no way", fd, -ENOTDIR);
        fd = places_parent(&p, "abs/x/y", /* make= */ true, &name, &error);
        check_true("made", fd >= 0);
        check_string("name", name, "y");
        check_int("below the tree", access(unit_path("tree/deep/er/x"), F_OK), 0);
        check_int("not outside", access(unit_path("outside/x"), F_OK), -1);
        fd = places_parent(&p, "around/x", /* make= */ true, &name, &error);
        check_result("in a circle", fd, -ELOOP);
        fd = places_parent(&p, "", /* make= */ false, &name, &error);
        check_true("the top", fd >= 0);
        check_string("the top", name, ".");
        places_done(&p);
}

static bool keeps(const struct stat *directory, const char *name, void *userdata) {
        return seen_has(userdata, directory, name);
}

TEST(removal_spares_what_is_kept) {
        _cleanup_close_ int tree = -EBADF;
        struct stat st;
        Seen seen;

        check_int("d", mkdir(unit_path("remove"), 0755), 0);
        check_int("d", mkdir(unit_path("remove/d"), 0755), 0);
        check_int("d", mkdir(unit_path("remove/d/e"), 0755), 0);
        unit_write_text(unit_path("remove/d/e/kept"), "");
        unit_write_text(unit_path("remove/d/gone"), "");
        check_int("link", symlink("..", unit_path("remove/d/up")), 0);
        seen_init(&seen);
        check_int("e", stat(unit_path("remove/d/e"), &st), 0);
        check_int("seen", seen_add(&seen, &st, "kept"), 0);
        check_true("seen", seen_has(&seen, &st, "kept") && !seen_has(&seen, &st, "other"));
        tree = open(unit_path("remove"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        check_result("with one kept", place_remove(tree, "d", keeps, &seen), 0);
        check_int("kept", access(unit_path("remove/d/e/kept"), F_OK), 0);
        check_int("gone", access(unit_path("remove/d/gone"), F_OK), -1);
        check_result("all of it", place_remove(tree, "d", NULL, NULL), 0);
        check_result("none", place_remove(tree, "d", NULL, NULL), -ENOENT);
        check_int("nothing above", access(unit_path("remove"), F_OK), 0);
        seen_done(&seen);
}

TEST(many_are_seen) {
        struct stat st = { .st_ino = 5, .st_dev = 6 }, other = { .st_ino = 6, .st_dev = 6 };
        char name[32];
        Seen s;

        seen_init(&s);
        for (int i = 0; i < 20000; i++) {
                (void) snprintf(name, sizeof(name), "f%d", i);
                check_result("add", seen_add(&s, &st, name), 0);
                check_result("add twice", seen_add(&s, &st, name), 0);
        }
        check_uint("once each", s.names.n, 20000);
        for (int i = 0; i < 20000; i++) {
                (void) snprintf(name, sizeof(name), "f%d", i);
                check_true("there", seen_has(&s, &st, name));
                check_true("in another directory", !seen_has(&s, &other, name));
        }
        seen_done(&s);
}

TEST(links_have_a_first_name) {
        Links l = { 0 };
        const char *first;
        char name[32];

        for (ino_t i = 0; i < 2000; i++) {
                struct stat st = { .st_ino = i, .st_nlink = 2 };

                (void) snprintf(name, sizeof(name), "f%d", (int) i);
                check_result("first", links_first(&l, &st, name, &first), 0);
                check_true("first", !first);
                check_result("second", links_first(&l, &st, "x", &first), 0);
                check_string("second", first, name);
        }
        check_result("one name", links_first(&l, &(struct stat) { .st_ino = 5, .st_nlink = 1 }, "y", &first), 0);
        check_true("one name", !first);
        links_done(&l);
}

TEST(listings_are_sorted) {
        TreeListing l = { 0 };

        check_result("add", listing_add(&l, "b"), 0);
        check_result("add", listing_add(&l, "a.x"), 0);
        check_result("add", listing_add(&l, "b"), 0);
        check_result("add", listing_add(&l, "a"), 0);
        listing_sort(&l);
        check_uint("each once", l.n, 3);
        check_string("first", l.names[0], "a");
        check_string("last", l.names[2], "b");
        tree_listing_done(&l);
        listing_sort(&l);
}

TEST(attributes_that_stay) {
        static const char *const kept[] = { "user.x", "user.overlayer", "security.capability" };
        static const char *const dropped[] = { "user.overlay.opaque", "user.overlay.", "trusted.x", "trusted.overlay.opaque", "security.selinux", "system.posix_acl_access", "x" };

        for (size_t i = 0; i < ELEMENTSOF(kept); i++)
                check_true(kept[i], attribute_is_kept(kept[i]));
        for (size_t i = 0; i < ELEMENTSOF(dropped); i++)
                check_true(dropped[i], !attribute_is_kept(dropped[i]));
}

static int parse(const char *a, const char *b, const char *c, TreeOptions *ret) {
        static char storage[3][128];
        const char *given[] = { a, b, c };
        char *argv[5] = { (char *) "cove-tree" };
        Error error;
        int argc = 1;

        for (size_t i = 0; i < ELEMENTSOF(given) && given[i]; i++) {
                (void) snprintf(storage[i], sizeof(storage[i]), "%s", given[i]);
                argv[argc++] = storage[i];
        }
        *ret = (TreeOptions) TREE_OPTIONS_INIT;
        return program_parse(&tree_program, argc, argv, ret, &error);
}

TEST(options) {
        TreeOptions o;

        check_result("no verb", parse(NULL, NULL, NULL, &o), -EINVAL);
        check_result("no such verb", parse("fly", NULL, NULL, &o), -EINVAL);
        check_result("of another verb", parse("unpack", "--patch", NULL, &o), -EINVAL);
        check_result("no value", parse("unpack", "--max-bytes", NULL, &o), -EINVAL);
        check_result("no number", parse("unpack", "--max-bytes", "1G", &o), -EINVAL);
        check_result("no digest", parse("unpack", "--digest", "sha256:0", &o), -EINVAL);
        check_result("a large one", parse("unpack", "--digest", "sha256:0123456789abcdef0123456789ABCDEF0123456789abcdef0123456789abcdef", &o), -EINVAL);
        check_result("a digest", parse("unpack", "--digest", "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", &o), 0);
        check_true("a digest", o.digest && !o.diff_id);
        check_result("number", parse("unpack", "--max-bytes", "5", &o), 0);
        check_uint("number", o.max_bytes, 5);
        check_uint("entries", o.max_entries, TREE_ENTRIES_DEFAULT);
        check_result("compression", parse("pack", "--compress", "zstd", &o), 0);
        check_int("compression", o.compression, COMPRESSION_ZSTD);
        check_result("no compression", parse("pack", "--compress", "rar", &o), -EINVAL);
        check_result("path", parse("changes", "--path", "/a//b/", &o), 0);
        check_string("path", o.paths[0], "a/b");
        check_result("path out", parse("changes", "--path", "a/../b", &o), -EXDEV);
}

TEST(paths_that_are_wanted) {
        TreeOptions o;

        check_result("parse", parse("export", "--path", "a/b", &o), 0);
        check_true("itself", tree_options_wants(&o, "a/b"));
        check_true("below", tree_options_wants(&o, "a/b/c"));
        check_true("beside", !tree_options_wants(&o, "a/bc") && !tree_options_leads_to(&o, "a/bc"));
        check_true("above", !tree_options_wants(&o, "a") && tree_options_leads_to(&o, "a"));
        check_true("elsewhere", !tree_options_leads_to(&o, "b"));
        check_result("parse", parse("export", "--path", "/", &o), 0);
        check_true("all", tree_options_wants(&o, "x"));
        check_result("parse", parse("export", NULL, NULL, &o), 0);
        check_true("all", tree_options_wants(&o, "x"));
}

TEST(users) {
        static const char passwd[] = "root:x:0:0:root:/root:/bin/ash\nweb:x:33:34::/srv:\nno-number:x:z:0::/:\n9:x:5:6::/nine:/s\nlast:x:8:8::/last:/l";
        static const char group[] = "root:x:0:\nstaff:x:50:";
        static const struct {
                const char *user;
                int result;
                unsigned uid, gid;
                const char *home, *shell;
        } cases[] = {
                { NULL, 0, 0, 0, "/root", "/bin/ash" },      { "", 0, 0, 0, "/root", "/bin/ash" },      { "root", 0, 0, 0, "/root", "/bin/ash" },
                { "web", 0, 33, 34, "/srv", "/bin/sh" },     { "33", 0, 33, 34, "/srv", "/bin/sh" },    { "web:staff", 0, 33, 50, "/srv", "/bin/sh" },
                { "web:", 0, 33, 34, "/srv", "/bin/sh" },    { "web:51", 0, 33, 51, "/srv", "/bin/sh" }, { "9", 0, 5, 6, "/nine", "/s" },
                { "4711", 0, 4711, 0, "/", "/bin/sh" },      { ":50", 0, 0, 50, "/root", "/bin/ash" },  { "last", 0, 8, 8, "/last", "/l" },
                { "nobody", -ENOENT, 0, 0, "", "" },         { "web:wheel", -ENOENT, 0, 0, "", "" },    { "65536", -EOVERFLOW, 0, 0, "", "" },
                { "99999999999", -ENOENT, 0, 0, "", "" },    { "no-number", -EBADMSG, 0, 0, "", "" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                const char *what = cases[i].user ? cases[i].user : "NULL";
                TreeAccount a = { 0 };
                Error error;
                int r = accounts_find(cases[i].user, passwd, group, &a, &error);

                check_result(what, r, cases[i].result);
                if (r < 0)
                        continue;
                check_uint(what, a.uid, cases[i].uid);
                check_uint(what, a.gid, cases[i].gid);
                check_string(what, a.home, cases[i].home);
                check_string(what, a.shell, cases[i].shell);
        }
        check_true("without files", accounts_find("root", "", "", &(TreeAccount) { 0 }, NULL) == 0);
}

/* All of it through buffers of these sizes. */
static size_t encode(Compression c, const uint8_t *data, size_t size, uint8_t *out, size_t room, size_t piece) {
        CodecBuffers b = { .in = data };
        Encoder *e;
        uint8_t *end = out + room;

        check_result("encoder", encoder_new(c, &e, NULL), 0);
        for (size_t done = 0;;) {
                size_t n = MIN_OF(piece, size - done);
                int more;

                b.in = data + done;
                b.n_in = n;
                do {
                        b.out = out;
                        b.n_out = MIN_OF(piece, (size_t) (end - out));
                        more = encoder_run(e, &b, done + n == size, NULL);
                        check_true("encodes", more >= 0);
                        out = b.out;
                } while (more);
                done += n;
                if (done == size)
                        break;
        }
        (void) encoder_free(e);
        return room - (size_t) (end - out);
}

static int decode(Compression c, const uint8_t *data, size_t size, uint8_t *out, size_t room, size_t piece, size_t *ret) {
        Decoder *d;
        CodecBuffers b = { .out = out };
        uint8_t *end = out + room;
        int r = 0;

        check_result("decoder", decoder_new(c, &d, NULL), 0);
        for (size_t done = 0; done < size && r >= 0; done += MIN_OF(piece, size - done)) {
                b.in = data + done;
                b.n_in = MIN_OF(piece, size - done);
                do {
                        b.n_out = MIN_OF(piece, (size_t) (end - b.out));
                        r = decoder_run(d, &b, NULL);
                } while (r >= 0 && (b.n_in > 0 || b.n_out == 0) && b.out < end);
        }
        if (r >= 0)
                r = decoder_end(d, NULL);
        (void) decoder_free(d);
        *ret = (size_t) (b.out - out);
        return r;
}

TEST(there_and_back) {
        static uint8_t data[50000], packed[200000], again[60000];
        static const size_t pieces[] = { 7, 100, 65536 };

        for (size_t i = 0; i < sizeof(data); i++)
                data[i] = (uint8_t) (i * i >> 3);
        for (int c = 0; c < _COMPRESSION_MAX; c++)
                for (size_t k = 0; k < ELEMENTSOF(pieces); k++) {
                        size_t size = encode((Compression) c, data, sizeof(data), packed, sizeof(packed), pieces[k]), n;
                        const char *name;

                        check_result("decodes", decode((Compression) c, packed, size, again, sizeof(again), pieces[k], &n), 0);
                        check_uint("size", n, sizeof(data));
                        check_int("bytes", memcmp(data, again, n), 0);
                        if (c == COMPRESSION_NONE)
                                continue;
                        check_int("found out", compression_of(packed, size, &name), c);
                        for (size_t cut = 1; cut < size; cut += size / 9)
                                check_result("cut off", decode((Compression) c, packed, size - cut, again, sizeof(again), pieces[k], &n), -EBADMSG);
                }
}

TEST(text_and_what_is_none) {
        char *patch;

        check_true("empty", patch_is_text("", 0));
        check_true("text", patch_is_text("a\n\xc3\xa4\t", 5));
        check_true("NUL", !patch_is_text("a\0b", 3));
        check_true("latin-1", !patch_is_text("\xe4x", 2));
        check_true("cut", !patch_is_text("\xc3", 1));
        check_result("prepare", patch_prepare(), 0);
        check_result("patch", patch_make("d/f", "a\nb\n", 4, "a\nc", 3, &patch), 0);
        check_part("patch", patch, "--- a/d/f\n+++ b/d/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline at end of file\n");
        free(patch);
        check_result("new", patch_make("f", NULL, 0, "x\n", 2, &patch), 0);
        check_part("new", patch, "--- /dev/null\n+++ b/f\n");
        free(patch);
}
