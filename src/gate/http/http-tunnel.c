/* http-tunnel.c: plain bytes after a 101 response, until one side ends. */

#include <errno.h>
#include <string.h>

#include "gate/http/http-internal.h"

int http_start_tunnel(HttpExchange *x) {
        if (x->tls && credentials_want(x->credentials, x->host) &&
            credential_filter_new_mask(x->credentials, x->host, /* same_length= */ true, &x->tunnel_mask) < 0) {
                http_cut(x);
                return 1;
        }
        http_go(x, HTTP_STEP_TUNNEL);
        return 1;
}

static void carry_down(HttpExchange *x, const uint8_t *data, size_t size, bool last) {
        Text masked = TEXT_INIT(HTTP_SENT_MAX);

        if (!x->tunnel_mask) {
                stream_put(x->guest, data, size);
                return;
        }
        x->masked += size + HTTP_MASK_PIECE;
        /* The mask keeps the length, so the frames around a value stay valid. */
        if (credential_filter_feed(x->tunnel_mask, data, size, last, &masked) < 0)
                http_cut(x);
        else
                stream_put(x->guest, masked.data, masked.size);
        text_wipe(&masked);
}

static int carry(HttpExchange *x, Stream *from, Stream *to) {
        size_t n = stream_size(from);

        if (!stream_has_room(to))
                return 0;
        if (n > 0) {
                if (to == x->guest && x->tunnel_mask)
                        n = MIN_OF(n, (size_t) HTTP_MASK_MAX);
                if (to == x->guest)
                        carry_down(x, stream_data(from), n, /* last= */ false);
                else if (http_count_up(x, n))
                        stream_put(to, stream_data(from), n);
                stream_use(from, n);
                return 1;
        }
        if (!from->ended || to->ending)
                return 0;
        if (to == x->guest)
                carry_down(x, (const uint8_t *) "", 0, /* last= */ true);
        stream_end(to);
        return 1;
}

int http_step_tunnel(HttpExchange *x) {
        int moved;

        if (x->upstream->error < 0) {
                http_cut(x);
                return 1;
        }
        moved = carry(x, x->guest, x->upstream);
        if (x->step == HTTP_STEP_TUNNEL)
                moved |= carry(x, x->upstream, x->guest);
        if (x->step == HTTP_STEP_TUNNEL && x->guest->ending && x->upstream->ending && stream_is_sent(x->guest) && stream_is_sent(x->upstream)) {
                http_over(x);
                return 1;
        }
        return moved;
}
