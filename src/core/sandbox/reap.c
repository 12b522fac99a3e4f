#include "core/reap.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/internal.h"
#include "core/quarantine.h"

static usec_t elapsed(int64_t born) {
        int64_t age = (int64_t) clock_usec() - born;

        return age > 0 ? (usec_t) age : 0;
}

usec_t sandbox_age(const Sandbox *sb) {
        return elapsed(sb->born);
}

usec_t execution_age(const Execution *x) {
        return elapsed(x->born);
}

usec_t sandbox_since(const Sandbox *sb, usec_t wall) {
        usec_t now = clock_wall_usec(), age = sandbox_age(sb);

        if (wall == 0 || now <= wall)
                return 0;
        return MIN_OF(now - wall, age);
}

void sandbox_terminate(Sandbox *sb, const char *reason) {
        if (sb->status == SANDBOX_INITIALIZING)
                sb->create_error = -ETIMEDOUT;
        sandbox_end(sb, SANDBOX_TERMINATED, /* delete= */ false, reason);
}

void sandbox_terminate_again(Sandbox *sb) {
        if (sb->status == SANDBOX_TERMINATING)
                sandbox_ask_to_destroy(sb);
}

void sandbox_note(Sandbox *sb, const char *type, const char *text) {
        sandbox_event(sb, type, NULL, "%s", text);
}

int manager_destroy_stray(Manager *m, const char *id) {
        const Sandbox *sb = manager_by_id(m, id);

        if (m->doubts_store || (sb && !sandbox_status_is_ended(sb->status)) || quarantine_find(m, QUARANTINE_SANDBOX, id))
                return -EBUSY;
        return m->provider->ops->destroy(m->provider, id, NULL);
}

int sandbox_verify(Sandbox *sb) {
        Provider *p = sb->manager->provider;

        if (!provider_has(p, PROVIDER_HEALTH) || (!sandbox_is_up(sb) && sb->status != SANDBOX_STOPPED) || sb->activity == ACTIVITY_FREEZING || sandbox_is_held(sb) ||
                        sandbox_is_unloading(sb))
                return -EOPNOTSUPP;
        return p->health->verify(p, sb);
}

/* What is in the kernel */

typedef struct KernelListing {
        KernelListed listed; /* NULL: the caller has cancelled */
        void *userdata;
} KernelListing;

int manager_list_kernel(Manager *m, KernelListed listed, void *userdata) {
        int r;

        if (m->recovering || m->listing)
                return -EBUSY;
        m->listing = malloc(sizeof(*m->listing));
        if (!m->listing)
                return -ENOMEM;
        *m->listing = (KernelListing) { listed, userdata };
        r = m->provider->ops->list(m->provider);
        if (r < 0) {
                free(m->listing);
                m->listing = NULL;
        }
        return r;
}

void manager_list_forget(Manager *m, void *userdata) {
        if (m->listing && m->listing->userdata == userdata)
                m->listing->listed = NULL;
}

void listing_free(Manager *m) {
        free(m->listing);
        m->listing = NULL;
}

void listing_on_listed(Manager *m, const char *id) {
        KernelListing l;

        if (!m->listing)
                return;
        l = *m->listing;
        if (!id)
                listing_free(m); /* before the callback, which may start another listing */
        if (l.listed)
                l.listed(id, l.userdata);
}
