/* settings.c: builds the gate's settings that do not belong to a sandbox. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "config/config.h"
#include "core/admission.h"
#include "core/secret.h"
#include "gatekeeper/internal.h"

#define AUTHORITIES_MAX (64 * 1024)
#define GATE_PART       8 /* of the machine's memory */

static int seed_make(Gatekeeper *k, Error *reterr) {
        _cleanup_close_ int fd = open(k->seed_path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
        int r;

        if (fd < 0)
                return error_set(reterr, -errno, "cannot make '%s': %m", k->seed_path);
        if (getrandom(k->seed, sizeof(k->seed), 0) != sizeof(k->seed))
                return error_set(reterr, -EIO, "there are no random numbers");
        r = fd_write_all(fd, k->seed, sizeof(k->seed));
        if (r >= 0 && fsync(fd) < 0)
                r = -errno;
        if (r < 0) {
                (void) unlink(k->seed_path); /* a partial seed is useless */
                return error_set(reterr, r, "cannot write '%s': %m", k->seed_path);
        }
        return 0;
}

/* All authorities and placeholders derive from the seed: with another one, those that sandboxes have are
 * worthless. */
int seed_load(Gatekeeper *k, Error *reterr) {
        _cleanup_close_ int fd = open(k->seed_path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        uint8_t bytes[SEED_SIZE + 1];
        int r = 0;

        if (fd < 0 && errno != ENOENT)
                return error_set(reterr, -errno, "cannot read '%s': %m", k->seed_path);
        if (fd < 0)
                r = seed_make(k, reterr);
        else if (fd_read_full(fd, bytes, sizeof(bytes)) != SEED_SIZE)
                r = error_set(reterr, -EUCLEAN, "'%s' is damaged (it must have %d bytes): remove it, and the next start makes another", k->seed_path,
                                SEED_SIZE);
        else
                memcpy(k->seed, bytes, SEED_SIZE);
        k->has_seed = r >= 0;
        return r;
}

json_t *gatekeeper_settings_strings(const Strv *v) {
        json_t *list = json_array();

        for (size_t i = 0; i < v->n; i++)
                (void) json_array_append_new(list, json_string(v->items[i]));
        return list;
}

/* Reads the authorities as text: the gate can read few files itself. */
static json_t *authorities(const NetworkConfig *c) {
        _cleanup_free_ char *text = NULL;
        size_t size;
        int r = file_read_alloc(AT_FDCWD, c->ca_file, AUTHORITIES_MAX, &text, &size);
        json_t *j = r >= 0 ? json_stringn(text, size) : NULL;

        if (!j)
                log_error("network.caFile: '%s' cannot be read, and its authorities are not trusted: %s", c->ca_file,
                                r < 0 ? strerror(-r) : "it is no text");
        return j;
}

/* NULL: there is no proxy. */
static json_t *hello_proxy(const NetworkConfig *c) {
        _cleanup_(registries_done) Registries host = REGISTRIES_INIT;

        if (network_find_proxy(c, &host, NULL) < 0 || (!host.http_proxy && !host.https_proxy))
                return NULL;
        return json_pack("{s:s?, s:s?, s:s?, s:o}", "http", host.http_proxy, "https", host.https_proxy, "except", host.no_proxy, "packages",
                        gatekeeper_settings_strings(&c->packages_rules));
}

json_t *hello_message(const Gatekeeper *k) {
        const NetworkConfig *c = &k->manager->settings->network;
        char seed[2 * SEED_SIZE + 1];
        json_t *message, *more, *proxy;

        secret_hex(k->seed, SEED_SIZE, seed);
        message = json_pack("{s:s, s:i, s:o, s:o, s:s, s:I}", "do", "hello", "version", CONTROL_VERSION, "dns", gatekeeper_settings_strings(&c->dns), "reachable",
                        gatekeeper_settings_strings(&c->reachable_words), "seed", seed, "memory",
                        (json_int_t) MIN_OF(c->gate_bytes > 0 ? c->gate_bytes : machine_memory_bytes() / GATE_PART, (uint64_t) INT64_MAX));
        secret_wipe(seed, sizeof(seed));
        more = message && c->ca_file ? authorities(c) : NULL;
        if (more)
                (void) json_object_set_new(message, "authorities", more);
        proxy = message ? hello_proxy(c) : NULL;
        if (proxy)
                (void) json_object_set_new(message, "proxy", proxy);
        return message;
}
