#include "bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

#define BUNDLE_ID_BASE  1000000000u
#define BUNDLE_ID_COUNT 65536u

int bundle_make_root(const char *root, Error *reterr) {
        static const char *const directories[] = { "dev", "etc", "proc", "sys", "tmp", "usr" };
        static const char *const links[] = { "bin", "lib", "lib64", "sbin" };
        _cleanup_close_ int fd = -EBADF;

        if (mkdir(root, 0755) < 0)
                return error_set(reterr, -errno, "make '%s': %m", root);
        fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return error_set(reterr, -errno, "open '%s': %m", root);

        for (size_t i = 0; i < ELEMENTSOF(directories); i++)
                if (mkdirat(fd, directories[i], 0755) < 0)
                        return error_set(reterr, -errno, "make '%s/%s': %m", root, directories[i]);
        for (size_t i = 0; i < ELEMENTSOF(links); i++) {
                char target[16];

                (void) snprintf(target, sizeof(target), "usr/%s", links[i]);
                if (symlinkat(target, fd, links[i]) < 0)
                        return error_set(reterr, -errno, "link '%s/%s': %m", root, links[i]);
        }
        return 0;
}

static void write_map(FILE *f, const char *name, unsigned own_id) {
        unsigned base = geteuid() == 0 ? BUNDLE_ID_BASE : own_id;
        unsigned count = geteuid() == 0 ? BUNDLE_ID_COUNT : 1;

        fprintf(f, "  \"%s\": [{\"containerID\": 0, \"hostID\": %u, \"size\": %u}],\n", name, base, count);
}

/* The strings are our own commands: nothing in them wants escaping. */
static void write_config(FILE *f, const char *root, const char *const argv[]) {
        static const char *const namespaces[] = {
                "user", "pid", "mount", "ipc", "uts", "network", "cgroup",
        };

        fprintf(f, "{\"ociVersion\": \"1.0.2\", \"hostname\": \"bench\",\n");
        fprintf(f, " \"root\": {\"path\": \"%s\", \"readonly\": true},\n", root);
        fputs(" \"process\": {\"user\": {\"uid\": 0, \"gid\": 0}, \"cwd\": \"/\",\n"
              "  \"noNewPrivileges\": true, \"env\": [\"PATH=/usr/bin\"], \"args\": [", f);
        for (size_t i = 0; argv[i]; i++)
                fprintf(f, "%s\"%s\"", i ? ", " : "", argv[i]);
        fputs("]},\n \"mounts\": [\n"
              "  {\"destination\": \"/proc\", \"type\": \"proc\", \"source\": \"proc\"},\n"
              "  {\"destination\": \"/dev\", \"type\": \"tmpfs\", \"source\": \"tmpfs\",\n"
              "   \"options\": [\"nosuid\"]},\n"
              "  {\"destination\": \"/usr\", \"type\": \"bind\", \"source\": \"/usr\",\n"
              "   \"options\": [\"rbind\", \"ro\", \"nosuid\", \"nodev\"]}],\n"
              " \"linux\": {\n", f);
        write_map(f, "uidMappings", geteuid());
        write_map(f, "gidMappings", getegid());
        fputs("  \"namespaces\": [", f);
        for (size_t i = 0; i < ELEMENTSOF(namespaces); i++)
                fprintf(f, "%s{\"type\": \"%s\"}", i ? ", " : "", namespaces[i]);
        fputs("]}}\n", f);
}

int bundle_make(const char *dir, const char *root, const char *const argv[], Error *reterr) {
        char path[256];
        FILE *f;

        if (mkdir(dir, 0755) < 0)
                return error_set(reterr, -errno, "make '%s': %m", dir);
        (void) snprintf(path, sizeof(path), "%s/config.json", dir);
        f = fopen(path, "we");
        if (!f)
                return error_set(reterr, -errno, "make '%s': %m", path);
        write_config(f, root, argv);
        if (fclose(f) != 0)
                return error_set(reterr, -errno, "write '%s': %m", path);
        return 0;
}
