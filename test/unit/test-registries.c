/* Where a machine gets its packages from, by its own configuration. */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/fd.h"
#include "base/registries.h"

static const struct {
        const char *path;
        mode_t mode;
        const char *text;
} files[] = {
        { "etc/apt/sources.list", 0644,
          "# deb http://commented.example/ x main\n"
          "deb http://deb.example.org/debian stable main\n"
          "deb [arch=amd64 signed-by=/usr/share/keyrings/x.gpg] https://user:secret@private.example.org:8443/deb stable main\n"
          "deb-src cdrom:[Debian]/ stable main\n" },
        { "etc/apt/sources.list.d/more.sources", 0644,
          "Types: deb\nURIs: http://one.example.org/debian\n https://two.example.org/x\nSuites: stable\nSigned-By: /x\n" },
        { "etc/apt/sources.list.d/more.sources.save", 0644, "URIs: https://saved.example\n" },
        { "etc/apt/sources.list.d/hidden.list", 0600, "deb https://hidden.example/ x main\n" },
        { "etc/apt/apt.conf.d/90proxy", 0644,
          "// Acquire::http::Proxy \"http://commented.example:3128\";\nAcquire::http::Proxy \"http://proxy.example.org:3128/\";\n"
          "Acquire::http::Proxy-Auto-Detect \"/usr/bin/x http://auto.example\";\n" },
        { "etc/pip.conf", 0644,
          "[global]\nindex-url = https://Pip.example.org/simple\nextra-index-url =\n    https://token:secret@extra.example.org/simple\n    http://third.example.org:8081/simple\n"
          "trusted-host = trusted.example\ncert = /etc/x.pem\n" },
        { "etc/npmrc", 0644, "registry=https://npm.example.org/\n@mine:registry=https://scope.example.org/npm/\n//npm.example.org/:_authToken=secret\nhttps-proxy=http://proxy.example.org:3129\n" },
        { "usr/etc/npmrc", 0644, "registry=https://made.example.org/\n" },
};

static const char *const hosts[] = {
        "http://deb.example.org", "https://private.example.org:8443", "http://one.example.org", "https://two.example.org", "https://pip.example.org",
        "https://extra.example.org", "http://third.example.org:8081", "https://npm.example.org", "https://scope.example.org", "https://made.example.org",
};

static int make_root(char directory[static 64]) {
        (void) strcpy(directory, "/tmp/test-registries-XXXXXX");
        check_true("directory", mkdtemp(directory) != NULL);
        return open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void put_file(int root, const char *path, mode_t mode, const char *text) {
        char part[128];
        int fd;

        for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
                (void) snprintf(part, sizeof(part), "%.*s", (int) (slash - path), path);
                (void) mkdirat(root, part, 0755);
        }
        fd = openat(root, path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        check_result(path, fd_write_all(fd, text, strlen(text)), 0);
        check_result(path, fchmod(fd, mode), 0);
        (void) fd_close(fd);
}

static void check_list(const char *what, const Strv *found, const char *const *wanted, size_t n) {
        for (size_t i = 0; i < n && i < found->n; i++)
                check_string(what, found->items[i], wanted[i]);
        check_uint(what, found->n, n);
}

static void check_proxies(const Registries *found, const char *http, const char *https, const char *none) {
        check_string("http", found->http_proxy, http);
        check_string("https", found->https_proxy, https);
        check_string("none", found->no_proxy, none);
}

TEST(all_of_a_machine) {
        char *environment[] = { (char *) "PATH=http://path.example", (char *) "https_proxy=http://me:secret@env.example.org:8080", (char *) "NO_PROXY=a,b", NULL };
        _cleanup_(registries_done) Registries found = REGISTRIES_INIT, quiet = REGISTRIES_INIT;
        char directory[64];
        _cleanup_close_ int root = make_root(directory);

        for (size_t i = 0; i < ELEMENTSOF(files); i++)
                put_file(root, files[i].path, files[i].mode, files[i].text);
        check_result("read", registries_read(root, environment, &found), 0);
        check_list("hosts", &found.hosts, hosts, ELEMENTSOF(hosts));
        check_proxies(&found, "http://proxy.example.org:3128/", "http://me:secret@env.example.org:8080", "a,b");
        check_result("read", registries_read(root, NULL, &quiet), 0);
        check_proxies(&quiet, "http://proxy.example.org:3128/", "http://proxy.example.org:3129", NULL);
        check_result("removed", directory_remove(AT_FDCWD, directory, 8), 0);
}

/* A cache for apt is no proxy for TLS; pip's proxy is for both, and goes before it; DIRECT is none. */
TEST(proxies_of_files) {
        static const struct {
                const char *path, *text, *http, *https;
        } cases[] = {
                { "etc/apt/apt.conf", "Acquire::http::Proxy \"http://apt.example.org:3142\";\n", "http://apt.example.org:3142", NULL },
                { "etc/apt/apt.conf.d/1", "Acquire {\n  http {\n    Proxy \"http://other.example.org\";\n  };\n};\n", "http://apt.example.org:3142", NULL },
                { "etc/apt/apt.conf.d/2", "Acquire::https::Proxy \"DIRECT\";\n", "http://apt.example.org:3142", NULL },
                { "etc/pip.conf", "[global]\nproxy = http://me:secret@pip.example.org:8080\n", "http://me:secret@pip.example.org:8080", "http://me:secret@pip.example.org:8080" },
        };
        char directory[64];
        _cleanup_close_ int root = make_root(directory);

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_(registries_done) Registries found = REGISTRIES_INIT;

                put_file(root, cases[i].path, 0644, cases[i].text);
                check_result("read", registries_read(root, NULL, &found), 0);
                check_proxies(&found, cases[i].http, cases[i].https, NULL);
        }
        check_result("removed", directory_remove(AT_FDCWD, directory, 8), 0);
}

/* A proxy is no registry, wherever it stands: sandboxes would reach everything through it. */
TEST(settings_may_be_indented) {
        static const char *const wanted[] = { "https://a.example", "https://b.example", "https://c.example", "https://npm.example", "https://scope.example" };
        _cleanup_(registries_done) Registries found = REGISTRIES_INIT;
        char directory[64];
        _cleanup_close_ int root = make_root(directory);

        put_file(root, "etc/pip.conf", 0644,
                        "[global]\n  index_url = https://a.example/x\n  extra-index-url =\n    https://b.example/x\n    https://c.example\n"
                        "  proxy = http://me:secret@pip.example:3128\n");
        put_file(root, "etc/npmrc", 0644, "registry=https://npm.example/\n  https-proxy=http://npm.example:3129\n  @x:registry=https://scope.example/\n");
        check_result("read", registries_read(root, NULL, &found), 0);
        check_list("hosts", &found.hosts, wanted, ELEMENTSOF(wanted));
        check_proxies(&found, "http://me:secret@pip.example:3128", "http://me:secret@pip.example:3128", NULL);
        check_result("removed", directory_remove(AT_FDCWD, directory, 8), 0);
}

/* Nothing of them is shown as a part of a host's name. */
TEST(passwords_of_any_letters) {
        static const char *const wanted[] = { "https://a.example:8443", "https://b.example" };
        _cleanup_(registries_done) Registries found = REGISTRIES_INIT;
        char directory[64];
        _cleanup_close_ int root = make_root(directory);

        put_file(root, "etc/apt/sources.list", 0644, "deb https://me:s?c#r,t;@a.example:8443/deb stable main\ndeb https://b.example/x@y stable main\n");
        put_file(root, "etc/npmrc", 0644, "https-proxy=http://proxy.example:3130;x\nproxy=http://me:s,c;t@proxy.example:3129\n");
        check_result("read", registries_read(root, NULL, &found), 0);
        check_list("hosts", &found.hosts, wanted, ELEMENTSOF(wanted));
        check_proxies(&found, "http://me:s,c;t@proxy.example:3129", "http://proxy.example:3130", NULL);
        check_result("removed", directory_remove(AT_FDCWD, directory, 8), 0);
}

TEST(a_machine_without_any) {
        _cleanup_(registries_done) Registries found = REGISTRIES_INIT;
        char directory[64];
        _cleanup_close_ int root = make_root(directory);

        check_result("read", registries_read(root, NULL, &found), 0);
        check_uint("hosts", found.hosts.n, 0);
        check_proxies(&found, NULL, NULL, NULL);
        check_result("removed", rmdir(directory), 0);
}
