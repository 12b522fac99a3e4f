#include "jail/sharedetc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/fd.h"
#include "jail/clientrc.h"
#include "jail/furniture.h"
#include "jail/names.h"
#include "jail/tree.h"

#define SOURCES_MAX 16384
#define DEPTH_MAX   8
#define COPY_MAX    (4 << 20)
#define LOOK_USEC   USEC_PER_SEC

typedef struct SharedetcMaking {
        int to; /* becomes /etc */
        Strv *sources;
} SharedetcMaking;

static uint64_t sharedetc_mix(uint64_t sum, uint64_t value) {
        for (int i = 0; i < 8; i++, value >>= 8)
                sum = (sum ^ (value & 0xff)) * UINT64_C(0x100000001b3);
        return sum;
}

static uint64_t stamp_of(const Strv *sources) {
        uint64_t sum = UINT64_C(0xcbf29ce484222325);

        for (size_t i = 0; i < sources->n; i++) {
                struct stat st = { 0 };

                (void) stat(sources->items[i], &st);
                sum = sharedetc_mix(sharedetc_mix(sharedetc_mix(sum, st.st_ino), (uint64_t) st.st_mtim.tv_sec), (uint64_t) st.st_mtim.tv_nsec);
        }
        return sum;
}

/* name: a path of the list, without "etc/". */
static int sharedetc_make_parents(int to, const char *name) {
        char prefix[256];

        for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
                (void) snprintf(prefix, sizeof(prefix), "%.*s", (int) (slash - name), name);
                if (mkdirat(to, prefix, 0755) < 0 && errno != EEXIST)
                        return -errno;
        }
        return 0;
}

static int sharedetc_put_file(int from, const char *source, mode_t mode, int to, const char *name) {
        _cleanup_close_ int out = openat(to, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode & 0755);

        if (out < 0)
                return errno == EEXIST ? 0 : -errno;
        return clientrc_is_apt(source + 1) ? clientrc_copy_apt(from, out) : fd_copy(from, out);
}

/* A file that others on the host may not read is missing inside as well. */
static bool may_everybody(const struct stat *st) {
        mode_t wanted = S_ISDIR(st->st_mode) ? S_IROTH | S_IXOTH : S_IROTH;

        return (st->st_mode & wanted) == wanted && (S_ISDIR(st->st_mode) || (S_ISREG(st->st_mode) && st->st_size <= COPY_MAX));
}

static int sharedetc_put_link(int dirfd, const char *source, int to, const char *name) {
        char target[512];
        ssize_t n = readlinkat(dirfd, source, target, sizeof(target) - 1);

        if (n < 0)
                return 0;
        target[n] = '\0';
        return symlinkat(target, to, name) < 0 && errno != EEXIST ? -errno : 0;
}

static int sharedetc_put_directory(const SharedetcMaking *m, int from, const char *path, int to, int depth);

static int sharedetc_put_entry(const SharedetcMaking *m, int from, const char *path, int to, const char *name, int depth) {
        _cleanup_close_ int in = -EBADF, out = -EBADF;
        char below[1024];
        struct stat st;

        if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return 0;
        if (S_ISLNK(st.st_mode))
                return sharedetc_put_link(from, name, to, name);
        if (!may_everybody(&st) || (size_t) snprintf(below, sizeof(below), "%s/%s", path, name) >= sizeof(below))
                return 0;
        in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (in < 0)
                return 0;
        if (S_ISREG(st.st_mode))
                return sharedetc_put_file(in, below, st.st_mode, to, name);
        if (mkdirat(to, name, st.st_mode & 0755) < 0 && errno != EEXIST)
                return -errno;
        out = openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return out < 0 ? -errno : depth >= DEPTH_MAX ? 0 : sharedetc_put_directory(m, in, below, out, depth + 1);
}

static int sharedetc_put_directory(const SharedetcMaking *m, int from, const char *path, int to, int depth) {
        _cleanup_directory_ DIR *d = directory_open(from, ".");
        int r = d ? strv_push(m->sources, path) : -errno;

        for (const struct dirent *e; r >= 0 && (e = directory_next(d));)
                r = sharedetc_put_entry(m, from, path, to, e->d_name, depth);
        return r;
}

/* Puts one entry of a list: a file, also through a link, or a directory, but not through a link. */
static int put_listed(const SharedetcMaking *m, const char *path) {
        const char *name = path + strlen("etc/");
        _cleanup_close_ int in = -EBADF, out = -EBADF;
        char source[256];
        struct stat st, own;
        int r;

        if (strncmp(path, "etc/", 4) != 0)
                return 0;
        (void) snprintf(source, sizeof(source), "/%s", path);
        in = open(source, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        if (in < 0 || fstat(in, &st) < 0 || !may_everybody(&st) || lstat(source, &own) < 0 || (S_ISDIR(st.st_mode) && S_ISLNK(own.st_mode)))
                return strv_push(m->sources, source); /* it may appear later */
        r = sharedetc_make_parents(m->to, name);
        if (r < 0)
                return r;
        if (S_ISREG(st.st_mode)) {
                r = strv_push(m->sources, source);
                return r < 0 ? r : sharedetc_put_file(in, source, 0644, m->to, name);
        }
        if (mkdirat(m->to, name, st.st_mode & 0755) < 0 && errno != EEXIST)
                return -errno;
        out = openat(m->to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return out < 0 ? -errno : sharedetc_put_directory(m, in, source, out, 0);
}

static int put_lists(const SharedetcMaking *m) {
        const FurnitureList *const lists[] = { &furniture_copied, &furniture_copied_for_root, &furniture_shown, &furniture_shown_for_root,
                                               &furniture_overlays_for_root };
        int r = 0;

        for (size_t i = 0; i < ELEMENTSOF(lists); i++)
                for (size_t k = 0; k < lists[i]->n && r >= 0; k++)
                        r = put_listed(m, lists[i]->items[k]);
        for (size_t k = 0; k < furniture_links.n && r >= 0; k++) {
                char source[256];

                (void) snprintf(source, sizeof(source), "/%s", furniture_links.items[k]);
                r = sharedetc_put_link(AT_FDCWD, source, m->to, furniture_links.items[k] + strlen("etc/"));
        }
        return r;
}

static int sharedetc_put_text(int to, const char *name, const char *text) {
        _cleanup_close_ int fd = openat(to, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);

        return fd < 0 ? -errno : fd_write_all(fd, text, strlen(text));
}

/* cove's own texts: equal in all sandboxes; a sandbox that needs another text replaces its copy. */
static int put_texts(int to) {
        char text[2048];
        int r = sharedetc_put_text(to, "nsswitch.conf", furniture_nsswitch);

        if (r >= 0)
                r = sharedetc_put_text(to, "profile", furniture_profile);
        for (size_t i = 0; i < furniture_n_pam && r >= 0; i++)
                r = sharedetc_put_text(to, furniture_pam[i].path + strlen("etc/"), furniture_pam[i].text);
        if (r < 0)
                return r;
        furniture_write_passwd(text, sizeof(text), SHAREDETC_USER, SHAREDETC_USER);
        r = sharedetc_put_text(to, "passwd", text);
        if (r < 0)
                return r;
        furniture_write_group(text, sizeof(text), SHAREDETC_USER);
        r = sharedetc_put_text(to, "group", text);
        if (r < 0)
                return r;
        return r < 0 ? r : sharedetc_put_text(to, "resolv.conf", NAMES_NO_NETWORK);
}

/* The host's settings of clients, combined with cove's. */
static int put_client_settings(const SharedetcMaking *m) {
        _cleanup_close_ int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        char text[CLIENTRC_BYTES], place[64];
        int r = root < 0 ? -errno : strv_push(m->sources, "/" CLIENTRC_PIP);

        for (size_t i = 0; i < CLIENTRC_NPM_PLACES && r >= 0; i++) {
                (void) snprintf(place, sizeof(place), "/%s", clientrc_npm_places[i]);
                r = strv_push(m->sources, place);
        }
        if (r < 0)
                return r;
        clientrc_read_pip(root, text);
        r = sharedetc_put_text(m->to, &CLIENTRC_PIP[strlen("etc/")], text);
        if (r < 0)
                return r;
        clientrc_read_npm(root, text);
        return sharedetc_put_text(m->to, &CLIENTRC_NPM[strlen("etc/")], text);
}

static int put_directories(int to) {
        for (size_t i = 0; i < furniture_n_directories; i++) {
                const FurnitureDirectory *d = furniture_directories + i;

                if (strncmp(d->path, "/etc/", 5) == 0 && mkdirat(to, d->path + 5, d->mode) < 0 && errno != EEXIST)
                        return -errno;
        }
        return 0;
}

static int sharedetc_make(SharedEtc *ret, Error *reterr) {
        static const FsOption options[] = { { "size", "64m" }, { "nr_inodes", "65536" }, { "mode", "0755" } };
        _cleanup_close_ int tree = tree_make("tmpfs", options, ELEMENTSOF(options), MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
        const SharedetcMaking m = { .to = tree, .sources = &ret->sources };
        int r;

        if (tree < 0)
                return error_set(reterr, tree, "no file system for a shared /etc: %m");
        r = put_directories(tree);
        if (r >= 0)
                r = put_lists(&m);
        if (r >= 0)
                r = put_texts(tree);
        if (r >= 0)
                r = put_client_settings(&m);
        if (r < 0)
                return error_set(reterr, r, "cannot copy the host's /etc: %m");
        ret->stamp = stamp_of(&ret->sources);
        ret->tree = TAKE_FD(tree);
        return 0;
}

void sharedetc_done(SharedEtc *e) {
        e->tree = fd_close(e->tree);
        strv_done(&e->sources);
}

int sharedetc_get(SharedEtc *e, Error *reterr) {
        SharedEtc fresh = { .tree = -EBADF, .sources = STRV_INIT(SOURCES_MAX) };
        usec_t now = clock_usec();
        int r;

        if (e->tree >= 0 && now < e->looked + LOOK_USEC)
                return 0;
        if (e->tree >= 0 && stamp_of(&e->sources) == e->stamp) {
                e->looked = now;
                return 0;
        }
        r = sharedetc_make(&fresh, reterr);
        if (r < 0) {
                sharedetc_done(&fresh);
                return r;
        }
        sharedetc_done(e); /* sandboxes that were made from the old one keep it */
        *e = fresh;
        e->looked = now;
        return 0;
}
