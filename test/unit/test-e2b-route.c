/* E2B's dialect: what a host's name says, tokens, signatures. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/e2b/host.h"
#include "unit.h"

#define ID "i23456789012345678901"

TEST(names) {
        ApiTarget t;

        check_int("plain", e2b_host_read("8000-" ID ".sbx.test", &t), 1);
        check_string("id", t.id, ID);
        check_uint("port", t.port, 8000);
        check_true("by name", t.by_host);
        check_int("a port of ours", e2b_host_read("49983-" ID ".sbx.test:8443", &t), 1);
        check_int("more behind the id", e2b_host_read("1-" ID "-6532622b.x.y", &t), 1);
        check_string("not part of it", t.id, ID);
        check_int("an id that is not ours", e2b_host_read("65535-abc.localhost", &t), 1);
        check_string("as it is", t.id, "abc");
        check_int("the daemon's name", e2b_host_read("my-cove.example.org", &t), 0);
        check_int("its domain", e2b_host_read("api.sbx.test", &t), 0);
        check_int("an address", e2b_host_read("127.0.0.1:8787", &t), 0);
        check_int("another address", e2b_host_read("[::1]:8787", &t), 0);
        check_int("localhost", e2b_host_read("localhost", &t), 0);
        check_int("nothing", e2b_host_read("", &t), 0);
        check_int("a number", e2b_host_read("8000.example.org", &t), 0);
        check_result("no domain", e2b_host_read("8000-" ID, &t), -ENXIO);
        check_result("no domain, a port", e2b_host_read("8000-" ID ":80", &t), -ENXIO);
        check_result("no id", e2b_host_read("8000-.x", &t), -EINVAL);
        check_result("upper case", e2b_host_read("8000-ABC.x", &t), -EINVAL);
        check_result("too long", e2b_host_read("8-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.x", &t), -EINVAL);
        check_result("port 0", e2b_host_read("0-abc.x", &t), -ERANGE);
        check_result("a large port", e2b_host_read("65536-abc.x", &t), -ERANGE);
        check_result("a very large one", e2b_host_read("99999999999999999999-abc.x", &t), -ERANGE);
}

TEST(shared_names) {
        check_true("an address", e2b_host_is_shared("127.0.0.1:80") && e2b_host_is_shared("[::1]:80") && e2b_host_is_shared("[::1]"));
        check_true("localhost", e2b_host_is_shared("localhost:80"));
        check_true("sandbox.", e2b_host_is_shared("sandbox.example.org"));
        check_true("others", !e2b_host_is_shared("sandbox.") && !e2b_host_is_shared("example.org") && !e2b_host_is_shared(""));
        check_true("below", e2b_host_is_below("1-x.sbx.test:1", "sbx.test") && e2b_host_is_below("1-x.SBX.test", "sbx.test"));
        check_true("not below", !e2b_host_is_below("1-x.sbx.test.org", "sbx.test") && !e2b_host_is_below("sbx.test", "sbx.test"));
}

TEST(tokens) {
        char id[SANDBOX_ID_LENGTH + 1];

        check_true("one", e2b_token_is_of(ID "_0123456789abcdef0123456789abcdef0123456789abcdef", id));
        check_string("whose", id, ID);
        check_true("none", !e2b_token_is_of(NULL, id) && !e2b_token_is_of("", id) && !e2b_token_is_of(ID "_", id) && !e2b_token_is_of("x_y", id));
        check_true("equal", e2b_token_matches("abc", "abc"));
        check_true("not", !e2b_token_matches("abd", "abc") && !e2b_token_matches("abcd", "abc") && !e2b_token_matches(NULL, "abc") && !e2b_token_matches("", "abc"));
}

TEST(signatures) {
        _cleanup_free_ char *plain = NULL, *late = NULL, *empty = NULL;

        check_int("made", e2b_file_signature("hello.txt", "read", "user", "0tQG31xiMp0IOQfaz9dcwi72L1CPo8e0", NULL, &plain), 0);
        check_string("as the SDK makes it", plain, "v1_gUtH/s9YCJWgCizjfUxuWfhFE4QSydOWEIIvfLwDr6E");
        check_int("made", e2b_file_signature("hello.txt", "read", "user", "0tQG31xiMp0IOQfaz9dcwi72L1CPo8e0", "1", &late), 0);
        check_true("with a time it is another", strcmp(plain, late) != 0);
        check_int("made", e2b_file_signature(NULL, "write", NULL, "t", NULL, &empty), 0);
        check_true("of nothing", strlen(empty) == strlen(plain));
}
