/* What the host's pip, npm and apt are set to, for those inside. */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/fd.h"
#include "base/macro.h"
#include "jail/clientrc.h"

static void check_pip(const char *host, const char *wanted) {
        char text[CLIENTRC_BYTES];

        clientrc_filter_pip(text, sizeof(text), host);
        check_string(host, text, wanted);
}

static void check_npm(const char *host, const char *wanted) {
        char text[CLIENTRC_BYTES];

        clientrc_filter_npm(text, sizeof(text), host);
        check_string(host, text, wanted);
}

static void check_apt(const char *host, const char *wanted) {
        char text[256];

        (void) snprintf(text, sizeof(text), "%s", host);
        clientrc_strip_passwords(text);
        check_string(host, text, wanted);
}

TEST(pip_has_the_hosts_index_and_no_password) {
        check_pip("", "[global]\nbreak-system-packages = true\n");
        check_pip("[global]\nindex-url = https://pip.example.org/simple\n", "[global]\nbreak-system-packages = true\nindex-url = https://pip.example.org/simple\n");
        check_pip("[install]\nbreak_system_packages = false\nextra-index-url =\n    https://me:secret@a.example/x\n    https://b.example/x\n",
                        "[install]\nbreak_system_packages = false\nextra-index-url =\n    https://b.example/x\n");
        check_pip("# break-system-packages, me:secret\n[x]\r\n", "[x]\n[global]\nbreak-system-packages = true\n");
}

/* As Python's configparser reads it. */
TEST(pip_may_be_indented) {
        check_pip("[global]\n  index-url = https://a.example/x\n  extra-index-url =\n    https://b.example/x\n    https://me:secret@c.example/x\n"
                  "  proxy = me:secret@proxy.example.org:3128\n  timeout = 9\n",
                        "[global]\nbreak-system-packages = true\nindex-url = https://a.example/x\nextra-index-url =\n    https://b.example/x\ntimeout = 9\n");
        check_pip("[x]\nbreak-system-packages = true\n--Client_Cert : /usr/key.pem\n", "[x]\nbreak-system-packages = true\n");
        check_pip("[x]\nbreak-system-packages = true\nproxy =\n\n# why\n   me:secret@proxy.example.org:3128\ntimeout = 9\rproxy = me:secret@y\n",
                        "[x]\nbreak-system-packages = true\ntimeout = 9\n");
}

TEST(pip_goes_through_no_proxy_of_the_hosts) {
        check_pip("[x]\nbreak-system-packages = true\nproxy = me:secret@proxy.example.org:3128\ntimeout = 9\n", "[x]\nbreak-system-packages = true\ntimeout = 9\n");
        check_pip("[x]\nbreak-system-packages = true\nproxy =\n    me:secret@proxy.example.org:3128\ntimeout = 9\n", "[x]\nbreak-system-packages = true\ntimeout = 9\n");
}

TEST(pip_has_no_password_in_any_spelling) {
        check_pip("[x]\nbreak-system-packages = true\n__proxy = secret\n-_Proxy = secret\nindex-url = https:/me:secret@a.example/\nfind-links =\n    me:secret@b.example\n"
                  "\xc2\xa0proxy = me:secret@proxy.example.org:3128\ntimeout = 9\n",
                        "[x]\nbreak-system-packages = true\nfind-links =\ntimeout = 9\n");
}

TEST(pip_trusts_authorities_that_are_inside) {
        check_pip("[x]\nbreak-system-packages = true\ncert = /etc/ssl/certs/ca-certificates.crt\n", "[x]\nbreak-system-packages = true\ncert = /etc/ssl/certs/ca-certificates.crt\n");
        check_pip("[x]\nbreak-system-packages = true\ncert = /root/own.pem\nclient-cert = /usr/key.pem\n", "[x]\nbreak-system-packages = true\n");
}

#define AUTHORITIES "cafile=/etc/ssl/certs/ca-certificates.crt\n"

TEST(npm_has_where_packages_come_from_and_nothing_else) {
        check_npm("", AUTHORITIES);
        check_npm("# x\n; y\nregistry=https://npm.example.org/\n@mine:registry = https://mine.example.org/\n//npm.example.org/:_authToken=secret\n_auth=secret\n"
                  "proxy=http://me:secret@proxy.example.org:3128\nhttps-proxy=http://proxy.example.org:3128\nprefix=/opt/npm\nfund=false",
                        "registry=https://npm.example.org/\n@mine:registry = https://mine.example.org/\nfund=false\n" AUTHORITIES);
        check_npm("  registry=https://me:secret@npm.example.org/\n@mine:_authToken=secret\n", AUTHORITIES);
}

/* npm ends lines at CR, too, sees a user in a URL with one slash or none, and knows "=" alone. */
TEST(npm_has_no_password_in_any_spelling) {
        check_npm("registry=https://npm.example.org/\r//npm.example.org/:_authToken=secret\rfund=false\r\n", "registry=https://npm.example.org/\nfund=false\n" AUTHORITIES);
        check_npm("registry=https:/me:secret@a.example/\n@mine:registry=me:secret@b.example\nregistry[]=//me:secret@c.example\n", AUTHORITIES);
        check_npm("registry:_authToken=secret\n@mine:registry:_authToken=secret\n@mine:registry _auth=secret\nfund:_auth=secret\nca:_auth=secret\n", AUTHORITIES);
        check_npm("registry=https://npm.example.org/ ; //npm.example.org/:_authToken=secret\nfund=false#secret\n", "registry=https://npm.example.org/\nfund=false\n" AUTHORITIES);
}

/* npm reads a quoted text as JSON. */
TEST(npm_has_no_password_in_json) {
        check_npm("cafile=/usr/x\nregistry=\"https://me:secret\\u0040a.example/\"\nca=\"a\\nb\"\n", "cafile=/usr/x\nca=\"a\\nb\"\n");
}

/* What the jail has made of several places stands in the first of them, and is read again together with the others. */
TEST(npm_of_what_was_made_is_the_same) {
        char once[CLIENTRC_BYTES], places[2 * CLIENTRC_BYTES], again[CLIENTRC_BYTES];
        static const char others[] = "fund=false\nregistry=https://npm.example.org/\n";

        (void) snprintf(places, sizeof(places), "audit=false\n%s", others);
        clientrc_filter_npm(once, sizeof(once), places);
        (void) snprintf(places, sizeof(places), "%s%s", once, others);
        clientrc_filter_npm(again, sizeof(again), places);
        check_string("again", again, once);
}

TEST(npm_trusts_authorities_that_are_inside) {
        check_npm("cafile=/usr/share/own.pem\n", "cafile=/usr/share/own.pem\n");
        check_npm("cafile=/root/own.pem\n", AUTHORITIES);
        check_npm("ca[]=\"-----BEGIN CERTIFICATE-----\\nx\"\n", "ca[]=\"-----BEGIN CERTIFICATE-----\\nx\"\n");
}

TEST(apt_has_sources_without_passwords) {
        check_apt("deb https://me:s?c#ret@a.example/deb stable main\n", "deb https://a.example/deb stable main\n");
        check_apt("deb [signed-by=/x] https://me:s@cret@a.example:8443/deb stable main\ndeb http://b.example/@x y\n",
                        "deb [signed-by=/x] https://a.example:8443/deb stable main\ndeb http://b.example/@x y\n");
        check_apt("URIs: http://token@a.example https://b.example\nX: ://", "URIs: http://a.example https://b.example\nX: ://");
        check_apt("# http://a.example/\n\ndeb [signed-by=/etc/a@b.gpg] http://a.example/~me@b x\n", "# http://a.example/\n\ndeb [signed-by=/etc/a@b.gpg] http://a.example/~me@b x\n");
}

static void put_bytes(int root, const char *path, const char *text, size_t size) {
        _cleanup_close_ int fd = openat(root, path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);

        check_result(path, fd_write_all(fd, text, size), 0);
}

static void put_file(int root, const char *path, mode_t mode, const char *text) {
        put_bytes(root, path, text, strlen(text));
        check_int(path, fchmodat(root, path, mode, 0), 0);
}

/* With each of these, apt sends the password. */
TEST(apt_has_no_password_in_any_spelling) {
        static const char *const odd[] = {
                "http:me:secret@a.example/x", "http://me:se[c/ret]@a.example/x", "http://me:\"se cret\"@a.example/x", "http://me:secret%40a.example/x",
                "http%3a//me:secret@a.example/x", "http:%2f%2fme:secret@a.example/x", "http://me:se%5bc/ret%5d@a.example/x",
        };

        for (size_t i = 0; i < ELEMENTSOF(odd); i++) {
                char text[256];

                (void) snprintf(text, sizeof(text), "deb http://b.example/ x\ndeb [arch=amd64] %s x y\n# end", odd[i]);
                check_apt(text, "deb http://b.example/ x\n#\n# end");
        }
        check_apt("Types: deb\nX-Contact: me@a.example\nURIs:\n http:me:secret@a.example/\n http://b.example/\nSigned-By: /usr/a@b.gpg\n",
                        "Types: deb\n#\nURIs:\n#\n http://b.example/\nSigned-By: /usr/a@b.gpg\n");
}

TEST(of_a_machine) {
        char directory[] = "/tmp/test-clientrc-XXXXXX", text[CLIENTRC_BYTES], long_one[CLIENTRC_BYTES + 64];
        _cleanup_close_ int root = -EBADF;

        check_true("directory", mkdtemp(directory) != NULL);
        root = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        check_int("etc", mkdirat(root, "etc", 0755), 0);
        check_int("usr", mkdirat(root, "usr", 0755), 0);
        check_int("usr/etc", mkdirat(root, "usr/etc", 0755), 0);
        put_file(root, "etc/npmrc", 0644, "registry=https://npm.example.org/");
        put_file(root, "usr/etc/npmrc", 0644, "fund=false\n_auth=secret\n");
        put_file(root, "etc/pip.conf", 0600, "[global]\nindex-url = https://closed.example.org/\n");
        clientrc_read_npm(root, text);
        check_string("npm", text, "registry=https://npm.example.org/\nfund=false\n" AUTHORITIES);
        clientrc_read_pip(root, text);
        check_string("pip", text, "[global]\nbreak-system-packages = true\n");

        check_true("password", clientrc_npm_without_password(root, "usr/etc/npmrc", text));
        check_string("hidden", text, "fund=false\n" AUTHORITIES);
        check_true("no password", !clientrc_npm_without_password(root, "etc/npmrc", text));

        put_file(root, "usr/key", 0644, "fund=false\nkey=\"-----BEGIN PRIVATE KEY-----\"\n");
        check_true("key", clientrc_npm_without_password(root, "usr/key", text));
        check_string("no key", text, "fund=false\n" AUTHORITIES);
        put_bytes(root, "usr/nul", "fund=false\n\0\n_auth=secret\n", 25);
        check_true("behind NUL", clientrc_npm_without_password(root, "usr/nul", text));
        check_string("nothing behind NUL", text, "fund=false\n" AUTHORITIES);

        /* The end of what is read is in the middle of a password. */
        (void) snprintf(long_one, sizeof(long_one), "fund=false\n;%0*d\nregistry=https://me:secret@npm.example.org/\n", CLIENTRC_BYTES - 45, 0);
        put_file(root, "usr/long", 0644, long_one);
        check_true("long", clientrc_npm_without_password(root, "usr/long", text));
        check_string("half a line", text, "fund=false\n" AUTHORITIES);
        check_result("remove", directory_remove(AT_FDCWD, directory, 8), 0);
}
