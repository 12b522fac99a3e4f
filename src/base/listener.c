#include "base/listener.h"

#include <errno.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/fd.h"

#define STATE_LISTENS 0x0a
#define QUESTION      "GET /api/version HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
#define SIGN          "realm=\"cove\"" /* in a daemon's refusal of a request without a key */

static int listener_read_table(const char *path, unsigned port, uid_t *ret) {
        FILE *f = fopen(path, "re");
        char line[512];
        int r = -ENOENT;

        while (f && r < 0 && fgets(line, sizeof(line), f)) {
                unsigned local, state, uid;

                if (sscanf(line, " %*u: %*[0-9A-F]:%x %*[0-9A-F]:%*x %x %*x:%*x %*x:%*x %*x %u", &local, &state, &uid) == 3 && local == port &&
                                state == STATE_LISTENS) {
                        *ret = uid;
                        r = 0;
                }
        }
        if (f)
                (void) fclose(f);
        return r;
}

static bool listener_answers_as_cove(const struct sockaddr *address, socklen_t size) {
        _cleanup_close_ int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const struct timeval patience = { .tv_sec = 5 }; /* a daemon on a busy machine may need more than one */
        char answer[4096];
        ssize_t n;

        if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) < 0 ||
                        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0)
                return false;
        if (connect(fd, address, size) < 0 || send(fd, QUESTION, strlen(QUESTION), MSG_NOSIGNAL) < 0)
                return false;
        n = recv(fd, answer, sizeof(answer) - 1, 0); /* a refusal is short: it arrives in one piece */
        answer[n > 0 ? n : 0] = '\0';
        return strncmp(answer, "HTTP/1.1 401 ", 13) == 0 && strstr(answer, SIGN);
}

int listener_find(const struct sockaddr *address, socklen_t size, Listener *ret) {
        const struct passwd *user;
        unsigned port = 0;
        uid_t uid = 0;

        if (address->sa_family == AF_INET)
                port = ntohs(((const struct sockaddr_in *) (const void *) address)->sin_port);
        else if (address->sa_family == AF_INET6)
                port = ntohs(((const struct sockaddr_in6 *) (const void *) address)->sin6_port);
        if (listener_read_table("/proc/net/tcp", port, &uid) < 0 && listener_read_table("/proc/net/tcp6", port, &uid) < 0)
                return -ENOENT;
        *ret = (Listener) { .uid = uid, .is_cove = listener_answers_as_cove(address, size) };
        user = getpwuid(uid);
        if (user)
                (void) snprintf(ret->user, sizeof(ret->user), "%s", user->pw_name);
        else
                (void) snprintf(ret->user, sizeof(ret->user), "%u", (unsigned) uid);
        return 0;
}
