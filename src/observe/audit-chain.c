/* audit-chain.c: one record, and the head. */

#include "base/text.h"
#include "observe/audit-chain.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"

#define SEQ_BEGIN  "{\"seq\":"
#define PREV_BEGIN ",\"prev\":\""
#define HASH_BEGIN ",\"hash\":\""
#define HASH_END   "\"}"
#define TAIL_SIZE  (sizeof(HASH_BEGIN) - 1 + AUDIT_HASH_DIGITS + sizeof(HASH_END) - 1)

const AuditHead audit_head_empty = { .hash = AUDIT_ZEROS, .base_hash = AUDIT_ZEROS };

void audit_digest(AuditHash hash, const void *data, size_t size, char ret[AUDIT_HASH_DIGITS + 1]) {
        uint8_t bytes[AUDIT_HASH_SIZE];

        hash(data, size, bytes);
        hex_encode(bytes, sizeof(bytes), ret);
}

static bool audit_chain_take(const char **p, const char *end, const char *text) {
        size_t n = strlen(text);

        if ((size_t) (end - *p) < n || memcmp(*p, text, n) != 0)
                return false;
        *p += n;
        return true;
}

/* There is only one spelling: no sign, no leading zero. */
static bool audit_chain_take_number(const char **p, const char *end, uint64_t *ret) {
        const char *first = *p;
        uint64_t value = 0;

        for (; *p < end && **p >= '0' && **p <= '9'; (*p)++)
                if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, (uint64_t) (**p - '0'), &value))
                        return false;
        *ret = value;
        return *p > first && (*first != '0' || *p == first + 1);
}

static bool audit_chain_take_digest(const char **p, const char *end, char ret[AUDIT_HASH_DIGITS + 1]) {
        if (end - *p < AUDIT_HASH_DIGITS)
                return false;
        for (size_t i = 0; i < AUDIT_HASH_DIGITS; i++)
                if (!strchr("0123456789abcdef", (*p)[i]) || (*p)[i] == '\0')
                        return false;
        memcpy(ret, *p, AUDIT_HASH_DIGITS);
        ret[AUDIT_HASH_DIGITS] = '\0';
        *p += AUDIT_HASH_DIGITS;
        return true;
}

int audit_record_read(const char *line, size_t size, AuditRecord *ret) {
        const char *p = line, *end = line + size;
        AuditRecord r = { 0 };

        if (!audit_chain_take(&p, end, SEQ_BEGIN) || !audit_chain_take_number(&p, end, &r.seq) || !audit_chain_take(&p, end, PREV_BEGIN) ||
                        !audit_chain_take_digest(&p, end, r.prev) || !audit_chain_take(&p, end, "\"") || (size_t) (end - p) < TAIL_SIZE)
                return -EBADMSG;
        r.hashed = size - TAIL_SIZE;
        p = line + r.hashed;
        if (!audit_chain_take(&p, end, HASH_BEGIN) || !audit_chain_take_digest(&p, end, r.hash) || !audit_chain_take(&p, end, HASH_END))
                return -EBADMSG;
        *ret = r;
        return 0;
}

static const char *find_member(const char *line, size_t size, const char *name, const char *after) {
        char wanted[64];
        int n = snprintf(wanted, sizeof(wanted), ",\"%s\":%s", name, after);
        const char *p;

        if (n < 0 || (size_t) n >= sizeof(wanted))
                return NULL;
        p = memmem(line, size, wanted, (size_t) n);
        return p ? p + n : NULL;
}

const char *audit_record_text(const char *line, size_t size, const char *name, size_t *ret_size) {
        const char *text = find_member(line, size, name, "\""), *end = line + size;

        if (!text)
                return NULL;
        for (const char *p = text; p < end; p++) {
                if (*p == '"') {
                        *ret_size = (size_t) (p - text);
                        return text;
                }
                if (*p == '\\')
                        p++;
        }
        return NULL;
}

uint64_t audit_record_number(const char *line, size_t size, const char *name) {
        const char *p = find_member(line, size, name, "");
        uint64_t value;

        return p && audit_chain_take_number(&p, line + size, &value) ? value : 0;
}

void audit_head_print(const AuditHead *h, char ret[AUDIT_HEAD_SIZE + 1]) {
        int n = snprintf(ret, AUDIT_HEAD_SIZE, "{\"seq\":%" PRIu64 ",\"hash\":\"%s\",\"base\":%" PRIu64 ",\"baseHash\":\"%s\"}", h->seq,
                        h->hash, h->base, h->base_hash);

        memset(ret + n, ' ', AUDIT_HEAD_SIZE - (size_t) n);
        ret[AUDIT_HEAD_SIZE - 1] = '\n';
        ret[AUDIT_HEAD_SIZE] = '\0';
}

/* Accepts only the exact bytes that are printed. */
int audit_head_read(int dirfd, AuditHead *ret) {
        char text[AUDIT_HEAD_SIZE + 2], again[AUDIT_HEAD_SIZE + 1];
        ssize_t n = file_read(dirfd, AUDIT_HEAD_FILE, text, sizeof(text));
        const char *p = text, *end = text + n;
        AuditHead h;

        if (n < 0)
                return n == -EFBIG ? -EBADMSG : (int) n;
        if (!audit_chain_take(&p, end, SEQ_BEGIN) || !audit_chain_take_number(&p, end, &h.seq) || !audit_chain_take(&p, end, HASH_BEGIN) ||
                        !audit_chain_take_digest(&p, end, h.hash) || !audit_chain_take(&p, end, "\",\"base\":") || !audit_chain_take_number(&p, end, &h.base) ||
                        !audit_chain_take(&p, end, ",\"baseHash\":\"") || !audit_chain_take_digest(&p, end, h.base_hash))
                return -EBADMSG;
        audit_head_print(&h, again);
        if ((size_t) n != AUDIT_HEAD_SIZE || memcmp(again, text, (size_t) n) != 0)
                return -EBADMSG;
        *ret = h;
        return 0;
}
