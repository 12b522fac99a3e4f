#include "api/stranger.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "config/config.h"
#include "core/stranger.h"
#include "observe/audit.h"

#define STATUSES_MAX 16 /* different statuses counted separately; the last place counts all others */
#define STATUS_ANY   UINT_MAX
#define TEXT_MAX     512

typedef struct StrangerCount {
        char peer[INET6_ADDRSTRLEN]; /* "": all other peers */
        unsigned status;             /* unused for "": that counts all statuses */
        unsigned written;
        uint64_t counted;
} StrangerCount;

typedef struct StatusCount {
        unsigned status; /* STATUS_ANY: all others */
        uint64_t counted;
} StatusCount;

/* Calls of one kind: refused, or accepted. Each kind has its own places and records. So many visits of a
 * public port cannot hide an attempt, and many attempts cannot hide a visit. */
typedef struct StrangerKind {
        StrangerCount counts[STRANGER_PEERS];
        size_t n_counts;
        StatusCount statuses[STATUSES_MAX];
        size_t n_statuses;
        unsigned n_written;
        uint64_t n_counted;
} StrangerKind;

struct Strangers {
        Manager *manager;
        struct Audit *audit;
        sd_event_source *timer; /* the end of the window */
        bool is_open;           /* a window is */
        StrangerKind refused, let_in;
};

/* "[2001:db8::1]:4711" becomes "2001:db8::", and "10.0.0.1:4711" becomes "10.0.0.1". */
static void peer_of(const char *remote, char ret[INET6_ADDRSTRLEN]) {
        bool is_6 = remote[0] == '[';
        size_t n = is_6 ? strcspn(remote + 1, "]") : strcspn(remote, ":");
        struct in6_addr address;

        n = n < INET6_ADDRSTRLEN ? n : INET6_ADDRSTRLEN - 1;
        memcpy(ret, remote + is_6, n);
        ret[n] = '\0';
        if (!is_6 || inet_pton(AF_INET6, ret, &address) != 1)
                return;
        memset(address.s6_addr + 8, 0, 8);
        (void) inet_ntop(AF_INET6, &address, ret, INET6_ADDRSTRLEN);
}

/* If there is no free place, the last one counts for all other peers. */
static StrangerCount *strangers_count_of(StrangerKind *k, const char *remote, unsigned status) {
        char peer[INET6_ADDRSTRLEN];
        StrangerCount *c;

        peer_of(remote, peer);
        for (size_t i = 0; i < k->n_counts; i++)
                if (k->counts[i].status == status && strcmp(k->counts[i].peer, peer) == 0)
                        return k->counts + i;
        if (k->n_counts == STRANGER_PEERS)
                return k->counts + STRANGER_PEERS - 1;
        c = k->counts + k->n_counts++;
        *c = (StrangerCount) { .status = status };
        if (k->n_counts < STRANGER_PEERS)
                memcpy(c->peer, peer, sizeof(peer));
        return c;
}

static void strangers_count_status(StrangerKind *k, unsigned status) {
        size_t i = 0;

        while (i < k->n_statuses && i < STATUSES_MAX - 1 && k->statuses[i].status != status)
                i++;
        if (i == k->n_statuses)
                k->statuses[k->n_statuses++] = (StatusCount) { .status = i < STATUSES_MAX - 1 ? status : STATUS_ANY };
        k->statuses[i].counted++;
}

/* Prints, for example, "401: 812, 404: 3". */
static void put_statuses(Text *t, const StrangerKind *k) {
        for (size_t i = 0; i < k->n_statuses; i++) {
                text_format(t, "%s", i > 0 ? ", " : "");
                if (k->statuses[i].status != STATUS_ANY)
                        text_format(t, "%u: %" PRIu64, k->statuses[i].status, k->statuses[i].counted);
                else
                        text_format(t, "others: %" PRIu64, k->statuses[i].counted);
        }
}

static int compare_counts(const void *a, const void *b) {
        const StrangerCount *x = a, *y = b;

        return x->counted < y->counted ? 1 : x->counted > y->counted ? -1 : 0;
}

/* Prints the peers with most calls first. */
static size_t put_peers(Text *t, StrangerKind *k) {
        size_t n = 0;

        qsort(k->counts, k->n_counts, sizeof(*k->counts), compare_counts);
        for (size_t i = 0; i < k->n_counts && k->counts[i].counted > 0; i++, n++)
                if (n < STRANGER_PEERS_TOLD)
                        text_format(t, "%s%s: %" PRIu64, n > 0 ? ", " : "; from ", k->counts[i].peer[0] ? k->counts[i].peer : "others", k->counts[i].counted);
        if (n > STRANGER_PEERS_TOLD)
                text_format(t, ", …");
        return n;
}

static void strangers_tell_kind(Strangers *s, StrangerKind *k) {
        Text t = TEXT_INIT(TEXT_MAX);
        char text[TEXT_MAX + 1];
        size_t peers;

        if (k->n_counted > 0) {
                put_statuses(&t, k);
                peers = put_peers(&t, k);
                (void) snprintf(text, sizeof(text), "%.*s", (int) t.size, t.size > 0 ? t.data : "");
                if (s->audit)
                        audit_strangers(s->audit, k->n_counted, peers, text);
                log_info("security: %" PRIu64 " more requests without a valid key: %s", k->n_counted, text);
        }
        text_done(&t);
        k->n_counts = 0;
        k->n_statuses = 0;
        k->n_written = 0;
        k->n_counted = 0;
}

static void strangers_tell(Strangers *s) {
        strangers_tell_kind(s, &s->refused);
        strangers_tell_kind(s, &s->let_in);
        s->is_open = false;
}

static int strangers_on_end(sd_event_source *source, uint64_t usec, void *userdata) {
        strangers_tell(userdata);
        return 0;
}

static void strangers_open(Strangers *s) {
        usec_t window = s->manager->settings->audit.stranger_window_usec;

        if (s->is_open)
                return;
        if (sd_event_source_set_time_relative(s->timer, window) >= 0 && sd_event_source_set_enabled(s->timer, SD_EVENT_ONESHOT) >= 0)
                s->is_open = true;
}

bool strangers_admit(Strangers *s, const char *remote, unsigned status) {
        StrangerKind *k;
        StrangerCount *c;

        if (!s)
                return true;
        strangers_open(s);
        k = status >= 400 ? &s->refused : &s->let_in;
        c = strangers_count_of(k, remote, status);
        if (c->written < STRANGER_RECORDS_EACH && k->n_written < STRANGER_RECORDS) {
                c->written++;
                k->n_written++;
                return true;
        }
        c->counted++;
        k->n_counted++;
        strangers_count_status(k, status);
        return false;
}

int strangers_new(sd_event *event, Manager *m, struct Audit *audit, Strangers **ret) {
        Strangers *s = calloc(1, sizeof(*s));
        int r;

        if (!s)
                return -ENOMEM;
        s->manager = m;
        s->audit = audit;
        r = sd_event_add_time(event, &s->timer, CLOCK_MONOTONIC, 0, 0, strangers_on_end, s);
        if (r >= 0)
                r = sd_event_source_set_enabled(s->timer, SD_EVENT_OFF);
        if (r < 0) {
                strangers_free(s);
                return r;
        }
        *ret = s;
        return 0;
}

Strangers *strangers_free(Strangers *s) {
        if (!s)
                return NULL;
        strangers_tell(s);
        sd_event_source_disable_unref(s->timer);
        free(s);
        return NULL;
}
