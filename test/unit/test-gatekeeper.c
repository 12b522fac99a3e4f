/* The gatekeeper against a gate that the test plays: a socket that speaks control.h. */

#include <sys/socket.h>
#include <sys/un.h>

#include "core/ailment.h"
#include "core/ledger.h"
#include "core/network.h"
#include "gate/control.h"
#include "gatekeeper/gatekeeper.h"
#include "gatekeeper/rows.h"
#include "wire/spawn.h"
#include "world.h"

#define PATIENCE (60 * USEC_PER_SEC)

typedef struct Play {
        World w;
        Gatekeeper *keeper;
        char run[560];
        int listener, gate; /* the gate's side */
        json_t *heard;      /* all that it was told, but hello and list */
        size_t n_fds;       /* of the last one */
        bool silent;        /* answers hello and list only */
        const char *items[4]; /* what it says that it has */
        const char *refusal;
        const char *program; /* NULL: there is none to start */
        json_int_t version;
        ProviderOps ops;
        Sandbox *asked[8];  /* for sockets, in this order */
        size_t n_asked;
        int hubs[8];        /* as they were lent when the sandbox was made */
        struct {
                uint64_t token;
                uint16_t port;
                ProviderFlow flow;
        } socket; /* the last that was asked for */
} Play;

static Play *play;

static int fake_network(Provider *p, Sandbox *sb) {
        play->asked[play->n_asked++ % 8] = sb;
        return 0;
}

static int fake_flow(Provider *p, Sandbox *sb, const ProviderFlow *flow, uint64_t token) {
        play->socket.flow = *flow;
        play->socket.token = token;
        return 0;
}

static int fake_connect(Provider *p, Sandbox *sb, uint16_t port, uint64_t token) {
        play->socket.port = port;
        play->socket.token = token;
        return 0;
}

static const ProviderNetwork with_network = { .sockets = fake_network, .flow = fake_flow };
static const ProviderPorts with_ports = { .connect = fake_connect };

static int create_and_look(Provider *p, Sandbox *sb, Error *reterr) {
        play->hubs[play->w.fake.n_created % 8] = sb->spec.hub_fd;
        return fake_create(p, sb, reterr);
}

static void listen_as_gate(Play *p) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };

        (void) snprintf(address.sun_path, sizeof(address.sun_path), "%.90s/gate.sock", p->run);
        (void) unlink(address.sun_path);
        p->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        check_int("bind", bind(p->listener, (struct sockaddr *) &address, sizeof(address)), 0);
        check_int("listen", listen(p->listener, 8), 0);
}

static void open_keeper(Play *p) {
        const GatekeeperConfig config = { .run_dir = p->run, .state_dir = p->w.state, .program = p->program };
        Error error = { 0 };

        p->ops = fake_ops;
        p->ops.create = create_and_look;
        p->w.fake.provider.ops = &p->ops;
        p->w.fake.provider.egress = p->w.fake.provider.groups = &with_network;
        p->w.fake.provider.ports = &with_ports;
        check_result("gatekeeper", gatekeeper_new(p->w.manager, /* vault= */ NULL, &config, &p->keeper, &error), 0);
}

static void play_begin(Play *p, const char *name) {
        memset(p, 0, sizeof(*p));
        play = p;
        p->listener = p->gate = -EBADF;
        p->version = CONTROL_VERSION;
        p->heard = json_array();
        world_new(&p->w, name);
        (void) snprintf(p->run, sizeof(p->run), "%s/run", p->w.state);
        (void) mkdir(p->run, 0700);
        listen_as_gate(p);
        open_keeper(p);
}

static void play_end(Play *p) {
        p->keeper = gatekeeper_free(p->keeper);
        world_close(&p->w);
        p->gate = fd_close(p->gate);
        p->listener = fd_close(p->listener);
        json_decref(p->heard);
}

/* The gate's own turn: everything that was said to it. */

static const char *word(json_t *message, const char *key) {
        const char *text = json_string_value(json_object_get(message, key));

        return text ? text : "";
}

static void say(Play *p, json_t *message) {
        check_result("say", control_send(p->gate, message, NULL, 0), 0);
        json_decref(message);
}

static void answer(Play *p, json_t *message) {
        json_t *serial = json_object_get(message, "serial");

        if (strcmp(word(message, "do"), "hello") == 0) {
                check_uint("seed", strlen(word(message, "seed")), 64);
                say(p, json_pack("{s:i, s:I, s:i}", "hello", 1, "version", p->version, "pid", 1));
        } else if (strcmp(word(message, "do"), "list") == 0) {
                for (size_t i = 0; i < ELEMENTSOF(p->items) && p->items[i]; i++)
                        say(p, json_pack("{s:s}", "item", p->items[i]));
                say(p, json_pack("{s:b}", "end", 1));
        } else {
                (void) json_array_append(p->heard, message);
                if (serial && !p->silent && p->refusal)
                        say(p, json_pack("{s:O, s:s}", "failed", serial, "error", p->refusal));
                else if (serial && !p->silent)
                        say(p, json_pack("{s:O}", "done", serial));
        }
}

static void gate_turn(Play *p) {
        int fds[CONTROL_FDS_MAX], fd;
        size_t n;

        fd = p->listener >= 0 ? accept4(p->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK) : -1;
        if (fd >= 0) {
                (void) fd_close(p->gate);
                p->gate = fd;
        }
        while (p->gate >= 0) {
                json_t *message = NULL;

                if (control_receive(p->gate, &message, fds, &n) <= 0)
                        return;
                p->n_fds = n;
                for (size_t i = 0; i < n; i++)
                        (void) fd_close(fds[i]);
                answer(p, message);
                json_decref(message);
        }
}

/* Both take turns until it is so. */
#define UNTIL(p, condition)                                                                \
        do {                                                                               \
                usec_t _end = clock_usec() + PATIENCE;                                     \
                while (!(condition) && clock_usec() < _end) {                              \
                        gate_turn(p);                                                      \
                        (void) sd_event_run((p)->w.event, 2 * USEC_PER_MSEC);              \
                }                                                                          \
                check_true(#condition, !!(condition));                                     \
        } while (0)

static json_t *heard(Play *p, const char *what, const char *id) {
        json_t *message, *found = NULL;
        size_t i;

        json_array_foreach(p->heard, i, message)
                if (strcmp(word(message, "do"), what) == 0 && (!id || strcmp(word(message, "id"), id) == 0))
                        found = message;
        return found;
}

/* Sandboxes. */

static Sandbox *create_with(Play *p, NetworkMode mode, const char *tenant, const char *group, const char *policy, Answer *a) {
        SandboxSpec spec;
        Sandbox *sb = NULL;
        bool existing;
        Error error = { 0 };

        sandbox_spec_defaults(&spec);
        spec.network = (uint8_t) mode;
        spec.tenant = strdup(tenant);
        spec.group = group ? strdup(group) : NULL;
        spec.policy = policy ? strdup(policy) : NULL;
        check_result("create", manager_create(p->w.manager, &admin, &spec, &sb, &existing, on_done, a, &error), 0);
        sandbox_spec_done(&spec);
        return sb;
}

static void tell_created(Play *p, Sandbox *sb) {
        p->w.fake.provider.events->created(sb, getpid(), 1 << 30, 0, NULL, p->w.manager); /* a pid of which there is a pidfd */
}

static void tell_sockets(Play *p, Sandbox *sb) {
        bool linked = sb->spec.network == NETWORK_ISOLATED;
        int fds[3];
        size_t n = linked ? 2 : 3;

        for (size_t i = 0; i < n; i++)
                fds[i] = open("/dev/null", O_RDWR | O_CLOEXEC);
        p->w.fake.provider.events->network(sb, 0, linked ? SPAWN_NETWORK_LINKED : SPAWN_NETWORK_GATED, fds, n, p->w.manager);
}

static bool was_asked(const Play *p, const Sandbox *sb) {
        for (size_t i = 0; i < MIN_OF(p->n_asked, (size_t) 8); i++)
                if (p->asked[i] == sb)
                        return true;
        return false;
}

static Sandbox *create_seated(Play *p, const char *policy) {
        static Answer a;
        Sandbox *sb;

        a = (Answer) { 0 };
        sb = create_with(p, NETWORK_EGRESS, "", NULL, policy, &a);
        tell_created(p, sb);
        UNTIL(p, was_asked(p, sb));
        tell_sockets(p, sb);
        UNTIL(p, a.n == 1);
        check_int("well", a.code, 0);
        return sb;
}

static void destroy(Play *p, Sandbox *sb) {
        char id[SANDBOX_ID_LENGTH + 1];

        memcpy(id, sb->id, sizeof(id));
        sandbox_end(sb, SANDBOX_TERMINATED, /* delete= */ true, "test");
        p->w.fake.provider.events->destroyed(id, NULL, p->w.manager);
}

TEST(nobody_gets_it_before_the_gate_has_it) {
        size_t before = unit_count_descriptors();
        Play p;
        Answer a = { 0 };
        Sandbox *sb;
        json_t *attach;

        play_begin(&p, "attach");
        p.silent = true;
        sb = create_with(&p, NETWORK_EGRESS, "", NULL, "{\"network\":{\"allow\":[\"pypi.org\"]}}", &a);
        tell_created(&p, sb);
        check_string("status", sandbox_status_name(sb->status), "initializing");
        UNTIL(&p, p.n_asked == 1);
        tell_sockets(&p, sb);
        UNTIL(&p, heard(&p, "attach", sb->id));
        check_int("not answered", (int) a.n, 0);
        check_string("status", sandbox_status_name(sb->status), "initializing");

        attach = heard(&p, "attach", sb->id);
        check_uint("sockets and pidfd", p.n_fds, 4);
        check_string("mode", word(attach, "mode"), "egress");
        check_string("rule", json_string_value(json_array_get(json_object_get(json_object_get(attach, "network"), "allow"), 0)), "pypi.org");
        say(&p, json_pack("{s:O}", "done", json_object_get(attach, "serial")));
        UNTIL(&p, a.n == 1);
        check_int("well", a.code, 0);
        check_string("status", sandbox_status_name(sb->status), "ready");
        play_end(&p);
        check_uint("descriptors", unit_count_descriptors(), before);
}

TEST(what_the_gate_refuses_is_not_made) {
        Play p;
        Answer a = { 0 };
        Sandbox *sb;

        play_begin(&p, "refused");
        p.refusal = "no such thing";
        sb = create_with(&p, NETWORK_EGRESS, "", NULL, NULL, &a);
        tell_created(&p, sb);
        UNTIL(&p, p.n_asked == 1);
        tell_sockets(&p, sb);
        UNTIL(&p, p.w.fake.n_destroyed == 1);
        p.w.fake.provider.events->destroyed(p.w.fake.destroyed[0], NULL, p.w.manager);
        check_int("told", (int) a.n, 1);
        check_part("why", a.text, "no such thing");
        play_end(&p);
}

TEST(modes_that_are_not_allowed) {
        SandboxSpec spec;
        Sandbox *sb;
        bool existing;
        Error error = { 0 };
        Play p;

        play_begin(&p, "modes");
        sandbox_spec_defaults(&spec);
        spec.network = NETWORK_OPEN;
        check_result("open", manager_create(p.w.manager, &admin, &spec, &sb, &existing, NULL, NULL, &error), -EPERM);
        check_part("cure", error.text, "network.allowOpen");
        spec.network = NETWORK_HOST;
        check_result("host", manager_create(p.w.manager, &admin, &spec, &sb, &existing, NULL, NULL, &error), -EOPNOTSUPP);
        spec.network = NETWORK_EGRESS;
        spec.policy = strdup("{\"network\":{\"learn\":true}}");
        check_result("learn", manager_create(p.w.manager, &admin, &spec, &sb, &existing, NULL, NULL, &error), -EPERM);
        p.w.fake.provider.egress = NULL;
        check_result("provider", manager_create(p.w.manager, &admin, &spec, &sb, &existing, NULL, NULL, &error), -EOPNOTSUPP);
        sandbox_spec_done(&spec);
        check_uint("nothing is left", HASH_COUNT(p.w.manager->sandboxes), 0);
        play_end(&p);
}

TEST(addresses_of_groups) {
        Answer a = { 0 };
        Sandbox *one, *two, *three, *other, *foreign;
        Play p;

        play_begin(&p, "addresses");
        one = create_with(&p, NETWORK_ISOLATED, "t", "g", NULL, &a);
        tell_created(&p, one);
        UNTIL(&p, was_asked(&p, one));
        tell_sockets(&p, one);
        two = create_with(&p, NETWORK_ISOLATED, "t", "g", NULL, &a);
        three = create_with(&p, NETWORK_ISOLATED, "t", "g", NULL, &a);
        other = create_with(&p, NETWORK_ISOLATED, "t", "h", NULL, &a);
        foreign = create_with(&p, NETWORK_ISOLATED, "u", "g", NULL, &a);
        check_uint("first", one->spec.address, 0x0ad50002);
        check_uint("second", two->spec.address, 0x0ad50003);
        check_uint("third", three->spec.address, 0x0ad50004);
        check_uint("another group", other->spec.address, 0x0ad50002);
        check_uint("another tenant", foreign->spec.address, 0x0ad50002);
        destroy(&p, two);
        two = create_with(&p, NETWORK_ISOLATED, "t", "g", NULL, &a);
        check_uint("the lowest again", two->spec.address, 0x0ad50003);
        play_end(&p);
}

TEST(a_group_has_one_hub) {
        Answer a = { 0 };
        Sandbox *one, *two, *three;
        json_t *names;
        Play p;

        play_begin(&p, "hub");
        one = create_with(&p, NETWORK_ISOLATED, "t", "g", NULL, &a);
        two = create_with(&p, NETWORK_ISOLATED, "t", "g", NULL, &a);
        check_uint("the second waits", p.w.fake.n_created, 1);
        check_true("the first makes it", p.hubs[0] < 0);
        tell_created(&p, one);
        UNTIL(&p, was_asked(&p, one));
        tell_sockets(&p, one);
        UNTIL(&p, p.w.fake.n_created == 2);
        check_true("the second has it", p.hubs[1] >= 0);
        check_true("nobody keeps it", two->spec.hub_fd < 0);
        tell_created(&p, two);
        UNTIL(&p, was_asked(&p, two));
        tell_sockets(&p, two);
        UNTIL(&p, a.n == 2);
        UNTIL(&p, (names = heard(&p, "names", one->id)) && json_object_size(json_object_get(names, "names")) == 2);
        check_string("address", json_string_value(json_object_get(json_object_get(names, "names"), two->id)), "10.213.0.3");

        destroy(&p, one);
        UNTIL(&p, json_object_size(json_object_get(heard(&p, "names", two->id), "names")) == 1);
        three = create_with(&p, NETWORK_ISOLATED, "t", "g", NULL, &a);
        check_uint("made at once", p.w.fake.n_created, 3);
        check_true("with the same", p.hubs[2] >= 0);
        destroy(&p, two);
        destroy(&p, three);
        (void) create_with(&p, NETWORK_ISOLATED, "t", "g", NULL, &a);
        check_true("it went with the last", p.hubs[3] < 0);
        play_end(&p);
}

TEST(who_should_have_made_the_hub_fails) {
        Answer a = { 0 }, b = { 0 };
        Sandbox *one;
        Play p;

        play_begin(&p, "maker");
        one = create_with(&p, NETWORK_ISOLATED, "t", "g", NULL, &a);
        (void) create_with(&p, NETWORK_ISOLATED, "t", "g", NULL, &b);
        destroy(&p, one);
        UNTIL(&p, p.w.fake.n_created == 2);
        check_true("the next makes it", p.hubs[1] < 0);
        play_end(&p);
}

TEST(a_gate_that_dies_gets_everything_again) {
        Sandbox *one, *two;
        Play p;

        play_begin(&p, "dies");
        one = create_seated(&p, "{\"network\":{\"allow\":[\"one.test\"]}}");
        two = create_seated(&p, NULL);
        (void) json_array_clear(p.heard);
        p.n_asked = 0;
        p.gate = fd_close(p.gate);
        UNTIL(&p, p.n_asked == 2);
        tell_sockets(&p, one);
        tell_sockets(&p, two);
        UNTIL(&p, heard(&p, "attach", one->id) && heard(&p, "attach", two->id));
        check_string("still ready", sandbox_status_name(one->status), "ready");
        play_end(&p);
}

static bool ails(const Play *p, const char *name) {
        for (size_t i = 0; i < AILMENTS_MAX; i++)
                if (p->w.manager->ailments[i].name && strcmp(p->w.manager->ailments[i].name, name) == 0)
                        return true;
        return false;
}

/* Nobody looks for another one then, and nobody would ever say that it is well again. */
TEST(a_gate_that_nobody_needs_any_more_is_no_ailment) {
        Sandbox *sb;
        Play p;

        play_begin(&p, "ailment");
        sb = create_seated(&p, NULL);
        destroy(&p, sb);
        manager_ail(p.w.manager, "gate", /* ill= */ true, "it is silent");
        check_true("said", ails(&p, "gate"));
        p.gate = fd_close(p.gate);
        UNTIL(&p, !ails(&p, "gate"));
        play_end(&p);
}

TEST(after_a_restart_both_views_become_one) {
        char known[SANDBOX_ID_LENGTH + 1], missing[SANDBOX_ID_LENGTH + 1];
        Sandbox *sb, *next;
        Play p;

        play_begin(&p, "restart");
        memcpy(known, create_seated(&p, "{\"network\":{\"allow\":[\"one.test\"]}}")->id, sizeof(known));
        memcpy(missing, create_seated(&p, NULL)->id, sizeof(missing));
        p.keeper = gatekeeper_free(p.keeper);
        world_close(&p.w);

        (void) json_array_clear(p.heard);
        p.n_asked = 0;
        p.items[0] = "stranger";
        p.items[1] = known;
        world_open(&p.w);
        open_keeper(&p);
        p.w.fake.provider.events->up(&p.w.fake.provider, p.w.manager);
        HASH_ITER(hh, p.w.manager->sandboxes, sb, next)
                p.w.fake.provider.events->adopted(sb, NULL, p.w.manager);
        p.w.fake.provider.events->listed(NULL, p.w.manager);
        UNTIL(&p, heard(&p, "detach", "stranger") && heard(&p, "policy", known) && p.n_asked == 1);
        check_string("asked", p.asked[0]->id, missing);
        check_true("the other has its sockets there", !heard(&p, "attach", known));
        play_end(&p);
}

/* Of the variable STORM, as a command would find it now. */
static void find_placeholder(Play *p, const char *id, char ret[static 128]) {
        Sandbox *sb = manager_by_id(p->w.manager, id);
        _cleanup_(strv_done) Strv env = STRV_INIT(16);
        const char *value;

        free(sb->spec.policy); /* a row would not have it without a vault */
        sb->spec.policy = strdup("{\"credentials\":[{\"secret\":\"storm\",\"domain\":\"api.test\",\"env\":\"STORM\"}]}");
        check_result("environment", network_environment(sb, &env), 0);
        value = strv_get_env(&env, "STORM");
        check_true("is there", value != NULL);
        (void) snprintf(ret, 128, "%s", value);
}

TEST(a_placeholder_is_the_same_before_the_gate_is_reached) {
        char id[SANDBOX_ID_LENGTH + 1], before[128], after[128];
        Play p;

        play_begin(&p, "placeholder");
        memcpy(id, create_seated(&p, NULL)->id, sizeof(id));
        find_placeholder(&p, id, before);
        p.keeper = gatekeeper_free(p.keeper);
        world_close(&p.w);

        world_open(&p.w);
        open_keeper(&p);
        p.w.fake.provider.events->up(&p.w.fake.provider, p.w.manager);
        p.w.fake.provider.events->adopted(manager_by_id(p.w.manager, id), NULL, p.w.manager);
        find_placeholder(&p, id, after);
        check_string("the gate's", after, before);
        play_end(&p);
}

TEST(another_version_is_replaced) {
        Answer a = { 0 };
        Play p;

        play_begin(&p, "version");
        p.version = CONTROL_VERSION + 1;
        (void) create_with(&p, NETWORK_EGRESS, "", NULL, NULL, &a);
        UNTIL(&p, heard(&p, "quit", NULL));
        p.version = CONTROL_VERSION;
        p.gate = fd_close(p.gate);
        UNTIL(&p, p.gate >= 0);
        play_end(&p);
}

TEST(a_policy_while_it_runs) {
        _cleanup_(policy_done) Policy policy = { 0 };
        Answer a = { 0 };
        Error error = { 0 };
        Sandbox *sb;
        Play p;

        play_begin(&p, "policy");
        sb = create_seated(&p, "{\"network\":{\"allow\":[\"one.test\"]},\"deniedPaths\":[\"/srv\"]}");
        policy_init(&policy);
        policy.network.mode = NETWORK_NONE;
        check_result("another build", gatekeeper_set_policy(p.keeper, &admin, sb, &policy, on_done, &a, &error), -EINVAL);
        policy.network.mode = NETWORK_EGRESS;
        p.silent = true;
        check_result("change", gatekeeper_set_policy(p.keeper, &admin, sb, &policy, on_done, &a, &error), 0);
        UNTIL(&p, heard(&p, "policy", sb->id));
        check_uint("not before the gate has it", a.n, 0);
        check_part("the rest stays", sb->spec.policy, "/srv");
        check_true("the rule is gone", !strstr(sb->spec.policy, "one.test"));
        say(&p, json_pack("{s:O}", "done", json_object_get(heard(&p, "policy", sb->id), "serial")));
        UNTIL(&p, a.n == 1);
        check_int("well", a.code, 0);
        play_end(&p);
}

/* Approvals. */

static int take_id(StoreApproval *row, void *userdata) {
        (void) snprintf(userdata, 32, "%.31s", row->id);
        return 0;
}

static void ask(Play *p, const Sandbox *sb, const char *name, char id[static 32]) {
        say(p, json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:I}", "event", "asked", "id", sb->id, "ask", name, "protocol", "https", "host", "x.test",
                        "port", 443, "expires", (json_int_t) (clock_wall_usec() + 60 * USEC_PER_SEC)));
        id[0] = '\0';
        UNTIL(p, (store_approval_each(p->w.store, NULL, "open", 0, 1, take_id, id), id[0] != '\0'));
}

static bool has_status(Play *p, const char *id, const char *status) {
        _cleanup_(store_approval_done) StoreApproval row = { 0 };

        return store_approval_get(p->w.store, id, &row) >= 0 && strcmp(row.status, status) == 0;
}

static int count_grants(const NetworkGrant *g, void *userdata) {
        check_string("grant", g->rule, "https://x.test:443");
        (*(unsigned *) userdata)++;
        return 0;
}

TEST(approvals) {
        Principal stranger = { .kind = PRINCIPAL_USE_KEY, .tenant = "stranger" }, bound = { .kind = PRINCIPAL_USE_KEY, .profile = "ELICITATION" };
        unsigned n = 0;
        Error error = { 0 };
        char id[32];
        Sandbox *sb;
        json_t *said;
        Play p;

        play_begin(&p, "approvals");
        sb = create_seated(&p, NULL);
        ask(&p, sb, "ask-1", id);
        check_result("none", gatekeeper_answer(p.keeper, &admin, "ap-none", true, APPROVAL_ONCE, &error), -ENOENT);
        check_result("not theirs", gatekeeper_answer(p.keeper, &stranger, id, true, APPROVAL_ONCE, &error), -ENOENT);
        check_result("a policy", profile_set_policy(p.w.settings->profiles, "{}", NETWORK_NONE, NULL), 0);
        check_string("of its profile", p.w.settings->profiles->name, bound.profile);
        check_result("bound", gatekeeper_answer(p.keeper, &bound, id, true, APPROVAL_ONCE, &error), -EPERM);
        check_part("why", error.text, "'ELICITATION'");
        check_result("no profile", gatekeeper_answer(p.keeper, &admin, id, true, APPROVAL_PROFILE, &error), -EINVAL);
        check_result("answer", gatekeeper_answer(p.keeper, &admin, id, true, APPROVAL_SANDBOX, &error), 0);
        check_result("twice", gatekeeper_answer(p.keeper, &admin, id, false, APPROVAL_ONCE, &error), -EALREADY);
        UNTIL(&p, (said = heard(&p, "answer", NULL)));
        check_string("ask", word(said, "ask"), "ask-1");
        check_true("allowed", json_is_true(json_object_get(said, "allow")));
        check_string("grant", word(said, "grant"), "https://x.test:443");
        check_result("grants", store_grant_each(p.w.store, sb->id, "", NULL, count_grants, &n), 0);
        check_uint("one", n, 1);

        ask(&p, sb, "ask-2", id);
        say(&p, json_pack("{s:s, s:s, s:s}", "event", "expired", "id", sb->id, "ask", "ask-2"));
        UNTIL(&p, has_status(&p, id, "expired"));
        check_result("too late", gatekeeper_answer(p.keeper, &admin, id, true, APPROVAL_ONCE, &error), -ETIME);
        play_end(&p);
}

/* Denials. */

static int count_denials(const NetworkDenial *d, void *userdata) {
        (*(unsigned *) userdata)++;
        return 0;
}

TEST(denials_are_bounded) {
        unsigned n = 0;
        Sandbox *sb;
        Play p;

        play_begin(&p, "denials");
        p.w.settings->network.denials_kept = 10;
        sb = create_seated(&p, NULL);
        for (int i = 0; i < 200; i++) {
                char host[32];

                (void) snprintf(host, sizeof(host), "x%d.test", i);
                say(&p, json_pack("{s:s, s:s, s:s, s:s, s:s, s:i}", "event", "denied", "id", sb->id, "protocol", "dns", "host", host, "reason",
                                "no_rule", "count", 1));
        }
        say(&p, json_pack("{s:s, s:s, s:i, s:s, s:s, s:s}", "event", "flow", "id", sb->id, "token", 7, "local", "bad", "remote", "bad", "x", "x"));
        UNTIL(&p, heard(&p, "flow", NULL)); /* that was the last: all are taken */
        check_result("read", store_denial_each(p.w.store, sb->id, 0, 1000, count_denials, &n), 0);
        check_uint("kept", n, 10);
        check_int("refused", (int) json_integer_value(json_object_get(heard(&p, "flow", NULL), "error")), EINVAL);
        play_end(&p);
}

/* Rubbish from the gate ends nothing but itself. */
TEST(nonsense) {
        static const char *const lines[] = {
                "{\"done\":\"x\"}",  "{\"done\":-1}",         "{\"failed\":null}",          "{\"event\":7}",
                "{\"event\":\"denied\"}", "{\"event\":\"asked\",\"id\":\"nobody\"}", "{\"item\":{}}", "{\"what\":1}",
                "{\"event\":\"gone\",\"id\":\"nobody\",\"usage\":[]}",
        };
        Sandbox *sb;
        Play p;

        play_begin(&p, "nonsense");
        sb = create_seated(&p, NULL);
        for (size_t i = 0; i < ELEMENTSOF(lines); i++)
                say(&p, json_loads(lines[i], 0, NULL));
        say(&p, json_pack("{s:s, s:s, s:s, s:i}", "event", "asked", "id", sb->id, "ask", "", "port", -7));
        say(&p, json_pack("{s:s, s:s, s:n}", "event", "gone", "id", sb->id, "usage"));
        say(&p, json_pack("{s:s, s:s, s:i}", "event", "flow", "id", sb->id, "token", 1));
        UNTIL(&p, heard(&p, "flow", NULL));
        check_string("still there", sandbox_status_name(sb->status), "ready");
        play_end(&p);
}

/* Sockets inside. */

typedef struct Connected {
        unsigned n;
        int error, fd;
} Connected;

static void on_connected(int error, int fd, void *userdata) {
        Connected *c = userdata;

        c->n++;
        c->error = error;
        c->fd = fd;
}

TEST(sockets_inside) {
        Connected c = { 0 };
        Sandbox *sb;
        Play p;

        play_begin(&p, "sockets");
        sb = create_seated(&p, NULL);
        check_result("connect", gatekeeper_connect(p.keeper, sb, 8080, on_connected, &c), 0);
        check_uint("port", p.socket.port, 8080);
        p.w.fake.provider.events->socket(sb, p.socket.token + 1, 0, open("/dev/null", O_RDWR | O_CLOEXEC), p.w.manager); /* nobody's */
        check_uint("not yet", c.n, 0);
        p.w.fake.provider.events->socket(sb, p.socket.token, ECONNREFUSED, -EBADF, p.w.manager);
        check_uint("told", c.n, 1);
        check_result("refused", c.error, -ECONNREFUSED);
        check_result("again", gatekeeper_connect(p.keeper, sb, 8080, on_connected, &c), 0);
        gatekeeper_forget(p.keeper, &c);
        p.w.fake.provider.events->socket(sb, p.socket.token, 0, open("/dev/null", O_RDWR | O_CLOEXEC), p.w.manager);
        check_uint("forgotten", c.n, 1);
        check_result("gone", gatekeeper_connect(p.keeper, sb, 8080, on_connected, &c), 0);
        destroy(&p, sb);
        UNTIL(&p, c.n == 2);
        check_true("an error", c.error < 0);
        play_end(&p);
}

static Sandbox *create_of(Play *p, const char *tenant) {
        static Answer a;
        Sandbox *sb;

        a = (Answer) { 0 };
        sb = create_with(p, NETWORK_EGRESS, tenant, NULL, NULL, &a);
        tell_created(p, sb);
        UNTIL(p, was_asked(p, sb));
        tell_sockets(p, sb);
        UNTIL(p, a.n == 1);
        return sb;
}

/* Its PID 1 never answers. */
TEST(one_tenant_does_not_take_all_calls) {
        static Connected c[LEDGER_CALLS_MAX];
        Sandbox *red, *blue;
        unsigned n = 0, more = 0;
        Play p;

        play_begin(&p, "calls");
        red = create_of(&p, "red");
        blue = create_of(&p, "blue");
        while (n < LEDGER_CALLS_MAX && gatekeeper_connect(p.keeper, red, 8080, on_connected, c + n) >= 0)
                n++;
        check_true("some", n >= LEDGER_CALLS_MAX / 4);
        check_result("no more", gatekeeper_connect(p.keeper, red, 8080, on_connected, c), -EAGAIN);
        while (more < LEDGER_CALLS_MAX && gatekeeper_connect(p.keeper, blue, 8080, on_connected, c + n + more) >= 0)
                more++;
        check_true("another has its share", more >= LEDGER_CALLS_MAX / 8);
        play_end(&p);
}

/* Its death. */

static unsigned lines_of(const char *directory, const char *name) {
        char path[256];
        unsigned n = 0;
        FILE *f;

        (void) snprintf(path, sizeof(path), "%.200s/%s", directory, name);
        f = fopen(path, "re");
        for (int c; f && (c = fgetc(f)) != EOF;)
                n += c == '\n';
        if (f)
                (void) fclose(f);
        return n;
}

static void write_program(Play *p, char *ret, size_t size) {
        FILE *f;

        (void) snprintf(ret, size, "%.90s/never-listens", p->run);
        f = fopen(ret, "we");
        assert_non_null(f);
        (void) fprintf(f, "#!/bin/sh\ncd '%s'\nfor p in $(cat pids 2>/dev/null); do kill -0 $p 2>/dev/null && echo $p >>doubled; done\necho $$ >>pids\nexec sleep 6061\n", p->run);
        (void) fchmod(fileno(f), 0700);
        (void) fclose(f);
}

/* It would go on without us. */
static void end_last(Play *p) {
        char path[256], line[32] = "";
        FILE *f;

        (void) snprintf(path, sizeof(path), "%.200s/pids", p->run);
        f = fopen(path, "re");
        while (f && fgets(line, sizeof(line), f))
                ;
        if (f)
                (void) fclose(f);
        if (atoi(line) > 1)
                (void) kill(atoi(line), SIGKILL);
}

TEST(a_second_gate_is_not_started_while_the_first_one_lives) {
        char program[128];
        unsigned doubled;
        sigset_t child, before;
        Answer a = { 0 };
        Play p;

        (void) sigemptyset(&child);
        (void) sigaddset(&child, SIGCHLD);
        (void) sigprocmask(SIG_BLOCK, &child, &before);
        play_begin(&p, "doubled");
        p.keeper = gatekeeper_free(p.keeper);
        p.listener = fd_close(p.listener);
        (void) snprintf(program, sizeof(program), "%.90s/gate.sock", p.run);
        (void) unlink(program);
        write_program(&p, program, sizeof(program));
        p.program = program;
        p.w.settings->cleanup.helper_timeout_usec = 100 * USEC_PER_MSEC;
        open_keeper(&p);
        tell_created(&p, create_with(&p, NETWORK_EGRESS, "", NULL, NULL, &a));
        UNTIL(&p, lines_of(p.run, "pids") >= 3);
        doubled = lines_of(p.run, "doubled");
        end_last(&p);
        play_end(&p);
        check_uint("none lived when the next was started", doubled, 0);
        (void) sigprocmask(SIG_SETMASK, &before, NULL);
}
