#include "init/pty.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fd.h"

int pty_open(const struct winsize *window, uid_t uid, gid_t gid, bool single_id, int *ret_master, int *ret_slave) {
        _cleanup_close_ int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC), slave = -EBADF;

        if (master < 0 || unlockpt(master) < 0)
                return -errno;
        slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
        if (slave < 0)
                return -errno;
        if (ioctl(slave, TIOCSWINSZ, window) < 0)
                return -errno;
        if (!single_id && fchown(slave, uid, gid) < 0)
                return -errno;

        *ret_master = TAKE_FD(master);
        *ret_slave = TAKE_FD(slave);
        return 0;
}
