#include "jail/loop.h"

#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/fd.h"

#define LOOP_TRIES 16

/* Direct I/O, where the file allows it: otherwise the kernel caches what a sandbox writes a second time, for the file, and
 * counts that in the sandbox's memory (cgroup v2). A command that only wrote 700 MB was killed for 256 MB of memory.
 * With sectors of 512 bytes there would be none on a disk whose sectors have 4096.
 *
 * Another process may take the free device before we configure it: then retry. */
int loop_attach(int file_fd, const char *name, char ret_path[static LOOP_PATH_MAX], Error *reterr) {
        _cleanup_close_ int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
        struct loop_config config = {
                .fd = (uint32_t) file_fd,
                .block_size = LOOP_SECTOR,
                .info.lo_flags = LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO,
        };

        if (control < 0)
                return error_set(reterr, -errno, "/dev/loop-control: %m (modprobe loop)");
        (void) snprintf((char *) config.info.lo_file_name, sizeof(config.info.lo_file_name), "%s", name);
        for (int i = 0; i < LOOP_TRIES; i++) {
                _cleanup_close_ int loop = -EBADF;
                int n = ioctl(control, LOOP_CTL_GET_FREE);

                if (n < 0)
                        return error_set(reterr, -errno, "no free loop device: %m");
                (void) snprintf(ret_path, LOOP_PATH_MAX, "/dev/loop%d", n);
                loop = open(ret_path, O_RDWR | O_CLOEXEC);
                if (loop < 0)
                        return error_set(reterr, -errno, "%s: %m", ret_path);
                if (ioctl(loop, LOOP_CONFIGURE, &config) == 0)
                        return TAKE_FD(loop);
                if (errno != EBUSY)
                        return error_set(reterr, -errno, "%s: %m", ret_path);
        }
        return error_set(reterr, -EBUSY, "no free loop device");
}

/* Checks the file after opening the device, since an open device does not clear itself. */
static int open_if_on(const char *device, const struct stat *file) {
        _cleanup_close_ int loop = open(device, O_RDWR | O_CLOEXEC);
        struct loop_info64 info;

        if (loop < 0 || ioctl(loop, LOOP_GET_STATUS64, &info) < 0)
                return -ENOENT;
        return info.lo_device == file->st_dev && info.lo_inode == file->st_ino ? TAKE_FD(loop) : -ENOENT;
}

int loop_find(int file_fd, char ret_path[static LOOP_PATH_MAX], Error *reterr) {
        _cleanup_directory_ DIR *blocks = directory_open(AT_FDCWD, "/sys/block");
        const struct dirent *entry;
        struct stat file;

        if (!blocks || fstat(file_fd, &file) < 0)
                return error_set(reterr, -errno, "/sys/block: %m");
        while ((entry = directory_next(blocks))) {
                char attribute[sizeof(entry->d_name) + 32];
                int loop;

                (void) snprintf(attribute, sizeof(attribute), "%s/loop/backing_file", entry->d_name);
                if (strncmp(entry->d_name, "loop", 4) != 0 || faccessat(dirfd(blocks), attribute, F_OK, 0) < 0)
                        continue;
                (void) snprintf(ret_path, LOOP_PATH_MAX, "/dev/%.20s", entry->d_name);
                loop = open_if_on(ret_path, &file);
                if (loop >= 0)
                        return loop;
        }
        return -ENOENT;
}

int loop_take_size(int loop_fd) {
        return ioctl(loop_fd, LOOP_SET_CAPACITY, 0) < 0 ? -errno : 0;
}
