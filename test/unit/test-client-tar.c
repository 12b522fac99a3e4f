/* Archives: written and read back, and read when an enemy has written them. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "client/files/pack.h"
#include "client/files/tar.h"
#include "client/files/unpack.h"
#include "tar-block.h"

/* Heads. */

static int decode(const uint8_t *head, size_t size, TarEntry *ret) {
        ClientTarReader r = { 0 };
        int n = 0;

        for (size_t i = 0; i < size && n == 0; i += TAR_BLOCK)
                n = tar_read_block(&r, head + i, ret);
        tar_reader_done(&r);
        return n;
}

static void check_round_trip(const TarEntry *e) {
        uint8_t head[TAR_HEAD_MAX];
        ssize_t n = tar_encode(e, head);
        TarEntry again = { 0 };

        check_true("whole blocks", n > 0 && n % TAR_BLOCK == 0);
        check_int("entry", decode(head, (size_t) n, &again), 1);
        check_string("path", again.path, e->path);
        check_string("target", again.target, e->target);
        check_int("type", again.type, e->type);
        check_uint("mode", again.mode, e->mode);
        check_uint("size", again.size, e->size);
        check_int("time", again.mtime, e->mtime);
}

TEST(names_of_all_lengths) {
        for (size_t n = 1; n < TAR_PATH_MAX; n += n < 300 ? 1 : 97) {
                TarEntry e = { .type = TAR_FILE, .mode = 0640, .size = n, .mtime = 1700000000 };

                memset(e.path, 'p', n);
                check_round_trip(&e);
                e.type = TAR_SYMLINK;
                e.size = 0;
                memset(e.target, 't', n);
                check_round_trip(&e);
        }
}

TEST(types_and_sizes) {
        check_round_trip(&(TarEntry) { .type = TAR_DIRECTORY, .path = "d", .mode = 0755 });
        check_round_trip(&(TarEntry) { .type = TAR_HARD_LINK, .path = "h", .target = "f", .mode = 0644 });
        check_round_trip(&(TarEntry) { .type = TAR_FILE, .path = "f", .mode = 07777, .size = UINT64_C(1) << 33 });
        check_round_trip(&(TarEntry) { .type = TAR_FILE, .path = "f", .mode = 0, .size = (UINT64_C(1) << 33) - 1 });
        check_round_trip(&(TarEntry) { .type = TAR_FILE, .path = "f", .size = UINT64_C(1) << 40, .mtime = 0 });
}

static void make_head(uint8_t *block, const char *name, char type, const char *target, uint64_t size, unsigned mode) {
        TarEntry e = { .type = TAR_FILE, .mode = mode, .size = size };
        uint8_t head[TAR_HEAD_MAX];

        (void) snprintf(e.path, sizeof(e.path), "%s", name);
        (void) snprintf(e.target, sizeof(e.target), "%s", target);
        check_result("one block", tar_encode(&e, head), TAR_BLOCK);
        memcpy(block, head, TAR_BLOCK);
        block[156] = (uint8_t) type;
        tar_fit_checksum(block);
}

TEST(heads_of_others) {
        uint8_t blocks[4 * TAR_BLOCK] = { 0 };
        TarEntry e = { 0 };

        /* GNU: a long name in an entry of its own */
        make_head(blocks, "././@LongLink", 'L', "", 201, 0);
        memset(blocks + TAR_BLOCK, 'n', 200);
        make_head(blocks + 2 * TAR_BLOCK, "nnn", '0', "", 5, 0644);
        check_int("long name", decode(blocks, 3 * TAR_BLOCK, &e), 1);
        check_uint("long name", strlen(e.path), 200);

        /* ustar: the beginning of the name in another field */
        make_head(blocks, "file", '0', "", 5, 0644);
        memcpy(blocks + 345, "some/where", 10);
        tar_fit_checksum(blocks);
        check_int("prefix", decode(blocks, TAR_BLOCK, &e), 1);
        check_string("prefix", e.path, "some/where/file");

        /* GNU: a size in bytes */
        make_head(blocks, "big", '0', "", 5, 0644);
        memset(blocks + 124, 0, 12);
        blocks[124] = 0x80;
        blocks[124 + 7] = 2;
        tar_fit_checksum(blocks);
        check_int("bytes", decode(blocks, TAR_BLOCK, &e), 1);
        check_uint("bytes", e.size, UINT64_C(2) << 32);

        /* what was said of an entry is said of that one only */
        make_head(blocks, "plain", '0', "", 0, 0644);
        check_int("after", decode(blocks, TAR_BLOCK, &e), 1);
        check_string("after", e.path, "plain");
}

TEST(bad_heads_are_refused) {
        uint8_t block[2 * TAR_BLOCK] = { 0 };
        TarEntry e;

        make_head(block, "f", '0', "", 5, 0644);
        block[0] ^= 1;
        check_result("checksum", decode(block, TAR_BLOCK, &e), -EBADMSG);

        make_head(block, "f", '0', "", 5, 0644);
        block[124] = 'x';
        tar_fit_checksum(block);
        check_result("size", decode(block, TAR_BLOCK, &e), -EBADMSG);

        make_head(block, "f", '0', "", 5, 0644);
        memset(block + 124, 0xff, 12);
        tar_fit_checksum(block);
        check_result("negative size", decode(block, TAR_BLOCK, &e), -EBADMSG);

        make_head(block, "x", 'x', "", UINT64_C(1) << 30, 0644);
        check_result("records without end", decode(block, TAR_BLOCK, &e), -EBADMSG);

        make_head(block, "s", 'S', "", 5, 0644);
        check_result("sparse", decode(block, TAR_BLOCK, &e), -EOPNOTSUPP);
}

static void check_records(const char *records, int expected) {
        uint8_t blocks[3 * TAR_BLOCK] = { 0 };
        TarEntry e;

        make_head(blocks, "pax", 'x', "", strlen(records), 0644);
        memcpy(blocks + TAR_BLOCK, records, strlen(records));
        make_head(blocks + 2 * TAR_BLOCK, "f", '0', "", 0, 0644);
        check_result(records, decode(blocks, sizeof(blocks), &e), expected);
}

TEST(records) {
        check_records("12 path=abc\n", 1);
        check_records("12 path=abc\n17 mtime=12.5678\n", 1);
        check_records("18 unknown=ignored\n", -EBADMSG); /* it has 19 */
        check_records("19 unknown=ignored\n", 1);
        check_records("12 path=abcd", -EBADMSG);
        check_records("99 path=abc\n", -EBADMSG);
        check_records("0 path=abc\n", -EBADMSG);
        check_records("path=abc\n", -EBADMSG);
        check_records("8 pathx\n", -EBADMSG);
        check_records("11 size=-1\n", -EBADMSG);
        check_records("14 size=99x9\n", -EBADMSG);
        check_records("22 GNU.sparse.major=1\n", -EOPNOTSUPP);
        check_records("99999999999999999999 path=abc\n", -EBADMSG);
}

/* Trees. */

static int open_directory(const char *path) {
        (void) mkdir(path, 0755);
        return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void check_file(const char *path, const char *content, mode_t mode) {
        _cleanup_free_ char *text = NULL;
        struct stat st;

        check_result(path, file_read_alloc(AT_FDCWD, path, 1 << 20, &text, NULL), 0);
        check_string(path, text, content);
        check_int(path, stat(path, &st), 0);
        check_uint(path, st.st_mode & 07777, mode);
}

static void make_tree(const char *top) {
        char path[1024], name[201] = "";
        struct timespec times[] = { { .tv_sec = 1500000000 }, { .tv_sec = 1500000000 } };

        memset(name, 'n', 200);
        check_int("top", mkdir(top, 0755), 0);
        (void) snprintf(path, sizeof(path), "%s/sub", top);
        check_int("sub", mkdir(path, 0750), 0);
        (void) snprintf(path, sizeof(path), "%s/sub/file", top);
        unit_write_text(path, "content");
        (void) chmod(path, 0640);
        (void) utimensat(AT_FDCWD, path, times, 0);
        (void) snprintf(path, sizeof(path), "%s/sub/%s", top, name);
        unit_write_text(path, "long");
        (void) snprintf(path, sizeof(path), "%s/empty", top);
        unit_write_text(path, "");
        (void) snprintf(path, sizeof(path), "%s/link", top);
        check_int("link", symlink("sub/file", path), 0);
        (void) snprintf(path, sizeof(path), "%s/shut", top);
        check_int("shut", mkdir(path, 0500), 0);
}

static void copy_tree(const char *from, const char *to, size_t portion) {
        _cleanup_close_ int dirfd = open_directory(to);
        _cleanup_unpack_ Unpack *u = unpack_new(dirfd);
        _cleanup_pack_ Pack *p = NULL;
        Error error = { 0 };
        char buffer[4096];
        ssize_t n;

        check_result("pack", pack_new(from, &p, &error), 0);
        while ((n = pack_read(p, buffer, portion)) > 0)
                check_result("unpacked", unpack_write(u, buffer, (size_t) n), 0);
        check_result("packed", n, 0);
        check_result("finished", unpack_finish(u), 0);
}

TEST(a_tree_there_and_back) {
        static const size_t portions[] = { 1, 511, 4096 };
        const char *top = strdup(unit_path("tree"));
        mode_t mask = umask(022);

        make_tree(top);
        for (size_t i = 0; i < ELEMENTSOF(portions); i++) {
                char to[512], path[1024], target[64] = "";
                struct stat st;

                (void) snprintf(to, sizeof(to), "%s-%zu", top, portions[i]);
                copy_tree(top, to, portions[i]);
                (void) snprintf(path, sizeof(path), "%s/sub/file", to);
                check_file(path, "content", 0640);
                check_int("time", stat(path, &st), 0);
                check_int("time", st.st_mtime, 1500000000);
                (void) snprintf(path, sizeof(path), "%s/link", to);
                check_result("link", readlink(path, target, sizeof(target) - 1), 8);
                check_string("link", target, "sub/file");
                (void) snprintf(path, sizeof(path), "%s/shut", to);
                check_int("shut", stat(path, &st), 0);
                check_uint("shut", st.st_mode & 07777, 0500);
        }
        (void) umask(mask);
        free((char *) top);
}

/* Enemies. Each archive is written by hand, in blocks. */

typedef struct Archive {
        uint8_t data[32 * TAR_BLOCK];
        size_t n; /* blocks */
} Archive;

static void add(Archive *a, const char *name, char type, const char *target, const char *content, unsigned mode) {
        make_head(a->data + a->n++ * TAR_BLOCK, name, type, target, strlen(content), mode);
        if (content[0])
                memcpy(a->data + a->n++ * TAR_BLOCK, content, strlen(content));
}

static int unpack(const Archive *a, size_t blocks, const char *to, char *ret_words, size_t size) {
        _cleanup_close_ int dirfd = open_directory(to);
        _cleanup_unpack_ Unpack *u = unpack_new(dirfd);
        int r = unpack_write(u, a->data, blocks * TAR_BLOCK);

        if (r >= 0)
                r = unpack_finish(u);
        (void) snprintf(ret_words, size, "%s", unpack_error(u)->text);
        return r;
}

static void check_unpack(const char *what, Archive *a, const char *to, int expected) {
        char words[512];

        a->n += 2; /* the end */
        check_result(what, unpack(a, a->n, to, words, sizeof(words)), expected);
        check_true(what, (expected < 0) == (words[0] != '\0'));
}

TEST(nothing_is_made_outside) {
        static const char *const names[] = { "../evil", "a/../../evil", "..", "/../evil", "a/..", "./../evil" };
        const char *outside = strdup(unit_path("evil")), *inside = strdup(unit_path("inside"));

        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                Archive a = { 0 };

                add(&a, names[i], '0', "", "evil", 0644);
                check_unpack(names[i], &a, inside, -EXDEV);
                check_int(names[i], access(outside, F_OK), -1);
        }
        free((char *) outside);
        free((char *) inside);
}

TEST(an_absolute_name_stays_inside) {
        const char *inside = strdup(unit_path("absolute"));
        char path[512];
        Archive a = { 0 };

        add(&a, "/etc/some-file", '0', "", "x", 0644);
        check_unpack("absolute", &a, inside, 0);
        (void) snprintf(path, sizeof(path), "%s/etc/some-file", inside);
        check_int("inside", access(path, F_OK), 0);
        free((char *) inside);
}

TEST(no_link_is_followed) {
        const char *outside = strdup(unit_path("target")), *inside = strdup(unit_path("linked"));
        Archive through = { 0 }, over = { 0 }, hard = { 0 }, hard_through = { 0 };
        char path[512];

        check_int("outside", mkdir(outside, 0755), 0);
        (void) snprintf(path, sizeof(path), "%s/secret", outside);
        unit_write_text(path, "secret");

        add(&through, "door", '2', outside, "", 0777);
        add(&through, "door/evil", '0', "", "evil", 0644);
        check_unpack("through a link", &through, inside, -ENOTDIR);
        (void) snprintf(path, sizeof(path), "%s/evil", outside);
        check_int("not made", access(path, F_OK), -1);

        /* a link in the place of a file gives way; what it leads to is left alone */
        (void) snprintf(path, sizeof(path), "%s/secret", outside);
        add(&over, "file", '2', path, "", 0777);
        add(&over, "file", '0', "", "mine", 0600);
        check_unpack("over a link", &over, inside, 0);
        check_file(path, "secret", 0600);
        (void) snprintf(path, sizeof(path), "%s/file", inside);
        check_file(path, "mine", 0600);

        add(&hard, "copy", '1', "../target/secret", "", 0644);
        check_unpack("hard link out", &hard, inside, -EXDEV);
        add(&hard_through, "copy", '1', "door/secret", "", 0644);
        check_unpack("hard link through a link", &hard_through, inside, -ENOTDIR);
        (void) snprintf(path, sizeof(path), "%s/copy", inside);
        check_int("no copy", access(path, F_OK), -1);
        free((char *) outside);
        free((char *) inside);
}

/* The mode of a directory is set at the end; by then its name may lead elsewhere. */
TEST(a_directory_that_became_a_link_is_left_alone) {
        const char *outside = strdup(unit_path("mode-target")), *inside = strdup(unit_path("mode"));
        struct stat st;
        Archive a = { 0 };

        check_int("outside", mkdir(outside, 0700), 0);
        add(&a, "door", '5', "", "", 0777);
        add(&a, "door", '2', outside, "", 0777);
        a.n += 2;
        (void) unpack(&a, a.n, inside, (char[512]) { 0 }, 512);
        check_int("stat", stat(outside, &st), 0);
        check_uint("mode", st.st_mode & 0777, 0700);
        free((char *) outside);
        free((char *) inside);
}

TEST(nobody_gets_more_rights) {
        const char *inside = strdup(unit_path("rights"));
        mode_t mask = umask(022);
        char path[512];
        struct stat st;
        Archive a = { 0 };

        add(&a, "suid", '0', "", "x", 06777);
        add(&a, "device", '3', "", "", 0666);
        add(&a, "pipe", '6', "", "", 0666);
        add(&a, "directory", '5', "", "", 07777);
        check_unpack("rights", &a, inside, 0);
        (void) snprintf(path, sizeof(path), "%s/suid", inside);
        check_file(path, "x", 0755);
        (void) snprintf(path, sizeof(path), "%s/device", inside);
        check_int("no device", access(path, F_OK), -1);
        (void) snprintf(path, sizeof(path), "%s/pipe", inside);
        check_int("no pipe", access(path, F_OK), -1);
        (void) snprintf(path, sizeof(path), "%s/directory", inside);
        check_int("directory", stat(path, &st), 0);
        check_uint("directory", st.st_mode & 07777, 0755);
        (void) umask(mask);
        free((char *) inside);
}

TEST(an_archive_that_breaks_off_is_told) {
        const char *inside = strdup(unit_path("cut"));
        Archive a = { 0 };

        add(&a, "one", '0', "", "1", 0644);
        add(&a, "two", '0', "", "2", 0644);
        for (size_t n = 0; n < a.n; n++) {
                char words[512];
                check_result("cut", unpack(&a, n, inside, words, sizeof(words)), -EBADMSG);
                check_part("words", words, "broke off");
        }
        free((char *) inside);
}

TEST(names_collide) {
        const char *inside = strdup(unit_path("collide"));
        Archive a = { 0 }, b = { 0 }, c = { 0 };

        add(&a, "x", '5', "", "", 0755);
        add(&a, "x", '0', "", "file", 0644);
        check_unpack("a file over a directory", &a, inside, -EISDIR);
        add(&b, "y", '0', "", "file", 0644);
        add(&b, "y/z", '0', "", "file", 0644);
        check_unpack("a file as a directory", &b, inside, -ENOTDIR);
        add(&c, "y", '0', "", "again", 0644);
        check_unpack("a file again", &c, inside, 0);
        free((char *) inside);
}

TEST(nothing_is_left_open) {
        size_t before = unit_count_descriptors();
        const char *top = strdup(unit_path("leak")), *to = strdup(unit_path("leak-copy"));
        Error error = { 0 };
        char buffer[100];
        Pack *p;

        make_tree(top);
        copy_tree(top, to, 4096);
        check_result("pack", pack_new(top, &p, &error), 0);
        check_true("begun", pack_read(p, buffer, sizeof(buffer)) > 0);
        p = pack_free(p);
        check_result("none", pack_new("/no/such/directory", &p, &error), -ENOENT);
        check_part("words", error.text, "/no/such/directory");
        check_uint("descriptors", unit_count_descriptors(), before);
        free((char *) top);
        free((char *) to);
}
