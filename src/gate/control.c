#include "gate/control.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "base/text.h"
#include "wire/channel.h"

_Static_assert(CONTROL_SHORT == CHANNEL_SHORT, "handed on as it is");
_Static_assert(CONTROL_FDS_MAX <= CHANNEL_FDS_MAX, "a channel carries as many");

/* Both programs have one thread, and handle one message at a time. Values of secrets pass through the
 * buffer. */
static char buffer[CONTROL_MESSAGE_MAX];

static void control_wipe(size_t size) {
        explicit_bzero(buffer, size);
}

int control_send(int fd, json_t *message, const int *fds, size_t n_fds) {
        size_t size;
        int r;

        if (!message)
                return -ENOMEM;
        if (n_fds > CONTROL_FDS_MAX)
                return -E2BIG;
        size = json_dumpb(message, buffer, sizeof(buffer), JSON_COMPACT);
        if (size == 0)
                return -ENOMEM;
        if (size > sizeof(buffer)) {
                control_wipe(sizeof(buffer));
                return -EMSGSIZE;
        }
        r = channel_send_bytes(fd, buffer, size, fds, n_fds, MSG_DONTWAIT);
        control_wipe(size);
        return r;
}

static json_t *control_parse(size_t size) {
        json_t *j = json_loadb(buffer, size, JSON_REJECT_DUPLICATES, NULL);

        if (j && !json_is_object(j)) {
                json_decref(j);
                return NULL;
        }
        return j;
}

int control_receive(int fd, json_t **ret, int ret_fds[static CONTROL_FDS_MAX], size_t *ret_n_fds) {
        int fds[CHANNEL_FDS_MAX], r;
        json_t *j = NULL;
        size_t size, n_fds;

        r = channel_receive_bytes(fd, MSG_DONTWAIT, buffer, sizeof(buffer), &size, fds, ELEMENTSOF(fds), &n_fds);
        if (r <= 0) {
                if (r == -EBADMSG)
                        control_wipe(sizeof(buffer)); /* part of a message may fill all of it */
                return r;
        }
        if (n_fds <= CONTROL_FDS_MAX)
                j = control_parse(size);
        control_wipe(size);
        if (!j) {
                for (size_t i = 0; i < n_fds; i++)
                        (void) fd_close(fds[i]);
                return -EBADMSG;
        }
        if (n_fds > 0)
                memcpy(ret_fds, fds, n_fds * sizeof(int));
        *ret_n_fds = n_fds;
        *ret = j;
        return r;
}

int control_check_value(const char *value, size_t size, size_t *all, Error *reterr) {
        if (size < CONTROL_VALUE_MIN)
                return error_set(reterr, -EINVAL, "its value has %zu bytes, the minimum is %d: a shorter value occurs in ordinary text", size, CONTROL_VALUE_MIN);
        if (memchr(value, 0, size) || utf8_prefix(value, size, &(bool) { 0 }) != size)
                return error_set(reterr, -EINVAL, "its value is not text and cannot be sent in a header");
        *all += size;
        if (*all > CONTROL_VALUES_MAX)
                return error_set(reterr, -E2BIG, "the values together have %zu bytes, and those of a sandbox may have %d: use shorter or fewer ones", *all,
                                CONTROL_VALUES_MAX);
        return 0;
}
