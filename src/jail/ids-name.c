#include "jail/ids-name.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/fd.h"
#include "base/parse.h"

#define PREFIX     "cove/id-range/"
#define ANSWER_MAX 65536 /* the kernel sends no larger ones */

int id_name_bind(uint32_t number) {
        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int n = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, PREFIX "%u", number);

        if (fd < 0 || bind(fd, (const struct sockaddr *) &address, (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 + (size_t) n)) < 0)
                return -errno;
        return TAKE_FD(fd);
}

static int ids_name_ask(int fd) {
        const struct {
                struct nlmsghdr header;
                struct unix_diag_req request;
        } message = {
                .header = { .nlmsg_len = sizeof(message), .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
                .request = { .sdiag_family = AF_UNIX, .udiag_states = ~0u, .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_UID },
        };

        return send(fd, &message, sizeof(message), 0) < 0 ? -errno : 0;
}

/* The number in a name; ID_NAME_COUNT: it is another name. */
static uint32_t ids_name_number(const char *name, size_t size) {
        char text[sizeof("\0" PREFIX) + 16] = "";
        uint64_t number;

        if (size <= sizeof(PREFIX) || size >= sizeof(text) || memcmp(name, "\0" PREFIX, sizeof(PREFIX)) != 0)
                return ID_NAME_COUNT;
        memcpy(text, name + sizeof(PREFIX), size - sizeof(PREFIX));
        return parse_uint64(text, 0, ID_NAME_COUNT - 1, &number) < 0 ? ID_NAME_COUNT : (uint32_t) number;
}

typedef void (*IdNameVisit)(uint32_t number, bool roots, void *userdata);

static void ids_name_read(const char *p, size_t size, IdNameVisit visit, void *userdata) {
        uint32_t number = ID_NAME_COUNT, uid = UINT32_MAX;
        struct rtattr a;

        for (size_t at = 0; at + sizeof(a) <= size; at += RTA_ALIGN(a.rta_len)) {
                const char *data = p + at + RTA_LENGTH(0);

                memcpy(&a, p + at, sizeof(a));
                if (a.rta_len < sizeof(a) || a.rta_len > size - at)
                        return;
                if (a.rta_type == UNIX_DIAG_NAME)
                        number = ids_name_number(data, a.rta_len - RTA_LENGTH(0));
                else if (a.rta_type == UNIX_DIAG_UID && a.rta_len == RTA_LENGTH(sizeof(uid)))
                        memcpy(&uid, data, sizeof(uid));
        }
        if (number < ID_NAME_COUNT)
                visit(number, uid == 0, userdata);
}

/* 0: that was all. 1: more follows. */
static int ids_name_read_all(const char *p, size_t size, IdNameVisit visit, void *userdata) {
        const size_t head = NLMSG_SPACE(sizeof(struct unix_diag_msg));
        struct nlmsghdr m;
        int error;

        for (size_t at = 0; at + sizeof(m) <= size; at += NLMSG_ALIGN(m.nlmsg_len)) {
                memcpy(&m, p + at, sizeof(m));
                if (m.nlmsg_len < sizeof(m) || m.nlmsg_len > size - at)
                        return -EPROTO;
                if (m.nlmsg_type == NLMSG_DONE)
                        return 0;
                if (m.nlmsg_type == NLMSG_ERROR) {
                        if (m.nlmsg_len < NLMSG_LENGTH(sizeof(error)))
                                return -EPROTO;
                        memcpy(&error, p + at + NLMSG_HDRLEN, sizeof(error));
                        return error < 0 ? error : -EPROTO;
                }
                if (m.nlmsg_len >= head)
                        ids_name_read(p + at + head, m.nlmsg_len - head, visit, userdata);
        }
        return 1;
}

int id_names_walk(void (*visit)(uint32_t number, bool roots, void *userdata), void *userdata) {
        _cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
        _cleanup_free_ char *answer = malloc(ANSWER_MAX);
        int r = fd < 0 ? -errno : answer ? ids_name_ask(fd) : -ENOMEM;

        for (r = r < 0 ? r : 1; r > 0;) {
                ssize_t n = recv(fd, answer, ANSWER_MAX, 0);

                r = n < 0 ? -errno : n == 0 ? -EPROTO : ids_name_read_all(answer, (size_t) n, visit, userdata);
        }
        return r;
}
