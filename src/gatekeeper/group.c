/* group.c: networks between sandboxes.
 *
 * A group is a name within a tenant, and the sandboxes in it. Its hub is created with the first member and
 * passed to each later one. coved keeps a descriptor of the hub while there are members, and so does the PID
 * 1 of each: it ends with the last of them. While one member creates the hub, the others wait. A bitmap
 * records which addresses are taken. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/fd.h"
#include "gatekeeper/internal.h"

#define NETWORK        UINT32_C(0x0ad50000) /* 10.213.0.0/16 */
#define HOSTS          65536
#define FIRST_HOST     2
#define NAMES_MAX      1000
#define NAMES_DELAY    (20 * USEC_PER_MSEC) /* changes within this time are sent together */
#define TOLD_AT_ONCE   32

struct Group {
        char key[ACCESS_NAME_MAX + SANDBOX_NAME_MAX + 3]; /* "tenant/group" */
        Gatekeeper *keeper;
        uint64_t taken[HOSTS / 64];
        int hub_fd;
        Seat *maker;   /* the member that is being created, and the hub with it */
        Seat *waiting; /* members that wait for the hub */
        Seat *members;
        unsigned n_members;
        UT_hash_handle hh;
};

static Group *group_free(Group *g) {
        (void) fd_close(g->hub_fd);
        HASH_DEL(g->keeper->groups, g);
        free(g);
        return NULL;
}

void groups_done(Gatekeeper *k) {
        while (k->groups)
                group_free(k->groups);
        k->group_timer = sd_event_source_disable_unref(k->group_timer);
}

static Group *group_get(Gatekeeper *k, const Sandbox *sb) {
        char key[sizeof(((Group *) NULL)->key)];
        Group *g;

        (void) snprintf(key, sizeof(key), "%s/%s", sb->spec.tenant ? sb->spec.tenant : "", sb->spec.group ? sb->spec.group : "");
        HASH_FIND_STR(k->groups, key, g);
        if (g)
                return g;
        g = calloc(1, sizeof(*g));
        if (!g)
                return NULL;
        g->keeper = k;
        g->hub_fd = -EBADF;
        memcpy(g->key, key, sizeof(g->key));
        HASH_ADD_STR(k->groups, key, g);
        return g;
}

/* Addresses. */

static void mark(Group *g, uint32_t address, bool taken) {
        uint32_t host = address - NETWORK;

        if (host >= HOSTS)
                return;
        if (taken)
                g->taken[host / 64] |= UINT64_C(1) << (host % 64);
        else
                g->taken[host / 64] &= ~(UINT64_C(1) << (host % 64));
}

static uint32_t lowest_free(const Group *g) {
        for (uint32_t host = FIRST_HOST; host < HOSTS - 1; host++) /* the last one is the broadcast address */
                if (!(g->taken[host / 64] >> (host % 64) & 1))
                        return NETWORK + host;
        return 0;
}

static void group_join(Group *g, Seat *s) {
        s->group = g;
        DL_APPEND2(g->members, s, group_prev, group_next);
        g->n_members++;
        mark(g, s->sandbox->spec.address, true);
}

int group_admit(Seat *s, Error *reterr) {
        Group *g = group_get(s->keeper, s->sandbox);
        uint32_t *address = &s->sandbox->spec.address;

        if (!g)
                return error_set(reterr, -ENOMEM, "out of memory");
        if (*address == 0)
                *address = lowest_free(g);
        if (*address == 0)
                return error_set(reterr, -EDQUOT, "the group \"%s\" is full", s->sandbox->spec.group ? s->sandbox->spec.group : "");
        group_join(g, s);
        return 0;
}

/* The hub. */

static void group_stop_waiting(Seat *s) {
        if (!s->waits_for_hub)
                return;
        DL_DELETE2(s->group->waiting, s, wait_prev, wait_next);
        s->waits_for_hub = false;
        s->timer = sd_event_source_disable_unref(s->timer);
}

/* Returns a member that has the hub; a paused one, which does not answer, only if there is no other. */
static Seat *holder_of_hub(const Group *g) {
        Seat *s, *paused = NULL;

        DL_FOREACH2(g->members, s, group_next) {
                if (s->state == SEAT_IDLE)
                        continue;
                if (s->sandbox->status != SANDBOX_PAUSED)
                        return s;
                paused = s;
        }
        return paused;
}

static void ask_for_hub(Seat *holder) {
        (void) network_ask_sockets(holder->sandbox);
}

/* coved lacks the hub only if it was started after the members were paused. */
static int refuse_paused(const Seat *s, const Seat *holder, Error *reterr) {
        return error_set(reterr, -EAGAIN, "all members of the group \"%s\" are paused, and none of them can let it in: resume one, as with `cove resume %s`",
                        s->sandbox->spec.group ? s->sandbox->spec.group : "", holder->id);
}

int group_prepare(Seat *s, Error *reterr) {
        Group *g = s->group;
        Seat *holder;

        s->sandbox->spec.hub_fd = g->hub_fd;
        if (g->hub_fd >= 0)
                return 0;
        holder = holder_of_hub(g);
        if (!g->maker && !holder) {
                g->maker = s;
                return 0;
        }
        if (!g->maker && holder->sandbox->status == SANDBOX_PAUSED)
                return refuse_paused(s, holder, reterr);
        if (!g->maker)
                ask_for_hub(holder);
        seat_arm(s, GATE_PATIENCE);
        DL_APPEND2(g->waiting, s, wait_prev, wait_next);
        s->waits_for_hub = true;
        return 1;
}

/* Resumes the members that wait for the hub. If its maker has failed, the first of them makes it. */
static void group_go_on(Group *g) {
        while (g->waiting && (g->hub_fd >= 0 || !g->maker)) {
                Seat *s = g->waiting;

                group_stop_waiting(s);
                if (g->hub_fd < 0)
                        g->maker = s;
                s->sandbox->spec.hub_fd = g->hub_fd;
                network_prepared(s->sandbox, NULL);
        }
}

static int group_on_timer(sd_event_source *source, uint64_t usec, void *userdata);

static void look_soon(Gatekeeper *k, usec_t usec) {
        int enabled = SD_EVENT_OFF;

        if (!k->group_timer) {
                (void) sd_event_add_time_relative(k->manager->event, &k->group_timer, CLOCK_MONOTONIC, usec, 1, group_on_timer, k);
                return;
        }
        if (usec > 0 && sd_event_source_get_enabled(k->group_timer, &enabled) >= 0 && enabled != SD_EVENT_OFF)
                return;
        (void) sd_event_source_set_time_relative(k->group_timer, usec);
        (void) sd_event_source_set_enabled(k->group_timer, SD_EVENT_ONESHOT);
}

void group_take_hub(Seat *s, int fd) {
        Group *g = s->group;

        if (!g || g->hub_fd >= 0) {
                (void) fd_close(fd);
                return;
        }
        g->hub_fd = fd;
        g->maker = NULL;
        if (g->waiting)
                look_soon(s->keeper, 0);
}

/* Coming and going. */

json_t *group_names(const Group *g) {
        json_t *names = json_object();
        const Seat *s;
        unsigned n = 0;

        DL_FOREACH2(g->members, s, group_next) {
                const SandboxSpec *spec = &s->sandbox->spec;
                char address[16];

                if (s->state == SEAT_IDLE || n >= NAMES_MAX)
                        continue;
                n++;
                (void) snprintf(address, sizeof(address), "%u.%u.%u.%u", spec->address >> 24, spec->address >> 16 & 255,
                                spec->address >> 8 & 255, spec->address & 255);
                (void) json_object_set_new(names, s->id, json_string(address));
                if (spec->name)
                        (void) json_object_set_new(names, spec->name, json_string(address));
        }
        return names;
}

static void names_changed(Group *g) {
        Seat *s;

        DL_FOREACH2(g->members, s, group_next)
                s->names_stale = true;
        look_soon(g->keeper, NAMES_DELAY);
}

void group_came(Seat *s) {
        if (s->group)
                names_changed(s->group);
}

/* Afterwards the seat neither waits for a hub nor makes one. */
static Group *group_withdraw(Seat *s) {
        Group *g = s->group;

        if (g)
                group_stop_waiting(s);
        if (g && g->maker == s)
                g->maker = NULL;
        return g;
}

void group_leave(Seat *s) {
        Group *g = group_withdraw(s);

        if (g)
                names_changed(g); /* also looks at the members that wait for a hub */
}

void group_release(Seat *s) {
        Group *g = group_withdraw(s);

        if (!g)
                return;
        mark(g, s->sandbox->spec.address, false);
        DL_DELETE2(g->members, s, group_prev, group_next);
        s->group = NULL;
        if (--g->n_members == 0)
                group_free(g);
}

/* Sends one group's names to members that have old ones. True: there are more. */
static bool tell_some(Group *g, unsigned *budget) {
        _cleanup_json_ json_t *names = NULL;
        Seat *s;

        DL_FOREACH2(g->members, s, group_next) {
                if (!s->names_stale || !s->at_gate)
                        continue;
                if (*budget == 0)
                        return true;
                if (!names)
                        names = group_names(g);
                s->names_stale = false;
                (*budget)--;
                (void) link_send(g->keeper, json_pack("{s:s, s:s, s:O}", "do", "names", "id", s->id, "names", names), NULL, 0);
        }
        return false;
}

/* A member has left, perhaps the one that was asked for the hub: asks another. */
static void look_at_waiting(Group *g) {
        Seat *holder = g->waiting && g->hub_fd < 0 && !g->maker ? holder_of_hub(g) : NULL;

        if (holder)
                ask_for_hub(holder);
        else
                group_go_on(g);
}

static int group_on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        Gatekeeper *k = userdata;
        unsigned budget = TOLD_AT_ONCE;
        bool more = false;
        Group *g, *next;

        HASH_ITER(hh, k->groups, g, next) {
                more |= tell_some(g, &budget);
                look_at_waiting(g);
        }
        if (more)
                look_soon(k, USEC_PER_MSEC);
        return 0;
}
