/* What the gate says to coved, as one says it that has been taken over: each line is a message. "@" as an id is a sandbox that is there, and 1 as a serial a question
 * that was asked. Whatever is said, the sandbox keeps its row and its policy, and no count goes back. */
#include "fuzz.h"

#include "../unit/world.h"
#include "base/directory.h"
#include "gatekeeper/internal.h"

#define MESSAGES_MAX 64
#define REMOVE_DEPTH 8

static char top[] = "/dev/shm/fuzz-gatekeeper-XXXXXX"; /* in memory: a database on a disk is slow */
static World world;
static Gatekeeper *keeper;

/* The checks of world.h hold here as well. */
#define HOLDS(name, Type)                                                                    \
        void name(const char *what, Type found, Type expected, const char *file, int line) { \
                if (found != expected)                                                       \
                        fuzz_fail(file, line, what);                                         \
        }
HOLDS(unit_check_int, intmax_t)
HOLDS(unit_check_uint, uintmax_t)
HOLDS(unit_check_result, intmax_t)

void unit_check_string(const char *what, const char *found, const char *expected, const char *file, int line) {
        if (strcmp(found, expected) != 0)
                fuzz_fail(file, line, what);
}

void unit_check_true(const char *what, int condition, const char *text, const char *file, int line) {
        if (!condition)
                fuzz_fail(file, line, text);
}

const char *unit_path(const char *name) {
        return top;
}

static uint64_t asked_for; /* the token of a socket; a provider answers later */

static int on_flow(Provider *p, Sandbox *sb, const ProviderFlow *flow, uint64_t token) {
        asked_for = token;
        return 0;
}

static int on_sockets(Provider *p, Sandbox *sb) {
        return 0;
}

static void fuzz_end(void) {
        keeper = gatekeeper_free(keeper);
        world_close(&world);
        if (directory_remove(AT_FDCWD, top, REMOVE_DEPTH) < 0)
                fprintf(stderr, "%s stays\n", top);
}

static void fuzz_begin(void) {
        static const ProviderNetwork network = { .sockets = on_sockets, .flow = on_flow };
        const GatekeeperConfig config = { .run_dir = top, .state_dir = top };

        if (access("/dev/shm", W_OK) < 0)
                memcpy(top, "/tmp////", strlen("/tmp////")); /* as long as the other */
        MUST(mkdtemp(top));
        world_new(&world, "");
        world.fake.provider.egress = &network;
        MUST(gatekeeper_new(world.manager, /* vault= */ NULL, &config, &keeper, NULL) >= 0);
        (void) atexit(fuzz_end);
}

static Sandbox *make_sandbox(void) {
        SandboxSpec spec;
        Sandbox *sb = NULL;
        bool existing;

        sandbox_spec_defaults(&spec);
        spec.network = NETWORK_EGRESS;
        spec.tenant = strdup("t");
        spec.policy = strdup("{\"network\":{\"mode\":\"egress\",\"ask\":[\"pypi.org\"]}}");
        MUST(manager_create(world.manager, &admin, &spec, &sb, &existing, NULL, NULL, NULL) >= 0);
        sandbox_spec_done(&spec);
        world.fake.provider.events->created(sb, getpid(), 1 << 30, 0, NULL, world.manager);
        return sb;
}

static void remove_sandbox(const char *id) {
        Sandbox *sb = manager_by_id(world.manager, id);

        if (!sb)
                return;
        sandbox_end(sb, SANDBOX_TERMINATED, /* delete= */ true, "fuzz");
        world.fake.provider.events->destroyed(id, NULL, world.manager);
}

static void fill_in(json_t *message, const char *key, json_t *real, const char *word) {
        json_t *v = json_object_get(message, key);

        if ((json_is_string(v) && strcmp(json_string_value(v), word) == 0) || (json_is_integer(v) && json_integer_value(v) == 1))
                (void) json_object_set(message, key, real);
        json_decref(real);
}

static void say(const char *id, const uint8_t *line, size_t size) {
        json_t *message = json_loadb((const char *) line, size, JSON_REJECT_DUPLICATES, NULL);
        Seat *s = seat_find(keeper, id);
        NetworkCounts before = s ? s->use.total : (NetworkCounts) { 0 };
        uint64_t serial = 0;

        if (json_is_object(message)) {
                (void) question_add(keeper, QUESTION_USAGE, id, &serial);
                fill_in(message, "id", json_string(id), "@");
                fill_in(message, "item", json_string(id), "@");
                fill_in(message, "done", json_integer((json_int_t) serial), "@");
                fill_in(message, "failed", json_integer((json_int_t) serial), "@");
                messages_take(keeper, message);
                question_drop(keeper, serial);
                sockets_on_made(keeper, asked_for, ECONNREFUSED, -EBADF);
        }
        json_decref(message);
        s = seat_find(keeper, id);
        MUST(!s || (s->use.total.up_bytes >= before.up_bytes && s->use.total.denied >= before.denied));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        char id[SANDBOX_ID_LENGTH + 1];
        Sandbox *sb;

        if (!keeper)
                fuzz_begin();
        sb = make_sandbox();
        memcpy(id, sb->id, sizeof(id));
        for (unsigned i = 0; i < MESSAGES_MAX && size > 0; i++) {
                const uint8_t *end = memchr(data, '\n', size);
                size_t length = end ? (size_t) (end - data) : size;

                say(id, data, length);
                length += end != NULL;
                data += length;
                size -= length;
        }
        sb = manager_by_id(world.manager, id);
        MUST(sb && sb->spec.policy && strstr(sb->spec.policy, "pypi.org"));
        remove_sandbox(id);
        MUST(HASH_COUNT(keeper->seats) == 0 && HASH_COUNT(keeper->questions) == 0);
        return 0;
}
