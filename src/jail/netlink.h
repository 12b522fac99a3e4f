/* netlink.h: builds requests to the kernel's network configuration.
 *
 * A batch of requests is built in a fixed buffer and sent at once; the kernel must acknowledge each of them. A failed
 * batch stays failed; the caller checks once, when it sends. Allocates nothing.
 * Must not know: what the requests are for. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NETLINK_BATCH_MAX 1024

typedef struct NetlinkBatch {
        _Alignas(8) uint8_t bytes[NETLINK_BATCH_MAX];
        size_t size;
        size_t message; /* offset of the current request */
        unsigned n;
        bool failed;
} NetlinkBatch;

/* Begins a request: head is the structure of its type. Adds flags to NLM_F_REQUEST and NLM_F_ACK. */
void netlink_begin(NetlinkBatch *b, uint16_t type, uint16_t flags, const void *head, size_t size);
void netlink_put(NetlinkBatch *b, uint16_t attribute, const void *data, size_t size);
void netlink_put_string(NetlinkBatch *b, uint16_t attribute, const char *text);

/* A nested attribute: contains the attributes put between the two calls. */
size_t netlink_open(NetlinkBatch *b, uint16_t attribute);
void netlink_close(NetlinkBatch *b, size_t opened);

/* Sends to NETLINK_ROUTE in our current namespace. */
int netlink_commit(const NetlinkBatch *b);

/* Sends n_acks ready-made requests and waits for the answer to each; returns the first error. */
int netlink_exchange(int protocol, const void *data, size_t size, unsigned n_acks);
