/* netload: both ends of a connection, to measure what lies between.
 *
 *      netload serve PORT                   one thread per connection; the first byte says what it is for:
 *                                           E echo, S send for ever, K keep quiet and read, G HTTP
 *      netload connect ADDRESS PORT N       connect, one echo, close: N times
 *      netload request ADDRESS PORT N       HTTP requests over one connection: N times
 *      netload pull|push ADDRESS PORT SECS  as many bytes as go through
 *
 * Prints one line of JSON. */

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BLOCK   (256 * 1024)
#define MESSAGE 64

static void fail(const char *what) {
        fprintf(stderr, "netload: %s: %s\n", what, strerror(errno));
        exit(1);
}

static double now(void) {
        struct timespec t;

        (void) clock_gettime(CLOCK_MONOTONIC, &t);
        return (double) t.tv_sec * 1e6 + (double) t.tv_nsec / 1e3;
}

static int write_all(int fd, const void *data, size_t size) {
        const char *p = data;

        while (size > 0) {
                ssize_t n = send(fd, p, size, MSG_NOSIGNAL);

                if (n <= 0)
                        return -1;
                p += n;
                size -= (size_t) n;
        }
        return 0;
}

static int read_all(int fd, void *data, size_t size) {
        char *p = data;

        while (size > 0) {
                ssize_t n = recv(fd, p, size, 0);

                if (n <= 0)
                        return -1;
                p += n;
                size -= (size_t) n;
        }
        return 0;
}

/* The server. */

static void serve_http(int fd, char *buffer, size_t have) {
        static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nhello, world\n";

        for (;;) {
                while (!memmem(buffer, have, "\r\n\r\n", 4)) {
                        ssize_t n = recv(fd, buffer + have, BLOCK - have, 0);

                        if (n <= 0)
                                return;
                        have += (size_t) n;
                }
                have = 0;
                if (write_all(fd, answer, sizeof(answer) - 1) < 0)
                        return;
        }
}

static void serve_echo(int fd, char *buffer, size_t have) {
        while (have < MESSAGE) {
                ssize_t n = recv(fd, buffer + have, MESSAGE - have, 0);

                if (n <= 0)
                        return;
                have += (size_t) n;
        }
        (void) write_all(fd, buffer, MESSAGE);
        (void) recv(fd, buffer, 1, 0);
}

static void *serve_one(void *arg) {
        int fd = (int) (intptr_t) arg, one = 1;
        char *buffer = calloc(1, BLOCK);
        ssize_t n;

        (void) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        n = buffer ? recv(fd, buffer, BLOCK, 0) : -1;
        if (n > 0 && buffer[0] == 'E')
                serve_echo(fd, buffer, (size_t) n);
        else if (n > 0 && buffer[0] == 'G')
                serve_http(fd, buffer, (size_t) n);
        else if (n > 0 && buffer[0] == 'S')
                while (write_all(fd, buffer, BLOCK) == 0)
                        ;
        else
                while (n > 0)
                        n = recv(fd, buffer, BLOCK, 0);
        free(buffer);
        (void) close(fd);
        return NULL;
}

static void serve(uint16_t port) {
        struct sockaddr_in where = { .sin_family = AF_INET, .sin_port = htons(port) };
        int one = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        (void) setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
        if (listener < 0 || bind(listener, (struct sockaddr *) &where, sizeof(where)) < 0 || listen(listener, 1024) < 0)
                fail("listen");
        puts("ready");
        (void) fflush(stdout);
        for (;;) {
                int fd = accept(listener, NULL, NULL);
                pthread_t thread;

                if (fd < 0)
                        continue;
                if (pthread_create(&thread, NULL, serve_one, (void *) (intptr_t) fd) == 0)
                        (void) pthread_detach(thread);
                else
                        (void) close(fd);
        }
}

/* The client. */

static int dial(const char *address, uint16_t port) {
        struct sockaddr_in where = { .sin_family = AF_INET, .sin_port = htons(port) };
        int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        if (fd < 0 || inet_pton(AF_INET, address, &where.sin_addr) != 1 || connect(fd, (struct sockaddr *) &where, sizeof(where)) < 0)
                fail("connect");
        (void) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        return fd;
}

static int compare(const void *a, const void *b) {
        double x = *(const double *) a, y = *(const double *) b;

        return (x > y) - (x < y);
}

static void print_times(double *times, size_t n) {
        qsort(times, n, sizeof(*times), compare);
        printf("{\"n\": %zu, \"p50_us\": %.1f, \"p90_us\": %.1f, \"p99_us\": %.1f}\n", n, times[n / 2], times[n * 9 / 10], times[n * 99 / 100]);
}

static void measure_connect(const char *address, uint16_t port, double *times, size_t n) {
        char message[MESSAGE] = "E";

        for (size_t i = 0; i < n; i++) {
                double began = now();
                int fd = dial(address, port);

                if (write_all(fd, message, sizeof(message)) < 0 || read_all(fd, message, sizeof(message)) < 0)
                        fail("echo");
                times[i] = now() - began;
                (void) close(fd);
        }
}

static void measure_request(const char *address, uint16_t port, double *times, size_t n) {
        int fd = dial(address, port);
        char request[256], answer[1024];
        int size = snprintf(request, sizeof(request), "GET /x HTTP/1.1\r\nHost: %s:%u\r\n\r\n", address, port);

        for (size_t i = 0; i < n; i++) {
                double began = now();
                ssize_t have = 0;

                if (write_all(fd, request, (size_t) size) < 0)
                        fail("request");
                while (!memmem(answer, (size_t) have, "hello, world\n", 13)) {
                        ssize_t k = recv(fd, answer + have, sizeof(answer) - (size_t) have, 0);

                        if (k <= 0)
                                fail("answer");
                        have += k;
                        if (strncmp(answer, "HTTP/1.1 200", 12) != 0) {
                                fprintf(stderr, "netload: %.*s\n", (int) have, answer);
                                exit(1);
                        }
                }
                times[i] = now() - began;
        }
        (void) close(fd);
}

static void measure_bytes(const char *address, uint16_t port, double seconds, int pull) {
        int fd = dial(address, port);
        char *buffer = calloc(1, BLOCK);
        double began, end, total = 0;

        if (!buffer)
                fail("memory");
        buffer[0] = pull ? 'S' : 'K';
        if (write_all(fd, buffer, pull ? 1 : BLOCK) < 0)
                fail("write");
        began = now();
        end = began + seconds * 1e6;
        while (now() < end) {
                ssize_t n = pull ? recv(fd, buffer, BLOCK, 0) : send(fd, buffer, BLOCK, MSG_NOSIGNAL);

                if (n <= 0)
                        fail("transfer");
                total += (double) n;
        }
        printf("{\"mb_per_s\": %.1f}\n", total / (now() - began));
        free(buffer);
        (void) close(fd);
}

int main(int argc, char **argv) {
        double *times;
        size_t n;

        (void) signal(SIGPIPE, SIG_IGN);
        if (argc == 3 && strcmp(argv[1], "serve") == 0)
                serve((uint16_t) atoi(argv[2]));
        if (argc != 5) {
                fprintf(stderr, "netload: serve PORT | connect|request ADDRESS PORT N | pull|push ADDRESS PORT SECONDS\n");
                return 2;
        }
        n = (size_t) atol(argv[4]);
        if (strcmp(argv[1], "pull") == 0 || strcmp(argv[1], "push") == 0) {
                measure_bytes(argv[2], (uint16_t) atoi(argv[3]), atof(argv[4]), argv[1][3] == 'l');
                return 0;
        }
        times = n > 0 ? calloc(n, sizeof(*times)) : NULL;
        if (!times)
                fail("memory");
        if (strcmp(argv[1], "connect") == 0)
                measure_connect(argv[2], (uint16_t) atoi(argv[3]), times, n);
        else
                measure_request(argv[2], (uint16_t) atoi(argv[3]), times, n);
        print_times(times, n);
        free(times);
        return 0;
}
