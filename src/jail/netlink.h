/* netlink.h: requests to the kernel's network configuration, put together by hand.
 *
 * A batch of requests is built in a fixed buffer, sent at once, and every one of them must be acknowledged. A batch that has
 * failed stays failed, and is looked at once, when it is sent. Allocates nothing.
 * Must not know: what the requests are for. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NETLINK_BATCH_MAX 1024

typedef struct NetlinkBatch {
        _Alignas(8) uint8_t bytes[NETLINK_BATCH_MAX];
        size_t size;
        size_t message; /* where the present one begins */
        unsigned n;
        bool failed;
} NetlinkBatch;

/* A request: head is the structure of its type. Flags on top of NLM_F_REQUEST and NLM_F_ACK. */
void netlink_begin(NetlinkBatch *b, uint16_t type, uint16_t flags, const void *head, size_t size);
void netlink_put(NetlinkBatch *b, uint16_t attribute, const void *data, size_t size);
void netlink_put_string(NetlinkBatch *b, uint16_t attribute, const char *text);

/* An attribute of attributes; what is put between the two is inside. */
size_t netlink_open(NetlinkBatch *b, uint16_t attribute);
void netlink_close(NetlinkBatch *b, size_t opened);

/* NETLINK_ROUTE, in the namespace that we are in. */
int netlink_commit(const NetlinkBatch *b);

/* Ready-made bytes of as many requests. The answer to each is awaited; the first error is returned. */
int netlink_exchange(int protocol, const void *data, size_t size, unsigned n_acks);
