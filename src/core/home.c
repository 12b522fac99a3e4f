#include "core/home.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/log.h"
#include "core/secret.h"
#include "core/store.h"

#define KEY_FILE "node.key"

/* Never changes: sandboxes that exist have such ids. */
static void home_derive_tag(const uint8_t *key, unsigned i, IdTag ret) {
        static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
        uint8_t digest[SECRET_SHA256_SIZE];
        uint64_t number = 0;
        char text[32];
        int n = snprintf(text, sizeof(text), "cove node tag %u", i);

        secret_hmac_sha256(key, SECRET_KEY_SIZE, text, (size_t) n, digest);
        for (size_t k = 0; k < sizeof(number); k++)
                number = number << 8 | digest[k];
        for (size_t k = 0; k < ID_TAG_LENGTH; k++, number /= 36)
                ret[k] = letters[number % 36];
        ret[ID_TAG_LENGTH] = '\0';
}

static bool home_has_tag(const Home *h, size_t n, const char *tag) {
        for (size_t i = 0; i < n; i++)
                if (strcmp(h->tags[i], tag) == 0)
                        return true;
        return false;
}

static void home_derive_tags(Home *h, const uint8_t *key) {
        size_t n = 0;

        for (unsigned i = 0; n < HOME_TAGS; i++) {
                home_derive_tag(key, i, h->tags[n]);
                if (!home_has_tag(h, n, h->tags[n]))
                        n++;
        }
}

static int home_load_incarnation(Store *store, uint64_t *ret) {
        int r = store_counter_get(store, "incarnation", ret);

        if (r < 0 || *ret > 0)
                return r;
        *ret = 1;
        return store_counter_set(store, "incarnation", 1);
}

static int home_load(Manager *m, Error *reterr) {
        _cleanup_close_ int dirfd = open(m->config.state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        uint8_t key[SECRET_KEY_SIZE];
        uint64_t incarnation = 0;
        int r;

        if (dirfd < 0)
                return error_set(reterr, -errno, "cannot open '%s': %m", m->config.state_dir);
        r = secret_load_key(dirfd, KEY_FILE, "new ids lead to another node then", key, reterr);
        if (r < 0)
                return r;
        home_derive_tags(m->home, key);
        secret_wipe(key, sizeof(key));
        r = home_load_incarnation(m->store, &incarnation);
        if (r < 0)
                return error_set(reterr, r, "cannot save the incarnation of this node: %m");
        m->home->incarnation = incarnation;
        return 0;
}

int home_begin(Manager *m, Error *reterr) {
        Error error = { 0 };
        int r;

        m->home = calloc(1, sizeof(*m->home));
        if (!m->home)
                return error_set(reterr, -ENOMEM, "out of memory");
        r = home_load(m, &error);
        if (r == -ENOSPC || r == -EDQUOT || r == -EROFS) { /* a full disk must not keep a daemon from its sandboxes */
                log_warning("no sandbox can be made yet: %s", error.text);
                return 0;
        }
        return r < 0 ? error_set(reterr, r, "%s", error.text) : 0;
}

int home_make_id(Manager *m, char ret[static ID_LENGTH + 1], Error *reterr) {
        int r = m->home->incarnation > 0 ? 0 : home_load(m, reterr);

        if (r < 0)
                return r;
        r = id_make_tagged(m->home->tags, HOME_TAGS, ret);
        return r < 0 ? error_set(reterr, r, "cannot make an id: %m") : 0;
}
