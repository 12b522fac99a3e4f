#include "jail/names.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dirs.h"
#include "base/fd.h"
#include "jail/furniture.h"

#define HOSTS_BYTES    512
#define HOSTNAME_BYTES 128

/* In a gated network any address works, since all end in the same socket; in a linked network only this one does. Short
 * timeouts: our name server answers quickly or not at all, and waits for the servers behind it itself. */
static const char resolver[] = "nameserver 10.64.0.1\noptions timeout:2 attempts:2\n";

static int names_put(const JailSpec *spec, int dirfd, const char *path, const char *text, Error *reterr) {
        _cleanup_close_ int fd = openat(dirfd, path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0644);
        int r = fd < 0 ? -errno : fd_write_all(fd, text, strlen(text));

        return r < 0 && !jail_forgives(spec, r) ? error_set(reterr, r, "%s", path) : 0;
}

static int names_write_file(const JailSpec *spec, const char *path, const char *text, Error *reterr) {
        return names_put(spec, AT_FDCWD, path, text, reterr);
}

/* Reads only a regular file: a guest may have left a link or a pipe there. */
static ssize_t file_read_regular(int dirfd, const char *path, char *ret, size_t size) {
        _cleanup_close_ int fd = openat(dirfd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        struct stat st;
        ssize_t n;

        if (fd < 0 || fstat(fd, &st) < 0)
                return -errno;
        n = S_ISREG(st.st_mode) ? read(fd, ret, size - 1) : -1;
        if (n < 0)
                return -EINVAL;
        ret[n] = '\0';
        return n;
}

/* The file describes the network of this life, not that of a former one. A file that has the text already is
 * left alone: a full disk has no room for another. */
static int write_resolver(const JailSpec *spec, const char *text, Error *reterr) {
        char there[256];
        bool may_be_there = jail_is_kept(spec) || jail_has_shared_etc(spec);
        ssize_t n = may_be_there ? file_read_regular(AT_FDCWD, "/etc/resolv.conf", there, sizeof(there)) : -ENOENT;

        if (n >= 0 && strcmp(there, text) == 0)
                return 0;
        if (may_be_there && unlink("/etc/resolv.conf") < 0 && !jail_forgives(spec, -errno))
                return error_set(reterr, -errno, "/etc/resolv.conf");
        return names_write_file(spec, "/etc/resolv.conf", text, reterr);
}

void names_write_hosts(char *ret, size_t size, const char *hostname) {
        (void) snprintf(ret, size, "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n127.0.1.1 %s\n", hostname);
}

static int write_hosts(const JailSpec *spec, Error *reterr) {
        char text[HOSTS_BYTES];

        names_write_hosts(text, sizeof(text), spec->hostname);
        return names_write_file(spec, "/etc/hosts", text, reterr);
}

static int copy_resolver(int host_root_fd, Error *reterr) {
        _cleanup_close_ int from = openat(host_root_fd, "etc/resolv.conf", O_RDONLY | O_CLOEXEC | O_NONBLOCK), to = -EBADF;
        struct stat st;
        int r;

        if (from < 0 || fstat(from, &st) < 0 || !S_ISREG(st.st_mode))
                return 0; /* the host has none either */
        to = open("/etc/resolv.conf", O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
        if (to < 0)
                return error_set(reterr, -errno, "/etc/resolv.conf");
        r = fd_copy(from, to);
        return r < 0 ? error_set(reterr, r, "/etc/resolv.conf") : 0;
}

/* True if cove wrote both files in a former life, or in the life of the sandbox that this disk was copied from:
 * both have the same name, and nothing of the guest's. */
static bool names_are_ours(int dirfd) {
        char name[HOSTNAME_BYTES + 1], hosts[HOSTS_BYTES], expected[HOSTS_BYTES];

        if (file_read_regular(dirfd, "hostname", name, sizeof(name)) <= 0 || file_read_regular(dirfd, "hosts", hosts, sizeof(hosts)) < 0)
                return false;
        name[strcspn(name, "\n")] = '\0';
        names_write_hosts(expected, sizeof(expected), name);
        return strcmp(hosts, expected) == 0;
}

static void names_forget_former(const JailSpec *spec, int dirfd) {
        if (dirfd < 0 || !jail_is_kept(spec) || !names_are_ours(dirfd))
                return;
        (void) unlinkat(dirfd, "hosts", 0);
        (void) unlinkat(dirfd, "hostname", 0);
}

int names_put_own(const JailSpec *spec, const char *upper, Error *reterr) {
        _cleanup_close_ int dirfd = open(upper, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        char hosts[HOSTS_BYTES], name[HOSTNAME_BYTES + 1];
        int r;

        if (dirfd < 0)
                return error_set(reterr, -errno, "%s", upper);
        names_forget_former(spec, dirfd);
        names_write_hosts(hosts, sizeof(hosts), spec->hostname);
        (void) snprintf(name, sizeof(name), "%s\n", spec->hostname);
        r = names_put(spec, dirfd, "hosts", hosts, reterr);
        return r < 0 ? r : names_put(spec, dirfd, "hostname", name, reterr);
}

static int write_own(const JailSpec *spec, Error *reterr) {
        _cleanup_close_ int dirfd = open("/etc", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        char text[HOSTNAME_BYTES + 1];
        int r;

        names_forget_former(spec, dirfd);
        r = write_hosts(spec, reterr);
        if (r < 0)
                return r;
        (void) snprintf(text, sizeof(text), "%s\n", spec->hostname);
        r = names_write_file(spec, "/etc/hostname", text, reterr);
        if (r >= 0)
                r = names_write_file(spec, "/etc/nsswitch.conf", furniture_nsswitch, reterr);
        if (r >= 0) /* a login shell reads its prompt from here */
                r = names_write_file(spec, "/etc/profile", furniture_profile, reterr);
        if (r < 0 || !jail_is_for_root(spec))
                return r;
        for (size_t i = 0; i < furniture_n_pam && r >= 0; i++) {
                char path[64];

                (void) snprintf(path, sizeof(path), "/%s", furniture_pam[i].path);
                r = names_write_file(spec, path, furniture_pam[i].text, reterr);
        }
        return r;
}

int names_make(const JailSpec *spec, int host_root_fd, Error *reterr) {
        int r;

        r = jail_has_shared_etc(spec) ? 0 : write_own(spec, reterr);
        if (r < 0)
                return r;
        if (spec->net_host)
                return copy_resolver(host_root_fd, reterr);
        if (spec->network.shape != SPAWN_NETWORK_NONE)
                return write_resolver(spec, resolver, reterr);
        /* With loopback alone there is no resolver to name; a lookup then fails at once. */
        return write_resolver(spec, NAMES_NO_NETWORK, reterr);
}

int names_adapt(const JailSpec *spec, Error *reterr) {
        int r = 0;

        if (spec->net_host || spec->network.shape == SPAWN_NETWORK_NONE)
                return 0;
        r = dir_make("/etc", 0755);
        if (r < 0 && !jail_forgives(spec, r))
                return error_set(reterr, r, "/etc");
        r = 0;
        if (faccessat(AT_FDCWD, "/etc/hosts", F_OK, AT_SYMLINK_NOFOLLOW) < 0)
                r = write_hosts(spec, reterr);
        if (r < 0)
                return r;
        /* Often a link to a missing file. */
        if (!jail_is_kept(spec) && unlink("/etc/resolv.conf") < 0 && errno != ENOENT)
                return error_set(reterr, -errno, "/etc/resolv.conf");
        return write_resolver(spec, resolver, reterr);
}
