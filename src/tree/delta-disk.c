#include "tree/delta-disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "jail/clientrc.h"
#include "jail/furniture.h"
#include "tree/place.h"

#define TEXT_SIZE 4096

static bool delta_disk_has(const FurnitureList *list, const char *path) {
        for (size_t i = 0; i < list->n; i++)
                if (strcmp(list->items[i], path) == 0)
                        return true;
        return false;
}

/* Whether the directory was created only as a parent of a listed path. */
static bool leads_to(const FurnitureList *list, const char *path) {
        size_t n = strlen(path);

        for (size_t i = 0; i < list->n; i++)
                if (strncmp(list->items[i], path, n) == 0 && list->items[i][n] == '/')
                        return true;
        return false;
}

static const FurnitureDirectory *find_directory(const char *path) {
        for (size_t i = 0; i < furniture_n_directories; i++)
                if (strcmp(furniture_directories[i].path + 1, path) == 0)
                        return furniture_directories + i;
        return NULL;
}

static bool is_place(const char *path) {
        return delta_disk_has(&furniture_shown, path) || delta_disk_has(&furniture_shown_for_root, path) ||
               delta_disk_has(&furniture_overlays, path) || delta_disk_has(&furniture_overlays_for_root, path);
}

static bool is_on_the_way(const char *path) {
        static const FurnitureList *const lists[] = {
                &furniture_overlays_for_root, &furniture_copied, &furniture_copied_for_root, &furniture_links, &furniture_shown,
                &furniture_shown_for_root, &furniture_names,
        };

        for (size_t i = 0; i < ELEMENTSOF(lists); i++)
                if (leads_to(lists[i], path))
                        return true;
        return false;
}

/* Owners are not compared: some of these directories belong to the guest's user. */
static DiskJudgement judge_directory(bool on_host, const char *path, const struct stat *st, DeltaSide *ret) {
        const FurnitureDirectory *d = find_directory(path);
        mode_t mode;

        if (d && (d->flags & FURNITURE_OURS))
                return DISK_NOTHING;
        if (d && (on_host || !(d->flags & FURNITURE_FOR_ROOT)))
                mode = d->mode;
        else if (on_host && (is_place(path) || is_on_the_way(path)))
                mode = 0755;
        else
                return DISK_GUEST;
        if ((st->st_mode & 07777) == mode)
                return DISK_OURS;
        *ret = (DeltaSide) { .dirfd = -EBADF, .name = path, .st = *st };
        ret->st.st_mode = S_IFDIR | mode;
        return on_host ? DISK_BEFORE : DISK_GUEST; /* on a template, the directory may be the template's own */
}

/* Our file has this text and, in some files, one more line for the guest's user. That line is taken from the
 * present file. */
static void make_text(const char *ours, bool with_user, const DeltaSide *now, DeltaSide *ret) {
        static char text[TEXT_SIZE], there[TEXT_SIZE];
        _cleanup_close_ int fd = now && S_ISREG(now->st.st_mode) ? delta_open(now) : -EBADF;
        ssize_t n = fd < 0 ? 0 : fd_read_full(fd, there, sizeof(there) - 1);
        const char *line;

        there[n > 0 ? n : 0] = '\0';
        line = with_user ? strstr(there, "\n" FURNITURE_USER_LINE) : NULL;
        (void) snprintf(text, sizeof(text), "%s%.*s", ours, line ? (int) strcspn(line + 1, "\n") + 1 : 0, line ? line + 1 : "");
        *ret = (DeltaSide) { .dirfd = -EBADF, .text = text, .st = { .st_mode = S_IFREG | 0644, .st_size = (off_t) strlen(text) } };
}

static const struct {
        const char *path;
        void (*read)(int root, char ret[static CLIENTRC_BYTES]);
} client_settings[] = {
        { CLIENTRC_PIP, clientrc_read_pip },
        { CLIENTRC_NPM, clientrc_read_npm },
};

/* The host's settings, as the jail writes them. Disks of earlier versions have none: a missing file is not a change. */
static void make_client_settings(int base, size_t i, DeltaSide *ret) {
        static char text[CLIENTRC_BYTES];

        client_settings[i].read(base, text);
        *ret = (DeltaSide) { .dirfd = -EBADF, .text = text, .st = { .st_mode = S_IFREG | 0644, .st_size = (off_t) strlen(text) } };
}

static const struct {
        const char *path, *text;
        bool with_user, for_root;
} texts[] = {
        { "etc/passwd",        furniture_passwd,   true,  false },
        { "etc/group",         furniture_group,    true,  false },
        { "etc/nsswitch.conf", furniture_nsswitch, false, false },
        { "etc/profile",       furniture_profile,  false, true  }, /* not on all disks: absence means nothing */
};

/* Copies and links are compared with the host's files as they are at present. */
static DiskJudgement judge_copy(int base, const char *path, DeltaSide *ret) {
        bool link = delta_disk_has(&furniture_links, path) || delta_disk_has(&furniture_overlays, path);

        if (!link && !delta_disk_has(&furniture_copied, path) && !delta_disk_has(&furniture_copied_for_root, path) && !clientrc_is_apt(path))
                return DISK_GUEST;
        *ret = (DeltaSide) { .dirfd = base, .name = path };
        if (fstatat(base, path, &ret->st, link ? AT_SYMLINK_NOFOLLOW : 0) < 0 || S_ISLNK(ret->st.st_mode) != link)
                return DISK_GUEST;
        ret->st.st_uid = ret->st.st_gid = 0;
        if (!link)
                ret->st.st_mode = S_IFREG | 0644;
        return DISK_BEFORE;
}

/* npm's settings in /usr as the jail shows them. False: they have no password, and are shown as they are. */
static bool make_npm(int base, const char *path, DeltaSide *ret) {
        static char text[CLIENTRC_BYTES];

        *ret = (DeltaSide) { .dirfd = -EBADF, .text = text };
        if (!clientrc_npm_without_password(base, path, text) || fstatat(base, path, &ret->st, AT_SYMLINK_NOFOLLOW) < 0)
                return false;
        ret->st.st_size = (off_t) strlen(text);
        return true;
}

static bool has_text(const DeltaSide *now, const char *text) {
        _cleanup_close_ int fd = S_ISREG(now->st.st_mode) ? delta_open(now) : -EBADF;
        char there[CLIENTRC_BYTES];
        ssize_t n = fd < 0 ? -1 : fd_read_full(fd, there, sizeof(there));

        return n >= 0 && (size_t) n == strlen(text) && memcmp(there, text, (size_t) n) == 0;
}

static bool is_npm_place(const char *path) {
        for (size_t i = 1; i < CLIENTRC_NPM_PLACES; i++)
                if (strcmp(path, clientrc_npm_places[i]) == 0)
                        return true;
        return false;
}

/* Whether the file is unchanged except for the diversion that the jail adds. */
static bool is_diversions_of_ours(int base, const DeltaSide *now) {
        static char there[FURNITURE_DIVERSIONS_MAX + sizeof(FURNITURE_DIVERSION)], before[FURNITURE_DIVERSIONS_MAX];
        const size_t ours = strlen(FURNITURE_DIVERSION);
        _cleanup_close_ int now_fd = S_ISREG(now->st.st_mode) ? delta_open(now) : -EBADF;
        _cleanup_close_ int base_fd = openat(base, FURNITURE_DIVERSIONS, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        ssize_t n = now_fd < 0 ? -1 : fd_read_full(now_fd, there, sizeof(there)), m;
        struct stat st;

        if (n < (ssize_t) ours || base_fd < 0 || fstat(base_fd, &st) < 0 || !S_ISREG(st.st_mode))
                return false;
        m = fd_read_full(base_fd, before, sizeof(before));
        return m == n - (ssize_t) ours && memcmp(there, before, (size_t) m) == 0 && memcmp(there + m, FURNITURE_DIVERSION, ours) == 0;
}

/* Whether the jail made this: the empty file on which sudo is mounted, or the link named python3. The link
 * is ours only on the host's files: in an image it belongs to the image or its builder. */
static bool is_place_of_ours(bool on_host, const char *path, const DeltaSide *now) {
        const size_t n = strlen(FURNITURE_PYTHON_TARGET);
        char target[16];

        if (strcmp(path, &FURNITURE_SUDO[1]) == 0)
                return S_ISREG(now->st.st_mode) && now->st.st_size == 0;
        return on_host && strcmp(path, &FURNITURE_PYTHON[1]) == 0 && S_ISLNK(now->st.st_mode) &&
               readlinkat(now->dirfd, now->name, target, sizeof(target)) == (ssize_t) n && memcmp(target, FURNITURE_PYTHON_TARGET, n) == 0;
}

/* A file of the home directory that was copied from /etc/skel. Its owner is not compared. */
static DiskJudgement judge_home(int base, const char *path, const DeltaSide *now, DeltaSide *ret) {
        size_t n = strlen(FURNITURE_HOME);

        if (strncmp(path, FURNITURE_HOME, n) != 0 || !delta_disk_has(&furniture_skeleton, path + n) || !now)
                return DISK_GUEST;
        *ret = (DeltaSide) { .dirfd = base, .name = path };
        if (fstatat(base, path, &ret->st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(ret->st.st_mode))
                return DISK_GUEST;
        ret->st.st_uid = now->st.st_uid;
        ret->st.st_gid = now->st.st_gid;
        ret->st.st_mode = S_IFREG | 0644;
        return DISK_BEFORE;
}

DiskJudgement disk_judge(int base, bool on_host, bool in_root, const char *path, const DeltaSide *now, DeltaSide *ret) {
        DiskJudgement j = DISK_GUEST;

        if (delta_disk_has(&furniture_names, path))
                return DISK_NOTHING;
        if (on_host && strcmp(path, FURNITURE_EMPTIED) == 0 && now && now->st.st_size == 0)
                return DISK_NOTHING;
        if (now && is_place_of_ours(on_host, path, now))
                return DISK_NOTHING;
        if (on_host && is_npm_place(path) && make_npm(base, path, ret))
                return now && has_text(now, ret->text) ? DISK_NOTHING : DISK_BEFORE;
        if (now && strcmp(path, FURNITURE_DIVERSIONS) == 0 && is_diversions_of_ours(base, now))
                return DISK_NOTHING;
        if (now && S_ISDIR(now->st.st_mode))
                j = judge_directory(in_root, path, &now->st, ret);
        if (j != DISK_GUEST || !in_root)
                return j;
        for (size_t i = 0; i < ELEMENTSOF(texts); i++)
                if (strcmp(texts[i].path, path) == 0) {
                        make_text(texts[i].text, texts[i].with_user, now, ret);
                        return DISK_BEFORE;
                }
        for (size_t i = 0; i < furniture_n_pam; i++)
                if (strcmp(furniture_pam[i].path, path) == 0) {
                        make_text(furniture_pam[i].text, /* with_user= */ false, now, ret);
                        return DISK_BEFORE;
                }
        for (size_t i = 0; i < ELEMENTSOF(client_settings); i++)
                if (strcmp(client_settings[i].path, path) == 0) {
                        make_client_settings(base, i, ret);
                        return DISK_BEFORE;
                }
        if (is_place(path) && now && S_ISREG(now->st.st_mode) && now->st.st_size == 0)
                return DISK_NOTHING; /* the mount point of a bind mount */
        j = judge_home(base, path, now, ret);
        return j == DISK_GUEST ? judge_copy(base, path, ret) : j;
}

bool disk_upper_name(const char *path, char *ret, size_t size) {
        if (!delta_disk_has(&furniture_overlays, path) && !delta_disk_has(&furniture_overlays_for_root, path) && strcmp(path, FURNITURE_SHARED) != 0)
                return false;
        (void) snprintf(ret, size, "upper-%s", path);
        for (char *p = ret; *p; p++)
                if (*p == '/')
                        *p = '-';
        return true;
}

int disk_each_furniture(const char *directory, int (*function)(const char *name, void *userdata), void *userdata) {
        size_t n = strlen(directory);
        int r = 0;

        for (size_t i = 0; i < furniture_copied.n + ELEMENTSOF(texts) && r >= 0; i++) {
                const char *path = i < furniture_copied.n ? furniture_copied.items[i] : texts[i - furniture_copied.n].path;

                if (i >= furniture_copied.n && texts[i - furniture_copied.n].for_root)
                        continue;
                if (strncmp(path, directory, n) == 0 && path[n] == '/' && !strchr(path + n + 1, '/'))
                        r = function(path + n + 1, userdata);
        }
        return r;
}
