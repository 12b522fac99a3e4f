/* Networks of sandboxes, made for real in throw-away processes: what is sent where ends up in which socket. */
#include "unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "init/network.h"
#include "jail/net.h"
#include "jail/userns.h"

#define PATIENCE_MSEC 60000
#define QUIET_MSEC    100

enum { TCP, NAMES, UDP };

static int make(SpawnNetwork shape, int userns_fd, Network *ret, Error *error) {
        return net_make(&(NetRequest) { .shape = shape, .userns_fd = userns_fd, .hub_fd = -EBADF }, ret, error);
}

static void need(int r, const Error *error) {
        if (r == -EPERM || r == -EACCES)
                unit_skip("network namespaces cannot be made (%s): run this as root", error->text);
        check_string("error", error->text, "");
        check_result("net_make", r, 0);
}

/* The calling process is then inside. */
static Network enter_new(SpawnNetwork shape) {
        Network n = NETWORK_EMPTY;
        Error error = { 0 };

        need(make(shape, -EBADF, &n, &error), &error);
        check_uint("descriptors", n.n_fds, net_shape_fds(shape));
        check_result("enter", net_enter(n.netns_fd), 0);
        return n;
}

static struct sockaddr_in6 address_of(const char *text, uint16_t port) {
        struct sockaddr_in6 a = { .sin6_family = AF_INET6, .sin6_port = htons(port) };

        check_int(text, inet_pton(AF_INET6, text, &a.sin6_addr), 1);
        return a;
}

static void check_address(const char *what, const struct sockaddr_in6 *found, const char *address, uint16_t port) {
        char text[INET6_ADDRSTRLEN];

        check_true(what, inet_ntop(AF_INET6, &found->sin6_addr, text, sizeof(text)) != NULL);
        check_string(what, text, address);
        check_uint(what, ntohs(found->sin6_port), port);
}

static bool is_readable(int fd, int msec) {
        return poll(&(struct pollfd) { .fd = fd, .events = POLLIN }, 1, msec) > 0;
}

static int open_socket(int type) {
        int fd = socket(AF_INET6, type | SOCK_CLOEXEC, 0);

        check_true("socket", fd >= 0);
        return fd;
}

/* Who connects to anywhere is accepted by us, who see where it wanted to go. */
static void check_captured(const Network *n, const char *to, uint16_t port, const char *from) {
        struct sockaddr_in6 place = address_of(to, port), seen;
        int client = open_socket(SOCK_STREAM), server;
        socklen_t size = sizeof(seen);
        char byte = 0, pace[16] = "";

        check_result(to, connect(client, (struct sockaddr *) &place, sizeof(place)) < 0 ? -errno : 0, 0);
        check_true(to, is_readable(n->fds[TCP], PATIENCE_MSEC));
        server = accept4(n->fds[TCP], NULL, NULL, SOCK_CLOEXEC);
        check_true(to, server >= 0);
        check_int(to, getsockname(server, (struct sockaddr *) &seen, &size), 0);
        check_address(to, &seen, to, port);
        check_int(to, getpeername(server, (struct sockaddr *) &seen, &size), 0);
        check_address(from, &seen, from, ntohs(seen.sin6_port));
        check_int(to, write(server, "x", 1), 1);
        check_int("answer", read(client, &byte, 1), 1);
        check_int("answer", byte, 'x');
        size = sizeof(pace);
        check_int(to, getsockopt(client, IPPROTO_TCP, TCP_CONGESTION, pace, &size), 0);
        check_string("no pace is kept", pace, "reno");
        (void) close(client);
        (void) close(server);
}

static void captures_connections(_unused_ void *userdata) {
        Network n = enter_new(SPAWN_NETWORK_GATED);

        check_captured(&n, "::ffff:192.0.2.1", 80, "::ffff:10.64.0.2");
        check_captured(&n, "::ffff:169.254.169.254", 80, "::ffff:10.64.0.2");
        check_captured(&n, "::ffff:10.64.0.1", 53, "::ffff:10.64.0.2");
        check_captured(&n, "::ffff:192.0.2.1", NET_GATE_PORT, "::ffff:10.64.0.2");
        check_captured(&n, "2001:db8::1", 443, "fd64::2");
        check_captured(&n, "fd00:ec2::254", 80, "fd64::2");
}

TEST(gated_captures_connections) {
        unit_run_in_child(captures_connections, NULL);
}

typedef struct Received {
        char data[64];
        struct sockaddr_in6 from, to;
        struct in6_pktinfo info;
} Received;

static void receive(int fd, Received *ret) {
        _Alignas(8) char control[256];
        struct iovec iov = { .iov_base = ret->data, .iov_len = sizeof(ret->data) - 1 };
        struct msghdr m = {
                .msg_name = &ret->from,
                .msg_namelen = sizeof(ret->from),
                .msg_iov = &iov,
                .msg_iovlen = 1,
                .msg_control = control,
                .msg_controllen = sizeof(control),
        };

        memset(ret, 0, sizeof(*ret));
        check_true("datagram", is_readable(fd, PATIENCE_MSEC));
        check_true("datagram", recvmsg(fd, &m, 0) > 0);
        for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
                if (c->cmsg_level == SOL_IPV6 && c->cmsg_type == IPV6_PKTINFO)
                        memcpy(&ret->info, CMSG_DATA(c), sizeof(ret->info));
                else if (c->cmsg_level == SOL_IPV6 && c->cmsg_type == 74 /* IPV6_ORIGDSTADDR */)
                        memcpy(&ret->to, CMSG_DATA(c), sizeof(ret->to));
                else if (c->cmsg_level == SOL_IP && c->cmsg_type == 20 /* IP_ORIGDSTADDR */) {
                        struct sockaddr_in a;

                        memcpy(&a, CMSG_DATA(c), sizeof(a));
                        ret->to.sin6_port = a.sin_port;
                        ret->to.sin6_addr.s6_addr[10] = ret->to.sin6_addr.s6_addr[11] = 0xff;
                        memcpy(ret->to.sin6_addr.s6_addr + 12, &a.sin_addr, 4);
                }
        }
}

static void send_text(int fd, const char *to, uint16_t port, const char *text) {
        struct sockaddr_in6 place = address_of(to, port);

        check_int(to, sendto(fd, text, strlen(text), 0, (struct sockaddr *) &place, sizeof(place)), (intmax_t) strlen(text));
}

/* A conversation: the first datagram comes to us, further ones to a socket that PID 1 makes, from where answers go back. */
static void check_flow(const Network *n, const char *to, uint16_t port) {
        int client = open_socket(SOCK_DGRAM), flow;
        GuestSocket request = { .kind = GUEST_SOCKET_UDP, .local_port = port };
        Received got;

        send_text(client, to, port, "first");
        receive(n->fds[UDP], &got);
        check_string(to, got.data, "first");
        check_address(to, &got.to, to, port);

        memcpy(request.local, &got.to.sin6_addr, 16);
        memcpy(request.remote, &got.from.sin6_addr, 16);
        request.remote_port = ntohs(got.from.sin6_port);
        flow = network_socket(&request);
        check_true(to, flow >= 0);
        check_int("answer", send(flow, "answer", 6, 0), 6);
        receive(client, &got);
        check_string("answer", got.data, "answer");
        check_address("answer", &got.from, to, port);
        send_text(client, to, port, "second");
        receive(flow, &got);
        check_string("second", got.data, "second");
        check_true("only there", !is_readable(n->fds[UDP], 0));
        (void) close(flow);
        (void) close(client);
}

static void captures_datagrams(_unused_ void *userdata) {
        Network n = enter_new(SPAWN_NETWORK_GATED);

        check_flow(&n, "::ffff:192.0.2.7", 4000);
        check_flow(&n, "::ffff:192.0.2.7", 443);
        check_flow(&n, "2001:db8::7", 4000);
}

TEST(gated_captures_datagrams) {
        unit_run_in_child(captures_datagrams, NULL);
}

/* Whatever name server is asked, we hear it, and answer from its address. */
static void check_names(const Network *n, const char *server) {
        _Alignas(8) char control[CMSG_SPACE(sizeof(struct in6_pktinfo))] = { 0 };
        int client = open_socket(SOCK_DGRAM);
        struct iovec iov = { .iov_base = (char[]) { "answer" }, .iov_len = 6 };
        struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        Received got;
        char text[INET6_ADDRSTRLEN];

        send_text(client, server, NET_NAMES_PORT, "question");
        receive(n->fds[NAMES], &got);
        check_string(server, got.data, "question");
        check_string(server, inet_ntop(AF_INET6, &got.info.ipi6_addr, text, sizeof(text)), server);
        check_true("nobody else hears it", !is_readable(n->fds[UDP], 0));

        *c = (struct cmsghdr) { .cmsg_level = SOL_IPV6, .cmsg_type = IPV6_PKTINFO, .cmsg_len = CMSG_LEN(sizeof(got.info)) };
        got.info.ipi6_ifindex = 0;
        memcpy(CMSG_DATA(c), &got.info, sizeof(got.info));
        m.msg_name = &got.from;
        m.msg_namelen = sizeof(got.from);
        check_int("answer", sendmsg(n->fds[NAMES], &m, 0), 6);
        receive(client, &got);
        check_string("answer", got.data, "answer");
        check_address("answer", &got.from, server, NET_NAMES_PORT);
        (void) close(client);
}

static void hears_questions(_unused_ void *userdata) {
        Network n = enter_new(SPAWN_NETWORK_GATED);

        check_names(&n, "::ffff:10.64.0.1");
        check_names(&n, "::ffff:192.0.2.53");
        check_names(&n, "::ffff:127.0.0.53");
        check_names(&n, "2001:db8::53");
}

TEST(gated_hears_questions_for_names) {
        unit_run_in_child(hears_questions, NULL);
}

static int listen_on(const char *address, uint16_t port) {
        struct sockaddr_in6 place = address_of(address, port);
        int fd = open_socket(SOCK_STREAM), on = 1;

        check_int("reuse", setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
        check_int("reuse", setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)), 0);
        if (bind(fd, (struct sockaddr *) &place, sizeof(place)) < 0 || listen(fd, 4) < 0) {
                int r = -errno;

                (void) close(fd);
                return r;
        }
        return fd;
}

static int connect_to(const char *address, uint16_t port) {
        struct sockaddr_in6 place = address_of(address, port);
        int fd = open_socket(SOCK_STREAM), r;

        r = connect(fd, (struct sockaddr *) &place, sizeof(place)) < 0 ? -errno : 0;
        (void) close(fd);
        return r;
}

static void loopback_is_its_own(_unused_ void *userdata) {
        static const char *const places[] = { "::ffff:127.0.0.1", "::ffff:127.1.2.3", "::1", "::ffff:10.64.0.2", "fd64::2" };
        SpawnNetwork *shape = userdata;
        Network n = enter_new(*shape);

        for (size_t i = 0; i < (*shape == SPAWN_NETWORK_GATED ? ELEMENTSOF(places) : 3); i++) {
                int fd = listen_on(places[i], 8080);

                check_true(places[i], fd >= 0);
                check_result(places[i], connect_to(places[i], 8080), 0);
                check_true(places[i], is_readable(fd, PATIENCE_MSEC));
                (void) close(fd);
                check_result(places[i], connect_to(places[i], 8080), -ECONNREFUSED);
        }
        if (*shape == SPAWN_NETWORK_GATED)
                check_true("nothing of it came to us", !is_readable(n.fds[TCP], 0));
}

TEST(loopback_is_the_sandbox_s_own) {
        SpawnNetwork shapes[] = { SPAWN_NETWORK_NONE, SPAWN_NETWORK_GATED };

        for (size_t i = 0; i < ELEMENTSOF(shapes); i++)
                unit_run_in_child(loopback_is_its_own, shapes + i);
}

/* A guest that listens to the whole world hears nothing of it, nor can it take our places. */
static void places_are_taken(_unused_ void *userdata) {
        Network n = enter_new(SPAWN_NETWORK_GATED);
        static const char *const addresses[] = { "::", "::ffff:0.0.0.0", "::ffff:127.0.0.1", "::1", "::ffff:192.0.2.1", "::ffff:10.64.0.2" };
        int fd = listen_on("::", 80);

        check_true("port 80", fd >= 0);
        check_captured(&n, "::ffff:192.0.2.1", 80, "::ffff:10.64.0.2");
        check_true("not to it", !is_readable(fd, QUIET_MSEC));
        for (size_t i = 0; i < ELEMENTSOF(addresses); i++) {
                struct sockaddr_in6 place = address_of(addresses[i], NET_NAMES_PORT);
                int on = 1, datagram = open_socket(SOCK_DGRAM);

                check_result(addresses[i], listen_on(addresses[i], NET_GATE_PORT), -EADDRINUSE);
                check_int("reuse", setsockopt(datagram, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
                check_int("reuse", setsockopt(datagram, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)), 0);
                check_result(addresses[i], bind(datagram, (struct sockaddr *) &place, sizeof(place)) < 0 ? -errno : 0, -EADDRINUSE);
                place.sin6_port = htons(NET_GATE_PORT);
                check_result(addresses[i], bind(datagram, (struct sockaddr *) &place, sizeof(place)) < 0 ? -errno : 0, -EADDRINUSE);
                (void) close(datagram);
        }
}

TEST(gated_places_are_taken) {
        unit_run_in_child(places_are_taken, NULL);
}

static void none_reaches_nothing(_unused_ void *userdata) {
        Network n = enter_new(SPAWN_NETWORK_NONE);

        check_uint("descriptors", n.n_fds, 0);
        check_result("IPv4", connect_to("::ffff:192.0.2.1", 80), -ENETUNREACH);
        check_result("IPv6", connect_to("2001:db8::1", 80), -ENETUNREACH);
}

TEST(none_reaches_nothing) {
        unit_run_in_child(none_reaches_nothing, NULL);
}

static void connects_for_the_daemon(_unused_ void *userdata) {
        static const GuestSocket request = { .kind = GUEST_SOCKET_TCP, .remote_port = 8080 };
        static const char *const addresses[] = { "::ffff:127.0.0.1", "::1", "::" };
        int fd;

        (void) enter_new(SPAWN_NETWORK_NONE);
        check_result("nobody", network_socket(&request), -ECONNREFUSED);
        for (size_t i = 0; i < ELEMENTSOF(addresses); i++) {
                int server = listen_on(addresses[i], 8080);

                check_true(addresses[i], server >= 0);
                fd = network_socket(&request);
                check_true(addresses[i], fd >= 0);
                check_true(addresses[i], is_readable(server, PATIENCE_MSEC));
                check_true("does not block", fcntl(fd, F_GETFL) & O_NONBLOCK);
                (void) close(server);
                (void) close(fd);
        }
}

TEST(connects_for_the_daemon) {
        unit_run_in_child(connects_for_the_daemon, NULL);
}

/* What a plain user has: a network of a user namespace. */
static void in_a_user_namespace(_unused_ void *userdata) {
        int userns = userns_make(&(IdMap) { .outside_uid = geteuid(), .outside_gid = getegid(), .count = 1, .single = true });
        Network n = NETWORK_EMPTY;
        Error error = { 0 };

        if (userns < 0)
                unit_skip("user namespaces are closed here: see `cove doctor`");
        check_result("linked", make(SPAWN_NETWORK_LINKED, userns, &n, &error), -EOPNOTSUPP);
        check_part("linked", error.text, "root");
        error = (Error) { 0 };
        need(make(SPAWN_NETWORK_GATED, userns, &n, &error), &error);
        check_int("user namespace", setns(userns, CLONE_NEWUSER), 0);
        check_result("enter", net_enter(n.netns_fd), 0);
        check_captured(&n, "::ffff:192.0.2.1", 80, "::ffff:10.64.0.2");
        check_captured(&n, "2001:db8::1", 443, "fd64::2");
        check_flow(&n, "::ffff:192.0.2.7", 443);
        check_names(&n, "::ffff:10.64.0.1");
}

TEST(gated_in_a_user_namespace) {
        unit_run_in_child(in_a_user_namespace, NULL);
}

static Network link_up(const char *id, uint32_t address, int hub_fd) {
        const NetRequest q = { .shape = SPAWN_NETWORK_LINKED, .userns_fd = -EBADF, .id = id, .address = address, .hub_fd = hub_fd };
        Network n = NETWORK_EMPTY;
        Error error = { 0 };

        need(net_make(&q, &n, &error), &error);
        check_uint("descriptors", n.n_fds, 2);
        return n;
}

static void members_reach_each_other(_unused_ void *userdata) {
        Network a = link_up("aaaaaaaaaaaaaaaaaaaaa", 0x0ad50003, -EBADF), b = link_up("bbbbbbbbbbbbbbbbbbbbb", 0x0ad50004, a.fds[1]);
        Network other = link_up("aaaaaaaaaaaaaaaaaaaaa", 0x0ad50005, -EBADF);
        int server, client;

        check_result("hub", net_check_hub(a.fds[1], NULL), 0);
        check_result("enter", net_enter(b.netns_fd), 0);
        server = listen_on("::", 7000);
        check_result("enter", net_enter(a.netns_fd), 0);
        check_result("a member", connect_to("::ffff:10.213.0.4", 7000), 0);
        check_true("a member", is_readable(server, PATIENCE_MSEC));
        check_result("its other port", connect_to("::ffff:10.213.0.4", 7001), -ECONNREFUSED);
        check_result("the world", connect_to("::ffff:192.0.2.1", 80), -ENETUNREACH);
        check_result("the world", connect_to("2001:db8::1", 80), -ENETUNREACH);

        client = open_socket(SOCK_STREAM); /* nobody answers for an address that is not there: that takes its time */
        check_int("nonblocking", fcntl(client, F_SETFL, O_NONBLOCK), 0);
        {
                struct sockaddr_in6 place = address_of("::ffff:10.213.0.5", 7000);

                check_result("another group", connect(client, (struct sockaddr *) &place, sizeof(place)) < 0 ? -errno : 0, -EINPROGRESS);
        }
        check_result("enter", net_enter(other.netns_fd), 0);
        server = listen_on("::", 7000);
        check_true("another group", !is_readable(server, 10 * QUIET_MSEC));
}

TEST(members_of_a_group_reach_each_other) {
        unit_run_in_child(members_reach_each_other, NULL);
}

/* The socket for names is there, at one address, and nobody else of the group can ask it. */
static void linked_hears_questions(_unused_ void *userdata) {
        Network a = link_up("aaaaaaaaaaaaaaaaaaaaa", 0x0ad50003, -EBADF);
        int client;
        Received got;

        check_result("enter", net_enter(a.netns_fd), 0);
        client = open_socket(SOCK_DGRAM);
        send_text(client, "::ffff:10.64.0.1", NET_NAMES_PORT, "question");
        receive(a.fds[0], &got);
        check_string("question", got.data, "question");
        send_text(client, "::ffff:10.213.0.3", NET_NAMES_PORT, "question");
        check_true("its address is for its own servers", !is_readable(a.fds[0], QUIET_MSEC));
}

TEST(linked_hears_questions_for_names) {
        unit_run_in_child(linked_hears_questions, NULL);
}

static void hubs_are_checked(_unused_ void *userdata) {
        int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), user = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
        int null = open("/dev/null", O_RDONLY | O_CLOEXEC), userns;
        Network n = NETWORK_EMPTY, plain = NETWORK_EMPTY;
        NetRequest q = { .shape = SPAWN_NETWORK_LINKED, .userns_fd = -EBADF, .id = "aaaaaaaaaaaaaaaaaaaaa", .address = 0x0ad50003 };
        Error error = { 0 };
        size_t open_before;

        check_result("our own", net_check_hub(own, NULL), -EINVAL);
        check_result("a user namespace", net_check_hub(user, NULL), -EINVAL);
        check_result("a file", net_check_hub(null, NULL), -EINVAL);
        userns = userns_make(&(IdMap) { .outside_uid = geteuid(), .outside_gid = getegid(), .count = 1, .single = true });
        if (userns < 0)
                unit_skip("user namespaces are closed here: see `cove doctor`");
        need(make(SPAWN_NETWORK_NONE, userns, &n, &error), &error);
        check_result("somebody's", net_check_hub(n.netns_fd, NULL), -EPERM);

        need(make(SPAWN_NETWORK_NONE, -EBADF, &plain, &error), &error);
        q.hub_fd = plain.netns_fd;
        open_before = unit_count_descriptors();
        check_result("no bridge in it", net_make(&q, &n, &error), -ENODEV);
        check_part("no bridge in it", error.text, "hub");
        check_uint("descriptors", unit_count_descriptors(), open_before);
}

TEST(hubs_are_checked) {
        unit_run_in_child(hubs_are_checked, NULL);
}

/* With room for a few namespaces only, many can be made one after the other: what is let go, goes. The kernel takes its time. */
static void nothing_is_left(_unused_ void *userdata) {
        static const SpawnNetwork shapes[] = { SPAWN_NETWORK_NONE, SPAWN_NETWORK_GATED, SPAWN_NETWORK_LINKED };
        size_t before;

        if (unshare(CLONE_NEWUSER) < 0)
                unit_skip("user namespaces are closed here: see `cove doctor`");
        check_result("room", file_write(AT_FDCWD, "/proc/sys/user/max_net_namespaces", "4"), 0);
        before = unit_count_descriptors();
        for (unsigned i = 0; i < 30; i++) {
                const NetRequest q = { .shape = shapes[i % 3], .userns_fd = -EBADF, .id = "aaaaaaaaaaaaaaaaaaaaa", .address = 0x0ad50003, .hub_fd = -EBADF };
                usec_t deadline = clock_usec() + 60 * USEC_PER_SEC;
                Network n = NETWORK_EMPTY;
                Error error = { 0 };
                int r;

                while ((r = net_make(&q, &n, &error)) == -ENOSPC && clock_usec() < deadline)
                        (void) usleep(10000);
                check_string("error", r < 0 ? error.text : "", "");
                net_done(&n);
        }
        check_uint("descriptors", unit_count_descriptors(), before);
}

TEST(nothing_is_left_of_networks) {
        unit_run_in_child(nothing_is_left, NULL);
}

/* A mount over the host's shows which instance of /proc was written through. */
static void hide_settings_of_host(void) {
        if (unshare(CLONE_NEWNS) < 0)
                unit_skip("no mount namespace (%s): run this as root", strerror(errno));
        check_true("hidden", mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 && mount("tmpfs", "/proc/sys", "tmpfs", 0, NULL) == 0);
}

static void write_settings(_unused_ void *userdata) {
        NetSettings settings = NET_SETTINGS_EMPTY;
        NetRequest q = { .shape = SPAWN_NETWORK_NONE, .userns_fd = -EBADF, .hub_fd = -EBADF };
        Network n = NETWORK_EMPTY;
        _cleanup_close_ int kept = -EBADF;
        struct stat first, second;
        Error error = { 0 };
        char text[16];

        hide_settings_of_host();
        check_result("through the host's", net_make(&q, &n, &error), -ENOENT);
        q.settings = &settings;
        need(net_make(&q, &n, &error), &(Error) { 0 });
        check_result("enter", net_enter(n.netns_fd), 0);
        check_true("read", file_read(settings.proc_fd, "sys/net/ipv4/ip_unprivileged_port_start", text, sizeof(text)) > 0);
        check_string("the first port that needs no privilege", text, "0\n");
        check_true("an instance", fstat(settings.proc_fd, &first) == 0 && settings.n_used == 1);
        kept = fcntl(settings.proc_fd, F_DUPFD_CLOEXEC, 0); /* otherwise the next instance may get its number */
        check_true("kept", kept >= 0);
        net_done(&n);

        for (unsigned i = 1; i < NET_SETTINGS_USES; i++, net_done(&n))
                need(net_make(&q, &n, &error), &(Error) { 0 });
        check_true("the same", fstat(settings.proc_fd, &second) == 0 && second.st_dev == first.st_dev);
        need(net_make(&q, &n, &error), &(Error) { 0 });
        check_true("another, before it is long", fstat(settings.proc_fd, &second) == 0 && second.st_dev != first.st_dev);
}

TEST(settings_are_written_through_an_instance_that_is_replaced) {
        if (geteuid() != 0)
                unit_skip("only root can mount: run this as root");
        unit_run_in_child(write_settings, NULL);
}
