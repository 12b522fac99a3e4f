#include "api/stranger.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "config/config.h"
#include "core/stranger.h"
#include "observe/audit.h"

#define STATUSES_MAX 16 /* different answers that are told apart */
#define TEXT_MAX     512

typedef struct StrangerCount {
        char peer[INET6_ADDRSTRLEN]; /* "": any, when there are too many */
        unsigned status;
        unsigned written;
        uint64_t counted;
} StrangerCount;

struct Strangers {
        Manager *manager;
        struct Audit *audit;
        sd_event_source *timer; /* the end of the window */
        bool is_open;           /* a window is */
        StrangerCount counts[STRANGER_PEERS];
        size_t n_counts;
        unsigned n_written;
        uint64_t n_counted;
};

/* "[2001:db8::1]:4711" is the peer "2001:db8::", "10.0.0.1:4711" is "10.0.0.1". */
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

/* When there is no place any more, the last one counts for everybody else. */
static StrangerCount *strangers_count_of(Strangers *s, const char *remote, unsigned status) {
        char peer[INET6_ADDRSTRLEN];
        StrangerCount *c;

        peer_of(remote, peer);
        for (size_t i = 0; i < s->n_counts; i++)
                if (s->counts[i].status == status && strcmp(s->counts[i].peer, peer) == 0)
                        return s->counts + i;
        if (s->n_counts == STRANGER_PEERS)
                return s->counts + STRANGER_PEERS - 1;
        c = s->counts + s->n_counts++;
        *c = (StrangerCount) { .status = status };
        if (s->n_counts < STRANGER_PEERS)
                memcpy(c->peer, peer, sizeof(peer));
        return c;
}

/* "401: 812, 404: 3". */
static void put_statuses(Text *t, const Strangers *s) {
        struct {
                unsigned status;
                uint64_t count;
        } sums[STATUSES_MAX] = { 0 };
        size_t n = 0;

        for (size_t i = 0; i < s->n_counts; i++) {
                size_t k = 0;

                while (k < n && sums[k].status != s->counts[i].status)
                        k++;
                if (s->counts[i].counted == 0 || (k == n && n == STATUSES_MAX))
                        continue;
                n += k == n;
                sums[k].status = s->counts[i].status;
                sums[k].count += s->counts[i].counted;
        }
        for (size_t k = 0; k < n; k++)
                text_format(t, "%s%u: %" PRIu64, k > 0 ? ", " : "", sums[k].status, sums[k].count);
}

static int compare_counts(const void *a, const void *b) {
        const StrangerCount *x = a, *y = b;

        return x->counted < y->counted ? 1 : x->counted > y->counted ? -1 : 0;
}

/* Those who called most, first. */
static size_t put_peers(Text *t, Strangers *s) {
        size_t n = 0;

        qsort(s->counts, s->n_counts, sizeof(*s->counts), compare_counts);
        for (size_t i = 0; i < s->n_counts && s->counts[i].counted > 0; i++, n++)
                if (n < STRANGER_PEERS_TOLD)
                        text_format(t, "%s%s: %" PRIu64, n > 0 ? ", " : "; from ", s->counts[i].peer[0] ? s->counts[i].peer : "others", s->counts[i].counted);
        if (n > STRANGER_PEERS_TOLD)
                text_format(t, ", …");
        return n;
}

static void strangers_tell(Strangers *s) {
        Text t = TEXT_INIT(TEXT_MAX);
        char text[TEXT_MAX + 1];
        size_t peers;

        if (s->n_counted > 0) {
                put_statuses(&t, s);
                peers = put_peers(&t, s);
                (void) snprintf(text, sizeof(text), "%.*s", (int) t.size, t.size > 0 ? t.data : "");
                if (s->audit)
                        audit_strangers(s->audit, s->n_counted, peers, text);
                log_info("security: %" PRIu64 " more calls without a key: %s", s->n_counted, text);
        }
        text_done(&t);
        s->is_open = false;
        s->n_counts = 0;
        s->n_written = 0;
        s->n_counted = 0;
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
        StrangerCount *c;

        if (!s)
                return true;
        strangers_open(s);
        c = strangers_count_of(s, remote, status);
        if (c->written < STRANGER_RECORDS_EACH && s->n_written < STRANGER_RECORDS) {
                c->written++;
                s->n_written++;
                return true;
        }
        c->counted++;
        s->n_counted++;
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
