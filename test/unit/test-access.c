/* The admin token's file, keys and tenants: who gets in, and what is left on the disk of it. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "core/access.h"
#include "core/secret.h"
#include "core/rows.h"
#include "store/store.h"

/* One state directory per test. */

typedef struct World {
        char directory[256];
        Store *store;
        Access *access;
} World;

static const char *in_world(const World *w, const char *name) {
        static char paths[4][512];
        static size_t next;
        char *path = paths[next++ % ELEMENTSOF(paths)];

        (void) snprintf(path, sizeof(paths[0]), "%s/%s", w->directory, name);
        return path;
}

static void world_begin(World *w) {
        Error error = { 0 };

        check_result("store_open", store_open(in_world(w, "cove.db"), &w->store, &error), 0);
        check_result("access_new", access_new(w->store, w->directory, &w->access, &error), 0);
}

static void world_end(World *w) {
        w->access = access_free(w->access);
        w->store = store_close(w->store);
}

static World world_new(const char *name) {
        World w = { 0 };

        (void) snprintf(w.directory, sizeof(w.directory), "%s", unit_path(name));
        check_result("mkdir", mkdir(w.directory, 0700), 0);
        world_begin(&w);
        return w;
}

static void world_restart(World *w) {
        world_end(w);
        world_begin(w);
}

static void read_token(const World *w, char ret[static 64]) {
        ssize_t n = file_read(AT_FDCWD, in_world(w, "admin.token"), ret, 64);

        check_int("length of the file", n, 54);
        check_int("newline", ret[53], '\n');
        ret[53] = '\0';
}

static void check_refused(World *w, int code, const char *words) {
        Error error = { 0 };
        Access *a = NULL;

        w->access = access_free(w->access);
        check_result("access_new", access_new(w->store, w->directory, &a, &error), code);
        check_part("words", error.text, words);
        check_part("words", error.text, w->directory);
        check_true("nothing", a == NULL);
}

static void check_known(Access *a, const char *secret, Scope scope, const char *tenant, const char *key_id) {
        Principal who = { .kind = _PRINCIPAL_INVALID };

        check_int("known", access_check(a, secret, &who), 1);
        check_int("kind", who.kind, principal_of_scope(scope));
        check_string("tenant", who.tenant, tenant);
        check_string("key", who.key_id, key_id);
}

static void check_unknown(Access *a, const char *secret) {
        Principal who = { .kind = _PRINCIPAL_INVALID };

        check_int(secret, access_check(a, secret, &who), 0);
        check_int("untouched", who.kind, _PRINCIPAL_INVALID);
}

static const Key *make_key(Access *a, const char *name, Scope scope, const char *tenant,
                char secret[static ACCESS_KEY_LENGTH + 1]) {
        Error error = { 0 };
        const Key *key = NULL;
        int r = access_key_create(a, &(KeyRequest) { .name = name, .tenant = tenant, .scope = scope }, &key, secret, &error);

        if (r < 0)
                print_error("%s\n", error.text);
        check_result(name, r, 0);
        return key;
}

/* The token. */

TEST(token_is_made_once) {
        World w = world_new("token");
        char first[64], second[64];
        struct stat st;

        read_token(&w, first);
        check_true("prefix", strncmp(first, "cove_", 5) == 0);
        check_uint("digits", strspn(first + 5, "0123456789abcdef"), 48);
        check_result("stat", stat(in_world(&w, "admin.token"), &st), 0);
        check_uint("mode", st.st_mode & 07777, 0600);
        check_uint("owner", st.st_uid, geteuid());
        check_int("nothing beside it", access(in_world(&w, "admin.token.new"), F_OK), -1);
        check_known(w.access, first, SCOPE_ADMIN, NULL, NULL);

        world_restart(&w);
        read_token(&w, second);
        check_string("the same", second, first);
        check_known(w.access, first, SCOPE_ADMIN, NULL, NULL);

        check_result("unlink", unlink(in_world(&w, "admin.token")), 0);
        world_restart(&w);
        read_token(&w, second);
        check_true("another", strcmp(first, second) != 0);
        check_known(w.access, second, SCOPE_ADMIN, NULL, NULL);
        check_unknown(w.access, first);
        world_end(&w);
}

TEST(token_whatever_the_umask) {
        mode_t mask = umask(0);
        World w = world_new("umask");
        struct stat st;

        (void) umask(mask);
        check_result("stat", stat(in_world(&w, "admin.token"), &st), 0);
        check_uint("mode", st.st_mode & 07777, 0600);
        world_end(&w);
}

TEST(token_of_an_interrupted_start) {
        World w = world_new("interrupted");
        char token[64];

        check_result("unlink", unlink(in_world(&w, "admin.token")), 0);
        unit_write_text(in_world(&w, "admin.token.new"), "cove_12");
        world_restart(&w);
        read_token(&w, token);
        check_int("nothing beside it", access(in_world(&w, "admin.token.new"), F_OK), -1);
        check_known(w.access, token, SCOPE_ADMIN, NULL, NULL);
        check_unknown(w.access, "cove_12");
        world_end(&w);
}

TEST(token_that_others_can_read) {
        static const mode_t modes[] = { 0640, 0604, 0620, 0602, 0610, 0666, 0777 };
        World w = world_new("readable");

        for (size_t i = 0; i < ELEMENTSOF(modes); i++) {
                check_result("chmod", chmod(in_world(&w, "admin.token"), modes[i]), 0);
                check_refused(&w, -EPERM, "chmod 600");
        }
        check_result("chmod", chmod(in_world(&w, "admin.token"), 0400), 0);
        world_restart(&w);
        world_end(&w);
}

TEST(token_of_somebody_else) {
        World w;

        if (geteuid() != 0)
                unit_skip("only root can give files away: run this as root");
        w = world_new("foreign");
        check_result("chown", chown(in_world(&w, "admin.token"), 12345, 12345), 0);
        check_refused(&w, -EPERM, "belongs to user 12345");
        world_end(&w);
}

TEST(token_that_is_none) {
        static const char *const texts[] = {
                "",
                "\n",
                "secret",
                "cove_0123456789abcdef0123456789abcdef0123456789abcde",      /* 47 digits */
                "cove_0123456789abcdef0123456789abcdef0123456789abcdef0",    /* 49 */
                "cove_0123456789abcdef0123456789abcdef0123456789abcdef\n\n", /* a line too many */
                "cove_0123456789ABCDEF0123456789abcdef0123456789abcdef",
                "COVE_0123456789abcdef0123456789abcdef0123456789abcdef",
                " cove_0123456789abcdef0123456789abcdef0123456789abcde",
        };
        World w = world_new("none");

        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                unit_write_text(in_world(&w, "admin.token"), texts[i]);
                check_refused(&w, -EBADMSG, "has no token in it");
        }
        unit_write_file(in_world(&w, "admin.token"), "cove_\0", 6);
        check_refused(&w, -EBADMSG, "has no token in it");
        /* Without a newline, as some editors leave it. */
        unit_write_text(in_world(&w, "admin.token"), "cove_0123456789abcdef0123456789abcdef0123456789abcdef");
        world_restart(&w);
        check_known(w.access, "cove_0123456789abcdef0123456789abcdef0123456789abcdef", SCOPE_ADMIN, NULL, NULL);

        check_result("unlink", unlink(in_world(&w, "admin.token")), 0);
        check_result("symlink", symlink("elsewhere", in_world(&w, "admin.token")), 0);
        check_refused(&w, -ELOOP, "cannot open");
        check_result("unlink", unlink(in_world(&w, "admin.token")), 0);
        check_result("mkdir", mkdir(in_world(&w, "admin.token"), 0700), 0);
        check_refused(&w, -EPERM, "not a plain file");
        check_result("rmdir", rmdir(in_world(&w, "admin.token")), 0);
        check_result("mkfifo", mkfifo(in_world(&w, "admin.token"), 0600), 0);
        check_refused(&w, -EPERM, "not a plain file"); /* and does not wait for a writer */
        world_end(&w);
}

TEST(token_without_a_directory) {
        World w = world_new("gone");
        Error error = { 0 };
        Access *a = NULL;

        check_result("access_new", access_new(w.store, "/nonexistent", &a, &error), -ENOENT);
        check_part("words", error.text, "/nonexistent");
        world_end(&w);
}

/* Keys. */

TEST(key_life) {
        World w = world_new("key");
        char secret[ACCESS_KEY_LENGTH + 1], id[24];
        const Key *key = make_key(w.access, "ci", SCOPE_USE, NULL, secret);

        check_true("looks like one", credential_is_in(secret));
        check_uint("length", strlen(secret), ACCESS_KEY_LENGTH);
        check_true("prefix", strncmp(secret, "e2b_", 4) == 0);
        check_uint("digits", strspn(secret + 4, "0123456789abcdef"), 40);
        check_string("name", key->name, "ci");
        check_uint("shown", strlen(key->prefix), 10);
        check_true("shown", strncmp(secret, key->prefix, 10) == 0);
        check_true("made", key->created_at > 0);
        check_uint("never used", key->last_used_at, 0);
        (void) snprintf(id, sizeof(id), "%s", key->id);

        check_known(w.access, secret, SCOPE_USE, NULL, id);
        check_true("used", key->last_used_at >= key->created_at);
        world_restart(&w);
        check_known(w.access, secret, SCOPE_USE, NULL, id);

        check_result("remove", access_key_remove(w.access, id), 0);
        check_unknown(w.access, secret);
        check_result("remove again", access_key_remove(w.access, id), -ENOENT);
        world_restart(&w);
        check_unknown(w.access, secret);
        check_result("remove again", access_key_remove(w.access, id), -ENOENT);
        world_end(&w);
}

TEST(key_almost) {
        World w = world_new("almost");
        char secret[ACCESS_KEY_LENGTH + 1], other[ACCESS_KEY_LENGTH + 2], token[64];
        static char endless[1 << 20];
        const Key *key = make_key(w.access, "ci", SCOPE_READ, NULL, secret);

        for (size_t i = 0; i < ACCESS_KEY_LENGTH; i++) {
                memcpy(other, secret, sizeof(secret));
                other[i] = (char) (other[i] ^ 1);
                check_unknown(w.access, other);
                memcpy(other, secret, sizeof(secret));
                other[i] = '\0';
                check_unknown(w.access, other);
        }
        (void) snprintf(other, sizeof(other), "%sx", secret);
        check_unknown(w.access, other);
        check_unknown(w.access, key->id);
        check_unknown(w.access, key->prefix);
        check_unknown(w.access, "");
        memset(endless, 'a', sizeof(endless) - 1);
        check_unknown(w.access, endless);
        read_token(&w, token);
        token[52] = '\0';
        check_unknown(w.access, token);
        world_end(&w);
}

/* Neither in the database nor in its log. */
static void check_not_in(const char *path, const char *secret) {
        _cleanup_free_ char *data = NULL;
        size_t size;
        int r = file_read_alloc(AT_FDCWD, path, 64 << 20, &data, &size);

        if (r == -ENOENT)
                return;
        check_result(path, r, 0);
        check_true(path, memmem(data, size, secret, strlen(secret)) == NULL);
}

TEST(key_is_not_kept) {
        World w = world_new("at-rest");
        char secret[ACCESS_KEY_LENGTH + 1], token[64];

        (void) make_key(w.access, "ci", SCOPE_ADMIN, NULL, secret);
        read_token(&w, token);
        for (unsigned i = 0; i < 2; i++) {
                check_not_in(in_world(&w, "cove.db"), secret + 14);
                check_not_in(in_world(&w, "cove.db-wal"), secret + 14);
                check_not_in(in_world(&w, "cove.db"), token);
                check_not_in(in_world(&w, "cove.db-wal"), token);
                if (i == 0)
                        world_end(&w);
        }
}

TEST(key_names_and_refusals) {
        static const struct {
                const char *name;
                bool good;
        } rows[] = {
                { "a",    true  },
                { "0",    true  },
                { "a.b",  true  },
                { "A-_.", true  },
                { "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",  true  }, /* 63 */
                { "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", false }, /* 64 */
                { "",     false },
                { ".a",   false },
                { "-a",   false },
                { "_a",   false },
                { "a b",  false },
                { "a/b",  false },
                { "a\n",  false },
                { "\xc3\xa4", false },
        };
        World w = world_new("names");
        char secret[ACCESS_KEY_LENGTH + 1] = "untouched";
        const Key *key = NULL;
        Error error = { 0 };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                Tenant tenant = { 0 };

                check_result(rows[i].name, access_key_create(w.access, &(KeyRequest) { .name = rows[i].name, .tenant = NULL, .scope = SCOPE_USE }, &key, secret, &error),
                                rows[i].good ? 0 : -EINVAL);
                if (strlen(rows[i].name) <= ACCESS_NAME_MAX) {
                        (void) snprintf(tenant.name, sizeof(tenant.name), "%s", rows[i].name);
                        check_result(rows[i].name, access_tenant_put(w.access, &tenant, /* inherit= */ false, &error), rows[i].good ? 1 : -EINVAL);
                }
        }

        key = NULL;
        (void) snprintf(secret, sizeof(secret), "untouched");
        check_result("scope", access_key_create(w.access, &(KeyRequest) { .name = "x", .tenant = NULL, .scope = _SCOPE_MAX }, &key, secret, &error), -EINVAL);
        check_result("scope", access_key_create(w.access, &(KeyRequest) { .name = "x", .tenant = NULL, .scope = _SCOPE_INVALID }, &key, secret, &error), -EINVAL);
        check_part("words", error.text, "read, use or admin");
        check_result("tenant", access_key_create(w.access, &(KeyRequest) { .name = "x", .tenant = "nobody", .scope = SCOPE_USE }, &key, secret, &error), -EINVAL);
        check_part("words", error.text, "create the tenant first");
        check_part("words", error.text, "'nobody'");
        check_result("admin of a tenant", access_key_create(w.access, &(KeyRequest) { .name = "x", .tenant = "a", .scope = SCOPE_ADMIN }, &key, secret, &error), -EINVAL);
        check_part("words", error.text, "cannot belong to tenant 'a'");
        check_true("nothing", key == NULL);
        check_string("nothing", secret, "untouched");
        check_result("no tenant", access_key_create(w.access, &(KeyRequest) { .name = "x", .tenant = "", .scope = SCOPE_ADMIN }, &key, secret, NULL), 0);
        check_string("no tenant", key->tenant, "");
        world_end(&w);
}

TEST(key_list_in_order) {
        World w = world_new("list");
        char secrets[3][ACCESS_KEY_LENGTH + 1];
        static const char *const names[] = { "z", "a", "m" };
        const Key *const *list = NULL;

        check_uint("none", access_keys(w.access, &list), 0);
        check_true("a list", list != NULL);
        free((void *) list);
        for (unsigned i = 0; i < ELEMENTSOF(names); i++)
                (void) make_key(w.access, names[i], (Scope) i, NULL, secrets[i]);
        for (unsigned round = 0; round < 2; round++) {
                check_uint("keys", access_keys(w.access, &list), 3);
                for (unsigned i = 0; i < ELEMENTSOF(names); i++) {
                        check_string("name", list[i]->name, names[i]);
                        check_int("scope", list[i]->scope, i);
                        check_known(w.access, secrets[i], (Scope) i, NULL, list[i]->id);
                }
                free((void *) list);
                world_restart(&w);
        }
        world_end(&w);
}

static int note_used(const Key *key, void *userdata) {
        *(usec_t *) userdata = key->last_used_at;
        return 0;
}

/* At once when it has not been used for a minute, then not for a minute, and when we go. */
TEST(key_use_is_written_seldom) {
        World w = world_new("used");
        char secret[ACCESS_KEY_LENGTH + 1];
        const Key *key = make_key(w.access, "ci", SCOPE_READ, NULL, secret);
        usec_t first = 0, second = 0, third = 0, last;

        check_known(w.access, secret, SCOPE_READ, NULL, key->id);
        check_result("each", store_key_each(w.store, note_used, &first), 0);
        check_uint("written", first, key->last_used_at);
        (void) usleep(2000);
        check_known(w.access, secret, SCOPE_READ, NULL, key->id);
        last = key->last_used_at;
        check_true("noted", last > first);
        check_result("each", store_key_each(w.store, note_used, &second), 0);
        check_uint("not written", second, first);
        w.access = access_free(w.access);
        check_result("each", store_key_each(w.store, note_used, &third), 0);
        check_uint("written at the end", third, last);
        world_end(&w);
}

TEST(key_write_that_fails) {
        World w = world_new("fails");
        char secret[ACCESS_KEY_LENGTH + 1];
        const Key *const *list = NULL;
        const Key *key = NULL;
        Error error = { 0 };

        check_result("begin", store_begin(w.store), 0);
        check_result("a transaction that has failed", store_sandbox_update(w.store, &(Sandbox) { .id = "x" }), -ENOENT);
        check_result("create", access_key_create(w.access, &(KeyRequest) { .name = "ci", .tenant = NULL, .scope = SCOPE_USE }, &key, secret, &error), -ENOENT);
        check_part("words", error.text, "cannot save the key");
        store_rollback(w.store);
        check_uint("none", access_keys(w.access, &list), 0);
        free((void *) list);
        world_end(&w);
}

/* Tenants. */

TEST(tenant_life) {
        World w = world_new("tenant");
        Tenant tenant = { .name = "acme", .sandboxes_max = 1, .cpu_milli_max = 2, .memory_bytes_max = 3,
                          .disk_bytes_max = 4 };
        char secret[ACCESS_KEY_LENGTH + 1], id[24];
        const Tenant *found;
        const Tenant *const *list = NULL;
        Error error = { 0 };
        usec_t made;

        check_true("none", access_tenant(w.access, "acme") == NULL);
        check_result("put", access_tenant_put(w.access, &tenant, /* inherit= */ false, &error), 1);
        found = access_tenant(w.access, "acme");
        check_true("there", found != NULL && found->created_at > 0);
        made = found->created_at;
        (void) usleep(1000);

        tenant.sandboxes_max = 100;
        check_result("put again", access_tenant_put(w.access, &tenant, /* inherit= */ false, &error), 0);
        (void) snprintf(id, sizeof(id), "%s", make_key(w.access, "ci", SCOPE_USE, "acme", secret)->id);
        world_restart(&w);
        found = access_tenant(w.access, "acme");
        check_true("there", found != NULL);
        check_uint("sandboxes", found->sandboxes_max, 100);
        check_uint("cpu", found->cpu_milli_max, 2);
        check_uint("memory", found->memory_bytes_max, 3);
        check_uint("disk", found->disk_bytes_max, 4);
        check_uint("since", found->created_at, made);
        check_known(w.access, secret, SCOPE_USE, "acme", id);
        check_uint("list", access_tenants(w.access, &list), 1);
        check_string("list", list[0]->name, "acme");
        free((void *) list);

        check_result("in use", access_tenant_remove(w.access, "acme", &error), -EBUSY);
        check_part("words", error.text, "has 1 key: remove it first");
        check_result("key", access_key_remove(w.access, id), 0);
        check_result("remove", access_tenant_remove(w.access, "acme", &error), 0);
        check_result("remove again", access_tenant_remove(w.access, "acme", &error), -ENOENT);
        world_restart(&w);
        check_true("gone", access_tenant(w.access, "acme") == NULL);
        check_true("nobody", access_tenant(w.access, "") == NULL);
        world_end(&w);
}

/* Whatever a table says: what no kind may have. */
TEST(capabilities) {
        const Principal box = { .kind = PRINCIPAL_SANDBOX, .sandbox = "x" }, tenant = { .kind = PRINCIPAL_USE_KEY, .tenant = "a" }, nobody = { 0 };
        Error error = { 0 };

        for (PrincipalKind k = 0; k < _PRINCIPAL_MAX; k++) {
                const Principal who = { .kind = k };
                bool key = k == PRINCIPAL_USE_KEY || k == PRINCIPAL_ADMIN;

                check_true(principal_kind_name(k), principal_may(&who, MAY_PING) && !principal_may(&who, MAY_UNSAID) && !principal_may(&who, _CAPABILITY_MAX));
                check_int(principal_kind_name(k), principal_may(&who, MAY_SECRETS), key);
                check_int(principal_kind_name(k), principal_may(&who, MAY_ADMIN), k == PRINCIPAL_ADMIN || k == PRINCIPAL_DAEMON);
        }
        check_true("no such kind", !principal_may(&(Principal) { .kind = _PRINCIPAL_MAX }, MAY_PING) && !principal_may(&(Principal) { .kind = _PRINCIPAL_INVALID }, MAY_PING));
        check_true("a tenant's key", !principal_may(&tenant, MAY_OVERSEE) && principal_sees(&tenant, "a") && !principal_sees(&tenant, "b") && !principal_sees(&tenant, NULL));
        check_true("a sandbox's token", !principal_sees(&box, NULL) && !principal_sees(&box, "a"));
        check_true("nobody", !principal_sees(&nobody, NULL));
        check_result("refused", principal_check(&box, MAY_SECRETS, &error), -EPERM);
        check_part("words", error.text, "'secrets'");
        check_part("cure", error.text, "scope 'use'");
        for (Capability c = MAY_PING; c < _CAPABILITY_MAX; c++)
                check_int(capability_name(c), capability_from_name(capability_name(c)), c);
        check_int("write", capability_scope(MAY_WRITE), SCOPE_USE);
        check_int("see", capability_scope(MAY_SEE), SCOPE_READ);
        check_int("admin", capability_scope(MAY_ADMIN), SCOPE_ADMIN);
}

TEST(what_credentials_look_like) {
#define DIGITS_40 "0123456789abcdef0123456789abcdef01234567"
        static const struct {
                const char *text;
                bool is;
        } rows[] = {
                { "Bearer e2b_" DIGITS_40,                   true  },
                { "Bearer e2b_1234" "5678",                  false },
                { "x=cove_" DIGITS_40 "01234567;",           true  },
                { "cove_" DIGITS_40 "0123456",               false },
                { "cove_volume_" DIGITS_40 "01234567",       true  },
                { "abcdefghij0123456789a_" DIGITS_40 "01234567", true  },
                { "abcdefghij_" DIGITS_40 "01234567",        false },
                { "Bearer " DIGITS_40 "01234567",            false },
                { "",                                        false },
        };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++)
                check_int(rows[i].text, credential_is_in(rows[i].text), rows[i].is);
#undef DIGITS_40
}

TEST(scopes) {
        for (Scope s = 0; s < _SCOPE_MAX; s++)
                check_int(scope_name(s), scope_from_name(scope_name(s)), s);
        check_string("read", scope_name(SCOPE_READ), "read");
        check_string("use", scope_name(SCOPE_USE), "use");
        check_string("admin", scope_name(SCOPE_ADMIN), "admin");
        check_string("none", scope_name(_SCOPE_MAX), NULL);
        check_string("none", scope_name(_SCOPE_INVALID), NULL);
        check_result("none", scope_from_name("root"), -EINVAL);
        check_result("none", scope_from_name(NULL), -EINVAL);
        check_true("each has what is below it", SCOPE_READ < SCOPE_USE && SCOPE_USE < SCOPE_ADMIN);
}

/* Secrets. */

TEST(hash_is_blake2b) {
        static const uint8_t of_abc[] = {
                0xbd, 0xdd, 0x81, 0x3c, 0x63, 0x42, 0x39, 0x72, 0x31, 0x71, 0xef, 0x3f, 0xee, 0x98, 0x57, 0x9b,
                0x94, 0x96, 0x4e, 0x3b, 0xb1, 0xcb, 0x3e, 0x42, 0x72, 0x62, 0xc8, 0xc0, 0x68, 0xd5, 0x23, 0x19,
        };
        uint8_t hash[SECRET_HASH_SIZE];

        check_result("secret_init", secret_init(), 0);
        secret_hash("abc", 3, hash);
        check_true("hash", secret_equal(hash, of_abc, sizeof(hash)));
        hash[31] ^= 1;
        check_true("hash", !secret_equal(hash, of_abc, sizeof(hash)));
}

TEST(random_is_random) {
        char a[41], b[41], none[1] = "x";

        check_result("secret_init", secret_init(), 0);
        secret_random_hex(a, 40);
        secret_random_hex(b, 40);
        check_uint("digits", strspn(a, "0123456789abcdef"), 40);
        check_uint("length", strlen(a), 40);
        check_true("not twice", strcmp(a, b) != 0);
        secret_random_hex(none, 0);
        check_string("none", none, "");
}
