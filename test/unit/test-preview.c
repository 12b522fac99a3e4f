/* Previews: which requests are for one, and what a signature is good for. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/preview/preview.h"
#include "core/ports.h"
#include "core/secret.h"
#include "unit.h"

#define ID "a23456789012345678901"

static int find(const char *host, const char *path, ApiTarget *ret) {
        return preview_target_parse(host, path, "localhost", ret);
}

TEST(by_name) {
        ApiTarget t;

        check_int("plain", find("8000-" ID ".localhost", "/x/y", &t), 1);
        check_string("id", t.id, ID);
        check_uint("port", t.port, 8000);
        check_string("path", t.rest, "/x/y");
        check_true("by name", t.by_host);
        check_int("with our port", find("1-" ID ".localhost:8787", "/", &t), 1);
        check_int("any case", find("1-" ID ".LOCALHOST", "/", &t), 1);
        check_int("another domain", find("1-" ID ".example.org", "/", &t), 0);
        check_int("more of a name", find("1-" ID ".localhost.org", "/", &t), 0);
        check_int("deeper", find("x.1-" ID ".localhost", "/", &t), 0);
        check_int("the domain itself", find("localhost:8787", "/api/version", &t), 0);
        check_int("no port", find(ID ".localhost", "/", &t), -EINVAL);
        check_int("port 0", find("0-" ID ".localhost", "/", &t), -EINVAL);
        check_int("a large port", find("65536-" ID ".localhost", "/", &t), -EINVAL);
        check_int("a short id", find("80-abc.localhost", "/", &t), -EINVAL);
        check_int("no host", find(NULL, "/api/version", &t), 0);
}

TEST(by_path) {
        ApiTarget t;

        check_int("with a slash", find("127.0.0.1:8787", "/preview/" ID "/80/", &t), 1);
        check_string("rest", t.rest, "/");
        check_true("not by name", !t.by_host);
        check_int("without", find("x", "/preview/" ID "/80", &t), 1);
        check_string("no rest", t.rest, "");
        check_int("deeper", find("x", "/preview/" ID "/80/a//b/../c", &t), 1);
        check_string("as it came", t.rest, "/a//b/../c");
        check_int("with a link", find("x", "/preview/" ID "/80~12.abc/d", &t), 1);
        check_string("the link", t.token, "12.abc");
        check_string("behind it", t.rest, "/d");
        check_int("a link that is none", find("x", "/preview/" ID "/80~/d", &t), 1);
        check_string("nothing", t.token, "");
        check_int("not in a name", find("80~1-" ID ".localhost", "/", &t), -EINVAL);
        check_int("nothing", find("x", "/preview/", &t), -EINVAL);
        check_int("no port", find("x", "/preview/" ID, &t), -EINVAL);
        check_int("sign", find("x", "/preview/" ID "/-1/", &t), -EINVAL);
        check_int("another path", find("x", "/previews/" ID "/80/", &t), 0);
        check_int("a name wins", find("80-" ID ".localhost", "/preview/" ID "/81/", &t), 1);
        check_uint("its port", t.port, 80);
}

TEST(signatures) {
        uint8_t key[SECRET_SHA256_SIZE] = { 1, 2, 3 }, other[SECRET_SHA256_SIZE] = { 1, 2, 4 };
        char token[PREVIEW_TOKEN_MAX], forged[PREVIEW_TOKEN_MAX];

        preview_sign(key, ID, 80, 1000, token);
        check_true("good", preview_verify(key, ID, 80, 999, token));
        check_true("over", !preview_verify(key, ID, 80, 1000, token));
        check_true("another port", !preview_verify(key, ID, 81, 1, token));
        check_true("another sandbox", !preview_verify(key, "b23456789012345678901", 80, 1, token));
        check_true("another key", !preview_verify(other, ID, 80, 1, token));
        (void) snprintf(forged, sizeof(forged), "2000%s", strchr(token, '.'));
        check_true("a later end", !preview_verify(key, ID, 80, 1, forged));
        (void) snprintf(forged, sizeof(forged), "0%s", strchr(token, '.'));
        check_true("no end", !preview_verify(key, ID, 80, 1, forged));
        token[strlen(token) - 1] ^= 1;
        check_true("a bit", !preview_verify(key, ID, 80, 1, token));
        preview_sign(key, ID, 80, 0, token);
        check_true("for ever", preview_verify(key, ID, 80, UINT64_MAX - 1, token));
        check_true("nothing", !preview_verify(key, ID, 80, 1, ""));
        check_true("a dot", !preview_verify(key, ID, 80, 1, "."));
        check_true("number only", !preview_verify(key, ID, 80, 1, "1000."));
}

TEST(cookies) {
        char value[16];

        check_true("alone", preview_cookie("a=b", "a", value, sizeof(value)));
        check_string("value", value, "b");
        check_true("among others", preview_cookie("x=1; a=c; y=2", "a", value, sizeof(value)));
        check_string("value", value, "c");
        check_true("part of a name", !preview_cookie("aa=b; ba=c", "a", value, sizeof(value)));
        check_true("too long", !preview_cookie("a=0123456789abcdef", "a", value, sizeof(value)));
        check_true("none", !preview_cookie(NULL, "a", value, sizeof(value)));
        check_true("empty", !preview_cookie("", "a", value, sizeof(value)));
}


TEST(lines_of_the_kernel) {
        check_uint("head", ports_of_line("  sl  local_address rem_address   st tx_queue rx_queue"), 0);
        check_uint("any", ports_of_line("   0: 00000000:1F40 00000000:0000 0A 00000000:00000000 00:00000000"), 8000);
        check_uint("loopback", ports_of_line("   1: 0100007F:0050 00000000:0000 0A 0"), 80);
        check_uint("another address", ports_of_line("   1: 0240400A:0050 00000000:0000 0A 0"), 0);
        check_uint("established", ports_of_line("   1: 0100007F:0050 0100007F:1234 01 0"), 0);
        check_uint("IPv6", ports_of_line("   0: 00000000000000000000000001000000:1F40 00000000000000000000000000000000:0000 0A"), 8000);
        check_uint("mapped", ports_of_line("   0: 0000000000000000FFFF00000100007F:1F40 00000000000000000000000000000000:0000 0A"), 8000);
        check_uint("rubbish", ports_of_line(":::::"), 0);
        check_uint("nothing", ports_of_line(""), 0);
        check_uint("cut", ports_of_line("   0: 00000000:1F90"), 0);
}
