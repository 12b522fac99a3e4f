/* Any bytes as what a client sends to the API's port, through the library that reads them: a request that is taken is one that the strict reader of heads takes too, and
 * as the same. */
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "api/http.h"
#include "base/fd.h"
#include "gate/http/http-head.h"

#define SIZE_MAX_FUZZED ((size_t) 16 << 10)
#define TURNS           400

static char top[] = "/tmp/fuzz-api-http-XXXXXX";
static struct sockaddr_un address = { .sun_family = AF_UNIX };
static HttpServer *server;
static sd_event *event;
static const uint8_t *sent;
static size_t n_sent, n_requests;
static int client;
static bool heard; /* an answer: the first request was refused before the route */

static int count_field(const char *name, const char *value, void *userdata) {
        MUST(http_is_token(name) && !strpbrk(value, "\r\n"));
        (*(size_t *) userdata)++;
        return 0;
}

/* In a target these mean the same to everybody, though they should have been escaped: the gate refuses them, the API does not. */
static bool has_high_byte(const char *text) {
        for (; *text; text++)
                if ((unsigned char) *text >= 0x80)
                        return true;
        return false;
}

static int note_high_byte(const char *name, const char *value, void *userdata) {
        *(bool *) userdata |= has_high_byte(name) || has_high_byte(value);
        return 0;
}

/* What http-strict.c says that it cannot tell apart. */
static bool has_twin(void) {
        return memmem(sent, n_sent, "\0\n", 2) || memmem(sent, n_sent, "\n\0", 2) || memmem(sent, n_sent, "\n:\n", 3) || memmem(sent, n_sent, "\n:\r\n", 4);
}

static void check_first(HttpRequest *r) {
        bool high = has_high_byte(http_path(r));
        HttpHead head = { 0 };
        size_t scanned = 0, n = 0;
        int k = http_head_read_request(sent, n_sent, &scanned, &head);

        (void) http_query_each(r, note_high_byte, &high);
        high |= strlen(http_method(r)) > HEAD_METHOD_MAX || has_twin();
        MUST(k == 1 || k == -EMSGSIZE || high);
        (void) http_header_each(r, count_field, &n);
        if (k == 1) {
                MUST(strcmp(head.method, http_method(r)) == 0 && strncmp(head.target, http_path(r), strlen(http_path(r))) == 0);
                MUST(n == head.n_fields);
        }
        http_head_done(&head);
}

static void route(HttpRequest *r, HttpPlan *plan, void *userdata) {
        char c;

        heard |= recv(client, &c, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
        if (n_requests++ == 0 && !heard && n_sent > 0 && sent[0] > ' ')
                check_first(r);
        (void) http_answer(r, 200, "text/plain", "ok", 2);
}

static void remove_top(void) {
        server = http_server_free(server);
        event = sd_event_unref(event);
        (void) rmdir(top);
}

static void set_up(void) {
        HttpConfig config = { .socket_path = address.sun_path, .connections_max = 16, .idle_seconds = 60, .header_max = 32 << 10 };
        Error error = { 0 };

        if (server)
                return;
        MUST(mkdtemp(top));
        (void) snprintf(address.sun_path, sizeof(address.sun_path), "%s/s", top);
        MUST(sd_event_new(&event) >= 0);
        MUST(http_server_new(event, &config, /* sockets= */ NULL, route, NULL, &server, &error) >= 0);
        (void) atexit(remove_top);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        char said[65536];

        if (size > SIZE_MAX_FUZZED)
                return 0;
        set_up();
        sent = data;
        n_sent = size;
        n_requests = 0;
        client = fd;
        heard = false;
        MUST(fd >= 0 && connect(fd, (struct sockaddr *) &address, sizeof(address)) >= 0);
        MUST(send(fd, data, size, MSG_NOSIGNAL) == (ssize_t) size);
        (void) shutdown(fd, SHUT_WR);
        for (unsigned i = 0; i < TURNS; i++) {
                ssize_t n;

                MUST(sd_event_run(event, i < TURNS / 2 ? 0 : 1000) >= 0);
                n = recv(fd, said, sizeof(said), 0);
                heard |= n > 0;
                if (n == 0 || (n < 0 && errno != EAGAIN))
                        break;
        }
        return 0;
}
