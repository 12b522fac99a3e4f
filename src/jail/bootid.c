#include "jail/bootid.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/fd.h"
#include "jail/tree.h"

#define PLACE "/proc/sys/kernel/random/boot_id"
#define ATTRIBUTES (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)

/* As the kernel makes its own: RFC 4122, version 4. */
void bootid_format(const uint8_t bytes[static 16], char ret[static BOOTID_LENGTH + 1]) {
        char *p = ret;

        for (int i = 0; i < 16; i++) {
                unsigned b = bytes[i];

                if (i == 6)
                        b = (b & 0x0f) | 0x40;
                if (i == 8)
                        b = (b & 0x3f) | 0x80;
                p += snprintf(p, 4, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", b);
        }
}

/* The file lies in shm/, so it is in memory even if the disk is kept. Its name is random, so no guest can have
 * made a file of that name before. The kernel attaches no file that has lost its name already. */
static int bootid_make_file(const char *name, const char *text) {
        _cleanup_close_ int fd = open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0444);
        int r = fd < 0 ? -errno : fd_write_all(fd, text, strlen(text));

        return r < 0 ? r : tree_clone(AT_FDCWD, name, /* recursive= */ false);
}

int bootid_make(BootId *ret, Error *reterr) {
        _cleanup_close_ int tree = -EBADF;
        char id[BOOTID_LENGTH + 1], text[BOOTID_LENGTH + 2], place[80];
        uint8_t bytes[16];
        int r;

        if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
                return error_set(reterr, -EIO, "random bytes for the boot id");
        bootid_format(bytes, id);
        (void) snprintf(text, sizeof(text), "%s\n", id);
        (void) snprintf(ret->name, sizeof(ret->name), ".boot-%s", id);
        (void) snprintf(place, sizeof(place), "shm/%s", ret->name);
        tree = bootid_make_file(place, text);
        if (tree < 0)
                return error_set(reterr, tree, "boot id");
        r = tree_restrict(tree, ATTRIBUTES, /* userns_fd= */ -EBADF, /* recursive= */ false);
        if (r < 0)
                return error_set(reterr, r, "boot id");
        ret->tree = TAKE_FD(tree);
        return 0;
}

/* Only a kernel without a boot id goes without a cover. After any other failure the guest could read the host's. */
static int attach_over_the_kernels(int tree) {
        if (faccessat(AT_FDCWD, PLACE, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
                return errno == ENOENT ? 0 : -errno;
        return tree_attach(tree, AT_FDCWD, PLACE);
}

int bootid_attach(const BootId *b, Error *reterr) {
        int r = attach_over_the_kernels(b->tree);
        char place[80];

        if (r < 0)
                return error_set(reterr, r, PLACE);
        (void) snprintf(place, sizeof(place), "/dev/shm/%s", b->name);
        return unlink(place) < 0 ? error_set(reterr, -errno, "%s", place) : 0;
}
