#include "core/ports.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "core/fileop.h"
#include "core/network.h"
#include "core/provider.h"
#include "wire/network.h"

#define FILE_BYTES_MAX (1 << 20) /* about six thousand sockets */
#define PORTS_MAX      1024
#define STATE_LISTEN   0x0a

struct PortsCall {
        Sandbox *sandbox;
        FileOp *op;
        size_t step; /* index of the file that is read */
        uint16_t ports[PORTS_MAX];
        size_t n;
        PortsDone done;
        void *userdata;
};

static const char *const files[] = { "/proc/1/net/tcp", "/proc/1/net/tcp6" }; /* of PID 1, because a worker may not see its own */

/* A socket that listens on all addresses or on loopback can be reached over loopback. Words of 32 bits, in the
 * byte order of the machine. */
static bool is_reachable(const char *address, size_t digits) {
        static const char *const v4[] = { "00000000", "0100007F" };
        static const char *const v6[] = {
                "00000000000000000000000000000000", "00000000000000000000000001000000",
                "0000000000000000FFFF000000000000", "0000000000000000FFFF00000100007F",
        };

        for (size_t i = 0; digits == 8 && i < ELEMENTSOF(v4); i++)
                if (memcmp(address, v4[i], digits) == 0)
                        return true;
        for (size_t i = 0; digits == 32 && i < ELEMENTSOF(v6); i++)
                if (memcmp(address, v6[i], digits) == 0)
                        return true;
        return false;
}

/* "   0: 00000000:1F90 00000000:0000 0A …" */
uint16_t ports_of_line(const char *line) {
        const char *address = strchr(line, ':');
        unsigned port, state;
        size_t digits;

        if (!address)
                return 0;
        address += 1 + strspn(address + 1, " ");
        digits = strcspn(address, ":");
        if (sscanf(address + digits, ":%4X %*[0-9A-F]:%*4X %2X", &port, &state) != 2 || state != STATE_LISTEN || port > UINT16_MAX)
                return 0;
        return is_reachable(address, digits) ? (uint16_t) port : 0;
}

static void add_port(PortsCall *c, uint16_t port) {
        size_t at = 0;

        while (at < c->n && c->ports[at] < port)
                at++;
        if (at >= PORTS_MAX || (at < c->n && c->ports[at] == port))
                return;
        if (c->n < PORTS_MAX)
                c->n++;
        memmove(c->ports + at + 1, c->ports + at, (c->n - at - 1) * sizeof(*c->ports));
        c->ports[at] = port;
}

static void add_ports(PortsCall *c, char *text) {
        bool gated = network_shape(c->sandbox->spec.network) == SPAWN_NETWORK_GATED;
        char *save = NULL;

        for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
                uint16_t port = ports_of_line(line);

                if (port != 0 && !(gated && port == NET_GATE_PORT))
                        add_port(c, port);
        }
}

static void ports_on_entry(FileOp *op, const FileEntry *entry, int fd, void *userdata) {
        _cleanup_close_ int file = fd;
        _cleanup_free_ char *text = NULL;
        size_t size = entry->size < FILE_BYTES_MAX ? (size_t) entry->size : FILE_BYTES_MAX;
        ssize_t n;

        if (file < 0 || size == 0)
                return;
        text = malloc(size + 1);
        n = text ? fd_read_full(file, text, size) : -ENOMEM;
        if (n <= 0)
                return;
        text[n] = '\0';
        add_ports(userdata, text);
}

static int ports_read_next(PortsCall *c, Error *reterr);

static void ports_on_end(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        PortsCall *c = userdata;
        Error failure = { 0 };
        PortsDone done = c->done;

        c->op = fileop_free(c->op);
        if (error == -ENOENT && c->step == 1)
                error = 0; /* a kernel without IPv6 */
        if (error >= 0 && ++c->step < ELEMENTSOF(files))
                error = ports_read_next(c, &failure);
        if (error >= 0 && c->op)
                return;
        done(error, c->ports, c->n, c->userdata);
}

static const FileOpHandlers handlers = { .entry = ports_on_entry, .end = ports_on_end };

static int ports_read_next(PortsCall *c, Error *reterr) {
        Sandbox *sb = c->sandbox;
        bool one_user = sb->manager->provider->one_user;
        FileRequest request = {
                .operation = FILE_READ,
                .uid = one_user ? sb->spec.uid : 0,
                .gid = one_user ? sb->spec.gid : 0,
                .mode = FILE_MODE_NONE,
                .owner = FILE_ID_NONE,
                .group = FILE_ID_NONE,
        };

        (void) snprintf(request.path, sizeof(request.path), "%s", files[c->step]);
        return fileop_start(sb, &request, &handlers, c, &c->op, reterr);
}

int ports_ask(Sandbox *sb, PortsDone done, void *userdata, PortsCall **ret, Error *reterr) {
        PortsCall *c = calloc(1, sizeof(*c));
        int r;

        if (!c)
                return error_set(reterr, -ENOMEM, "out of memory");
        c->sandbox = sb;
        c->done = done;
        c->userdata = userdata;
        r = ports_read_next(c, reterr);
        if (r < 0) {
                free(c);
                return r;
        }
        *ret = c;
        return 0;
}

PortsCall *ports_cancel(PortsCall *c) {
        if (!c)
                return NULL;
        fileop_free(c->op);
        free(c);
        return NULL;
}
