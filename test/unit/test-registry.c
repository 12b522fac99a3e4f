/* Names of images, platforms, challenges, names of members, and blobs that are on their way. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "registry/blobdir.h"
#include "registry/challenge.h"
#include "registry/exchange.h"
#include "registry/imageconfig.h"
#include "registry/member.h"
#include "registry/reference.h"

#define HEX    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define DIGEST "sha256:" HEX
#define LONGER "a@" DIGEST "0"
#define LARGE  "a@SHA256:" HEX

TEST(references_as_docker_reads_them) {
        static const struct {
                const char *text, *whole, *api;
                bool loopback;
        } cases[] = {
                { "python:3.12",                     "docker.io/library/python:3.12",        "registry-1.docker.io", false },
                { "a/b",                             "docker.io/a/b:latest",                 "registry-1.docker.io", false },
                { "index.docker.io/x",               "docker.io/library/x:latest",           "registry-1.docker.io", false },
                { "localhost/x",                     "localhost/x:latest",                   "localhost",            true  },
                { "localhost:5000/a/b:t@" DIGEST,    "localhost:5000/a/b:t@" DIGEST,         "localhost:5000",       true  },
                { "127.1.2.3:80/a",                  "127.1.2.3:80/a:latest",                "127.1.2.3:80",         true  },
                { "[::1]:5000/a",                    "[::1]:5000/a:latest",                  "[::1]:5000",           true  },
                { "[2001:db8::1]/a",                 "[2001:db8::1]/a:latest",               "[2001:db8::1]",        false },
                { "128.0.0.1/a",                     "128.0.0.1/a:latest",                   "128.0.0.1",            false },
                { "localhost.example/a",             "localhost.example/a:latest",           "localhost.example",    false },
                { "127.0.0.1.example/a",             "127.0.0.1.example/a:latest",           "127.0.0.1.example",    false },
                { "Host/a",                          "Host/a:latest",                        "Host",                 false },
                { "a@" DIGEST,                       "docker.io/library/a@" DIGEST,          "registry-1.docker.io", false },
                { "g.io/a__b/c.d/e---f/g-h:_T.x-1",  "g.io/a__b/c.d/e---f/g-h:_T.x-1",       "g.io",                 false },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                char text[REFERENCE_TEXT_MAX + 1];
                Reference r, again;

                check_result(cases[i].text, reference_parse(cases[i].text, &r, NULL), 0);
                check_string(cases[i].text, reference_print(&r, text), cases[i].whole);
                check_string(cases[i].text, reference_api_host(&r), cases[i].api);
                check_int(cases[i].text, reference_is_loopback(&r), cases[i].loopback);
                check_result(text, reference_parse(text, &again, NULL), 0);
                check_true(text, memcmp(&r, &again, sizeof(r)) == 0);
        }
}

TEST(references_that_are_none) {
        static const char *const cases[] = { "", "/", "a/", "/a", "A", "a/B", "a:", "a:.x", "a@", LONGER, LARGE, "a@b@c", "a..b", "a___b", "-a", "a-",
                                             "a b/c", "x.y:/a", "x.y:0/a", "x.y:65536/a", "x..y/a", "[::1/a", "[x]/a", "[]/a", "x.y:1:2/a", "a\n", "http://x.y/a", "x.y/a?b" };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Error error = { 0 };
                Reference r;

                check_result(cases[i], reference_parse(cases[i], &r, &error), -EINVAL);
                check_part(cases[i], error.text, cases[i]);
        }
}

TEST(platforms) {
        static const struct {
                const char *wanted, *have;
                unsigned match;
        } cases[] = {
                { "linux/amd64",  "linux/amd64",    3 }, { "linux/amd64",    "linux/amd64/v1", 3 }, { "linux/amd64",  "linux/amd64/v3", 0 },
                { "linux/arm64",  "linux/arm64/v8", 3 }, { "linux/arm64/v8", "linux/arm64",    3 }, { "linux/amd64",  "linux/arm64",    0 },
                { "linux/arm/v7", "linux/arm/v6",   2 }, { "linux/arm/v6",   "linux/arm/v7",   0 }, { "linux/arm",    "linux/arm/v7",   1 },
                { "linux/amd64",  "windows/amd64",  0 },
        };
        Platform machine;

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Platform a, b;

                check_result(cases[i].wanted, platform_parse(cases[i].wanted, &a, NULL), 0);
                check_result(cases[i].have, platform_parse(cases[i].have, &b, NULL), 0);
                check_uint(cases[i].have, platform_match(&a, &b), cases[i].match);
        }
        platform_of_machine(&machine);
        check_string("os", machine.os, "linux");
        check_uint("itself", platform_match(&machine, &machine), 3);
        check_result("one part", platform_parse("linux", &machine, NULL), -EINVAL);
        check_result("four parts", platform_parse("a/b/c/d", &machine, NULL), -EINVAL);
        check_result("empty part", platform_parse("linux/", &machine, NULL), -EINVAL);
}

TEST(challenges) {
        Challenge c;

        check_result("docker's", challenge_parse("Bearer realm=\"https://auth.docker.io/token\",service=\"registry.docker.io\",scope=\"repository:a/b:pull,push\"", &c), 0);
        check_int("scheme", c.scheme, CHALLENGE_BEARER);
        check_string("realm", c.realm, "https://auth.docker.io/token");
        check_string("service", c.service, "registry.docker.io");
        check_string("scope", c.scope, "repository:a/b:pull,push");
        check_result("basic", challenge_parse("  basic Realm = \"a \\\"b\\\", c\" , charset=UTF-8", &c), 0);
        check_int("scheme", c.scheme, CHALLENGE_BASIC);
        check_string("realm", c.realm, "a \"b\", c");
        check_result("bare", challenge_parse("Basic", &c), 0);
        check_result("other", challenge_parse("Negotiate abc==", &c), 0);
        check_int("scheme", c.scheme, CHALLENGE_UNKNOWN);
        check_result("empty", challenge_parse("", &c), -EBADMSG);
        check_result("open", challenge_parse("Bearer realm=\"x", &c), -EBADMSG);
        check_result("no value", challenge_parse("Bearer realm", &c), -EBADMSG);
}

TEST(names_of_members) {
        static const struct {
                const char *directory, *name, *clean; /* NULL: none */
        } cases[] = {
                { "",    "./a//b/./c/", "a/b/c" }, { "",    "/a",       "a"    }, { "", "./", ""          }, { "", "a/../b", "b" }, { "", "..", NULL }, { "", "a/../../b", NULL },
                { "x/y", "../z/l.tar",  "x/z/l.tar" }, { "x/y", "/z",   "z"    }, { "x", "../../z", NULL  }, { "x", ".", "x"     },
        };
        char clean[MEMBER_NAME_MAX + 1], long_name[MEMBER_NAME_MAX + 2];

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                check_result(cases[i].name, member_clean_name(cases[i].directory, cases[i].name, clean), cases[i].clean ? 0 : -EINVAL);
                if (cases[i].clean)
                        check_string(cases[i].name, clean, cases[i].clean);
        }
        memset(long_name, 'x', sizeof(long_name) - 1);
        long_name[sizeof(long_name) - 1] = 0;
        check_result("too long", member_clean_name("", long_name, clean), -EINVAL);
}

TEST(places) {
        char *place = outbound_url_join("https://a.example:5000", "/v2/x?y=1");

        check_true("same", outbound_same_origin("https://a.example/x", "HTTPS://A.example:443/y?z"));
        check_true("port", !outbound_same_origin("https://a.example", "https://a.example:444"));
        check_true("scheme", !outbound_same_origin("https://a.example", "http://a.example:443"));
        check_true("host", !outbound_same_origin("https://a.example", "https://a.example.evil"));
        check_true("user", !outbound_same_origin("https://a.example", "https://a.example@evil"));
        check_true("nonsense", !outbound_same_origin("https://a.example", "::"));
        check_string("relative", place, "https://a.example:5000/v2/x?y=1");
        free(place);
        place = outbound_escape("a/b:pull,push &?");
        check_string("escaped", place, "a%2Fb%3Apull%2Cpush%20%26%3F");
        free(place);
}

/* Blobs */

static const char *fresh_directory(const char *name) {
        const char *path = unit_path(name);

        check_int("mkdir", mkdir(path, 0700), 0);
        return path;
}

TEST(parts_go_on_and_get_their_name_at_the_end) {
        _cleanup_blobdir_ Blobdir b = { .dirfd = -EBADF };
        BlobPart p, q;
        Digest digest, other = { .text = DIGEST };
        Error error = { 0 };
        uint64_t size;

        check_result("open", blobdir_open(&b, fresh_directory("blobs"), NULL), 0);
        check_result("digest", digest_of("hello world", 11, &digest), 0);
        check_string("digest", digest.text, "sha256:b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9");

        check_result("begin", blob_part_open(&p, &b, &digest, NULL), 1);
        check_result("write", blob_part_write(&p, "hello ", 6, NULL), 0);
        check_result("somebody else", blob_part_open(&q, &b, &digest, NULL), -EAGAIN);
        blob_part_done(&p);
        check_result("not there", blobdir_find(&b, &digest, &size, NULL), 0);

        check_result("go on", blob_part_open(&p, &b, &digest, NULL), 1);
        check_uint("resumed", p.resumed, 6);
        check_result("write", blob_part_write(&p, "world", 5, NULL), 0);
        check_result("commit", blob_part_commit(&p, &digest, NULL, NULL), 0);
        check_result("there", blobdir_find(&b, &digest, &size, NULL), 1);
        check_uint("size", size, 11);
        check_result("done already", blob_part_open(&p, &b, &digest, NULL), 0);

        check_result("begin", blob_part_open(&p, &b, &other, NULL), 1);
        check_result("write", blob_part_write(&p, "hello world", 11, NULL), 0);
        check_result("another digest", blob_part_commit(&p, &other, NULL, &error), -EBADMSG);
        check_part("names both", error.text, digest.text);
        check_part("names both", error.text, other.text);
        check_int("gone", faccessat(b.dirfd, "sha256-" HEX ".part", F_OK, 0), -1);
}

TEST(what_nobody_writes_any_more_is_swept) {
        const char *path = fresh_directory("sweep");
        _cleanup_blobdir_ Blobdir b = { .dirfd = -EBADF }, again = { .dirfd = -EBADF };
        BlobPart p = BLOB_PART_INIT;

        unit_write_text(unit_path("sweep/tmp-1-1.part"), "old");
        unit_write_text(unit_path("sweep/sha256-" HEX ".part"), "kept");
        check_result("open", blobdir_open(&b, path, NULL), 0);
        check_int("old", faccessat(b.dirfd, "tmp-1-1.part", F_OK, 0), -1);
        check_int("a part", faccessat(b.dirfd, "sha256-" HEX ".part", F_OK, 0), 0);
        check_result("new", blob_part_new(&p, &b, NULL), 0);
        check_result("open again", blobdir_open(&again, path, NULL), 0);
        check_int("being written", faccessat(b.dirfd, p.name, F_OK, 0), 0);
        blob_part_done(&p);
        check_int("gone", faccessat(b.dirfd, p.name, F_OK, 0), -1);
}

TEST(damaged_blobs_are_not_read) {
        _cleanup_blobdir_ Blobdir b = { .dirfd = -EBADF };
        Digest digest = { .text = DIGEST };
        Error error = { 0 };
        char *text = NULL;
        size_t size;

        check_result("open", blobdir_open(&b, fresh_directory("damaged"), NULL), 0);
        unit_write_text(unit_path("damaged/sha256-" HEX), "something");
        check_result("read", blobdir_read(&b, &digest, 100, &text, &size, &error), -EBADMSG);
        check_result("too large", blobdir_read(&b, &digest, 3, &text, &size, &error), -EFBIG);
        check_result("put", blobdir_put(&b, "x", 1, &digest, NULL), 0);
        check_result("read", blobdir_read(&b, &digest, 1, &text, &size, &error), 0);
        check_string("text", text, "x");
        free(text);
}
