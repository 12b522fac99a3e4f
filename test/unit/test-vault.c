/* Item 369: sealing, the vault over a real store, references, and what sandboxes were given. */
#include "world.h"

#include "core/mask.h"
#include "core/secret.h"
#include "core/secrets.h"
#include "vault/rows.h"
#include "vault/internal.h"

static Vault *open_vault(World *w) {
        Error error = { 0 };
        Vault *v = NULL;

        check_result("random", secret_init(), 0);
        check_result("vault", vault_new(w->manager, -EBADF, /* environment= */ NULL, &v, &error), 0);
        return v;
}

static void set(Vault *v, const char *tenant, const char *name, const char *value) {
        Error error = { 0 };

        check_true(name, vault_set(v, tenant, name, value, strlen(value), &error) >= 0);
}

static void has(Vault *v, const char *tenant, const char *name, int r, const char *expected) {
        Error error = { 0 };
        char *value = NULL;
        size_t size = 0;

        check_result(name, vault_get(v, tenant, name, &value, &size, &error), r);
        if (r >= 0) {
                check_string(name, value, expected);
                check_uint("size", size, strlen(expected));
                vault_wipe(value, size);
        }
}

TEST(sealed_bytes_open_at_their_place_only) {
        static const SealPlace place = { "secret", "tenant", "name" };
        static const SealPlace others[] = {
                { "secret", "tenant", "nam" }, { "secret", "other", "name" }, { "given", "tenant", "name" },
                { "secret", "tenantname", "" }, { "secretten", "ant", "name" }, { "secret", "", "tenantname" },
        };
        uint8_t key[SEAL_KEY_SIZE], wrong[SEAL_KEY_SIZE], sealed[5 + SEAL_EXTRA], again[5 + SEAL_EXTRA];
        char out[5];

        check_result("random", secret_init(), 0);
        seal_make_key(key);
        seal_make_key(wrong);
        seal_close(key, &place, "value", 5, sealed);
        seal_close(key, &place, "value", 5, again);
        check_true("never the same twice", memcmp(sealed, again, sizeof(sealed)) != 0);
        check_result("opens", seal_open(key, &place, sealed, sizeof(sealed), out), 0);
        check_true("as it was", memcmp(out, "value", 5) == 0);
        check_result("wrong key", seal_open(wrong, &place, sealed, sizeof(sealed), out), -EBADMSG);
        for (size_t i = 0; i < ELEMENTSOF(others); i++)
                check_result("elsewhere", seal_open(key, others + i, sealed, sizeof(sealed), out), -EBADMSG);
        for (size_t i = 0; i < sizeof(sealed); i++) {
                sealed[i] ^= 1;
                check_result("changed", seal_open(key, &place, sealed, sizeof(sealed), out), -EBADMSG);
                sealed[i] ^= 1;
        }
        for (size_t n = 0; n < sizeof(sealed); n++)
                check_result("cut", seal_open(key, &place, sealed, n, out), -EBADMSG);
}

TEST(keys_as_text) {
        uint8_t key[SEAL_KEY_SIZE], back[SEAL_KEY_SIZE];
        char text[2 * SEAL_KEY_SIZE + 1];

        check_result("random", secret_init(), 0);
        seal_make_key(key);
        seal_print_key(key, text);
        check_result("back", seal_parse_key(text, strlen(text), back), 0);
        check_true("the same", memcmp(key, back, sizeof(key)) == 0);
        check_result("short", seal_parse_key(text, 63, back), -EINVAL);
        text[7] = 'x';
        check_result("no digit", seal_parse_key(text, 64, back), -EINVAL);
}

TEST(values_by_tenant_and_name) {
        World w;
        Vault *v;
        Error error = { 0 };

        world_new(&w, "by-name");
        v = open_vault(&w);
        set(v, "", "a", "nobody's");
        set(v, "red", "a", "of red");
        has(v, "", "a", 0, "nobody's");
        has(v, "red", "a", 0, "of red");
        has(v, "blue", "a", -ENOENT, NULL);
        set(v, "red", "a", "changed");
        has(v, "red", "a", 0, "changed");
        check_result("gone", vault_remove(v, "red", "a", &error), 0);
        check_result("twice", vault_remove(v, "red", "a", &error), -ENOENT);
        has(v, "", "a", 0, "nobody's");
        check_result("nul", vault_set(v, "", "b", "x\0y", 3, &error), -EINVAL);
        check_result("empty", vault_set(v, "", "b", "", 0, &error), -EINVAL);
        check_result("name", vault_set(v, "", "../b", "x", 1, &error), -EINVAL);
        check_result("environment", vault_set(v, "", "env:X", "x", 1, &error), -EPERM);
        vault_free(v);
        world_close(&w);
}

typedef struct Row {
        uint8_t sealed[256];
        size_t size;
} Row;

static int take_row(const SecretRow *row, void *userdata) {
        Row *r = userdata;

        check_true("fits", row->size <= sizeof(r->sealed));
        memcpy(r->sealed, row->sealed, row->size);
        r->size = row->size;
        return 0;
}

TEST(rows_that_were_changed_or_moved_are_refused) {
        World w;
        Vault *v;
        Row row;
        SecretRow moved;

        world_new(&w, "moved");
        v = open_vault(&w);
        set(v, "red", "a", "of red");
        set(v, "blue", "a", "of blue");
        check_result("find", store_secret_find(w.store, "red", "a", take_row, &row), 0);
        moved = (SecretRow) { .tenant = "blue", .name = "a", .sealed = row.sealed, .size = row.size, .updated_at = 1 };
        check_result("to another tenant", store_secret_put(w.store, &moved) < 0, 0);
        has(v, "blue", "a", -EBADMSG, NULL);
        moved = (SecretRow) { .tenant = "red", .name = "b", .sealed = row.sealed, .size = row.size, .updated_at = 1 };
        check_result("to another name", store_secret_put(w.store, &moved) < 0, 0);
        has(v, "red", "b", -EBADMSG, NULL);
        row.sealed[row.size - 1] ^= 1;
        moved.name = "a";
        check_result("changed", store_secret_put(w.store, &moved) < 0, 0);
        has(v, "red", "a", -EBADMSG, NULL);
        set(v, "red", "a", "anew");
        has(v, "red", "a", 0, "anew");
        vault_free(v);
        world_close(&w);
}

static void write_key(const World *w, const char *text, mode_t mode) {
        char path[600];
        int fd;

        (void) snprintf(path, sizeof(path), "%s/" VAULT_KEY_FILE, w->state);
        (void) unlink(path);
        if (!text)
                return;
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
        check_true("key", fd >= 0 && write(fd, text, strlen(text)) == (ssize_t) strlen(text));
        (void) fchmod(fd, mode);
        (void) close(fd);
}

static void shut(World *w, const char *part) {
        Vault *v = open_vault(w);
        Error error = { 0 };

        check_true("shut", !vault_is_open(v, &error));
        check_part("why", error.text, part);
        has(v, "", "a", -EKEYREVOKED, NULL);
        check_result("set", vault_set(v, "", "b", "value", 5, &error), -EKEYREVOKED);
        check_result("remove", vault_remove(v, "", "a", &error), -EKEYREVOKED);
        vault_free(v);
}

TEST(a_vault_that_cannot_be_opened_stays_shut) {
        static const char other[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n";
        World w;
        Vault *v;
        Error error = { 0 };

        world_new(&w, "shut");
        v = open_vault(&w);
        check_true("open", vault_is_open(v, &error));
        vault_free(v);
        write_key(&w, other, 0600);
        v = open_vault(&w); /* nothing was sealed yet */
        check_true("open", vault_is_open(v, &error));
        set(v, "", "a", "value of a");
        vault_free(v);

        write_key(&w, "ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n", 0600);
        shut(&w, "not the one");
        write_key(&w, NULL, 0);
        shut(&w, "is missing");
        write_key(&w, other, 0644);
        shut(&w, "mode 0644");
        write_key(&w, "short", 0600);
        shut(&w, "64 hexadecimal digits");
        write_key(&w, other, 0600);
        v = open_vault(&w);
        has(v, "", "a", 0, "value of a");
        vault_free(v);

        write_key(&w, NULL, 0);
        v = open_vault(&w);
        check_result("begun anew", vault_reset(v, &error), 0);
        check_true("open", vault_is_open(v, &error));
        has(v, "", "a", -ENOENT, NULL);
        vault_free(v);
        world_close(&w);
}

static void push(Strv *env, const char *text) {
        check_result(text, strv_push(env, text), 0);
}

TEST(references_become_values_and_are_kept_in_mind) {
        _cleanup_(secrets_strv_done) Strv env = STRV_INIT(16), missing = STRV_INIT(16);
        Error error = { 0 };
        Answer a = { 0 };
        Sandbox *sb;
        World w;
        Vault *v;
        char text[] = "a first-value b";

        world_new(&w, "references");
        v = open_vault(&w);
        sb = create(&w, "one", &a);
        set(v, "", "first", "first-value");
        push(&env, "A=secret:first");
        push(&env, "B=not secret:first");
        push(&env, "C=");
        check_result("resolve", secrets_resolve(sb, &env, &error), 0);
        check_string("A", env.items[0], "A=first-value");
        check_string("B", env.items[1], "B=not secret:first");
        check_string("C", env.items[2], "C=");
        check_result("hidden", mask_apply(sb->mask, text, strlen(text), NULL), 0);
        check_string("hidden", text, "a *********** b");

        push(&missing, "A=secret:first");
        push(&missing, "B=secret:second");
        push(&missing, "C=secret:");
        check_result("missing", secrets_check(w.manager, &admin, NULL, &missing, &error), -ENOKEY);
        check_part("which", error.text, "B: secret \"second\" does not exist: `cove secret set second`");
        check_part("which", error.text, "C: ");
        check_result("missing", secrets_resolve(sb, &missing, &error), -ENOKEY);
        check_string("untouched", missing.items[0], "A=secret:first");
        vault_free(v);
        check_result("without a vault", secrets_check(w.manager, &admin, NULL, &missing, &error), -EOPNOTSUPP);
        world_close(&w);
}

static Sandbox *only_sandbox(World *w) {
        check_uint("sandboxes", HASH_COUNT(w->manager->sandboxes), 1);
        return w->manager->sandboxes;
}

TEST(what_was_given_is_hidden_after_a_restart) {
        Error error = { 0 };
        Answer a = { 0 };
        Sandbox *sb;
        World w;
        Vault *v;

        world_new(&w, "given");
        v = open_vault(&w);
        sb = create(&w, "one", &a);
        check_result("remember", vault_mask_remember(v, sb, "a credential", 12, &error), 0);
        check_result("twice", vault_mask_remember(v, sb, "a credential", 12, &error), 0);
        check_result("another", vault_mask_remember(v, sb, "second one", 10, &error), 0);
        check_result("short", vault_mask_remember(v, sb, "abc", 3, &error), 0);
        vault_free(v);
        world_close(&w);

        world_open(&w);
        v = open_vault(&w);
        sb = only_sandbox(&w);
        check_true("kept", mask_has(sb->mask, "a credential", 12) && mask_has(sb->mask, "second one", 10) && !sb->mask_lost);
        check_uint("values", mask_count(sb->mask), 2);
        check_result("third", vault_mask_remember(v, sb, "third value", 11, &error), 0);
        vault_free(v);
        world_close(&w);

        world_open(&w);
        write_key(&w, NULL, 0);
        v = open_vault(&w);
        check_true("shut", !vault_is_open(v, &error));
        check_true("nothing is shown", only_sandbox(&w)->mask_lost);
        vault_free(v);
        world_close(&w);
}

/* What cannot be hidden is not given, and what was given stays hidden. */
TEST(values_that_are_too_long_together_are_refused_by_name) {
        _cleanup_(secrets_strv_done) Strv env = STRV_INIT(16);
        static char value[SECRET_VALUE_MAX + 1];
        const size_t n = MASK_BYTES_MAX / SECRET_VALUE_MAX;
        Error error = { 0 };
        Answer a = { 0 };
        Sandbox *sb;
        World w;
        Vault *v;

        world_new(&w, "ceiling");
        v = open_vault(&w);
        sb = create(&w, "one", &a);
        memset(value, 'x', SECRET_VALUE_MAX);
        for (size_t i = 0; i < n; i++) {
                value[0] = (char) ('A' + i);
                check_result("remember", vault_mask_remember(v, sb, value, SECRET_VALUE_MAX, &error), 0);
        }
        set(v, "", "more", "one-more");
        push(&env, "TOKEN=secret:more");
        check_result("resolve", secrets_resolve(sb, &env, &error), -E2BIG);
        check_part("which", error.text, "TOKEN: a value of 8 bytes cannot be hidden");
        check_part("cure", error.text, "make another sandbox");
        vault_free(v);
        world_close(&w);

        world_open(&w);
        v = open_vault(&w);
        sb = only_sandbox(&w);
        check_uint("values", mask_count(sb->mask), n);
        check_true("shown", !sb->mask_lost);
        vault_free(v);
        world_close(&w);
}

TEST(the_environment_is_taken_out_of_ours) {
        _cleanup_(strv_done) Strv names = STRV_INIT(4);
        _cleanup_(secrets_strv_done) Strv taken = STRV_INIT(4);

        push(&names, "COVE_TEST_SECRET");
        push(&names, "COVE_TEST_ABSENT");
        (void) setenv("COVE_TEST_SECRET", "from outside", 1);
        check_result("take", vault_take_environment(&names, &taken), 0);
        check_true("gone", !getenv("COVE_TEST_SECRET"));
        check_uint("taken", taken.n, 1);
        check_string("taken", taken.items[0], "COVE_TEST_SECRET=from outside");
}
