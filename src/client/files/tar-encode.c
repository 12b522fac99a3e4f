#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client/files/tar.h"

/* Where the fields of an ustar head are. */
enum {
        NAME = 0, NAME_SIZE = 100,
        MODE = 100, UID = 108, GID = 116, NUMBER_SIZE = 8,
        SIZE = 124, MTIME = 136, LONG_SIZE = 12,
        CHECKSUM = 148, TYPE = 156,
        LINK = 157, LINK_SIZE = 100,
        MAGIC = 257,
};

#define OCTAL_MAX UINT64_C(077777777777) /* what a long number holds */

static const char type_letters[] = {
        [TAR_FILE] = '0',
        [TAR_HARD_LINK] = '1',
        [TAR_SYMLINK] = '2',
        [TAR_DIRECTORY] = '5',
};

static void put_octal(uint8_t *field, size_t size, uint64_t value) {
        char text[24];

        (void) snprintf(text, sizeof(text), "%0*llo", (int) size - 1, (unsigned long long) value);
        memcpy(field, text, size);
}

static void tar_encode_put_text(uint8_t *field, size_t size, const char *text) {
        memcpy(field, text, strnlen(text, size));
}

static void put_checksum(uint8_t *head) {
        unsigned sum = 0;
        char text[24];

        memset(head + CHECKSUM, ' ', 8);
        for (size_t i = 0; i < TAR_BLOCK; i++)
                sum += head[i];
        (void) snprintf(text, sizeof(text), "%06o", sum);
        memcpy(head + CHECKSUM, text, 7); /* six digits, NUL; then the blank stays */
}

static void tar_encode_put_head(uint8_t *head, char type, const char *name, const char *target, unsigned mode, uint64_t size,
                int64_t mtime) {
        memset(head, 0, TAR_BLOCK);
        tar_encode_put_text(head + NAME, NAME_SIZE, name);
        put_octal(head + MODE, NUMBER_SIZE, mode & 07777);
        put_octal(head + UID, NUMBER_SIZE, 0); /* ours mean nothing on the other side */
        put_octal(head + GID, NUMBER_SIZE, 0);
        put_octal(head + SIZE, LONG_SIZE, size <= OCTAL_MAX ? size : 0);
        put_octal(head + MTIME, LONG_SIZE, mtime >= 0 && (uint64_t) mtime <= OCTAL_MAX ? (uint64_t) mtime : 0);
        head[TYPE] = (uint8_t) type;
        tar_encode_put_text(head + LINK, LINK_SIZE, target);
        memcpy(head + MAGIC, "ustar\00000", 8);
        put_checksum(head);
}

/* "27 path=some/long/name\n": the number counts the whole record, itself included. */
static size_t tar_encode_put_record(uint8_t *to, const char *key, const char *value) {
        size_t bare = strlen(key) + strlen(value) + 3, total = bare + 1; /* blank, "=", newline, and a digit at least */
        char number[24];

        for (;;) {
                size_t n = (size_t) snprintf(number, sizeof(number), "%zu", total);

                if (bare + n == total)
                        break;
                total = bare + n;
        }
        return (size_t) sprintf((char *) to, "%s %s=%s\n", number, key, value);
}

ssize_t tar_encode(const TarEntry *entry, uint8_t ret[static TAR_HEAD_MAX]) {
        uint8_t *records = ret + TAR_BLOCK;
        size_t n = 0, before = 0;
        char number[24];

        if (strlen(entry->path) >= TAR_PATH_MAX || strlen(entry->target) >= TAR_PATH_MAX)
                return -ENAMETOOLONG;
        if (strlen(entry->path) > NAME_SIZE)
                n += tar_encode_put_record(records + n, "path", entry->path);
        if (strlen(entry->target) > LINK_SIZE)
                n += tar_encode_put_record(records + n, "linkpath", entry->target);
        if (entry->size > OCTAL_MAX) {
                (void) snprintf(number, sizeof(number), "%llu", (unsigned long long) entry->size);
                n += tar_encode_put_record(records + n, "size", number);
        }
        if (n > 0) {
                tar_encode_put_head(ret, 'x', "pax", "", 0644, n, entry->mtime);
                memset(records + n, 0, tar_padding(n));
                before = TAR_BLOCK + n + tar_padding(n);
        }
        tar_encode_put_head(ret + before, type_letters[entry->type], entry->path, entry->target, entry->mode, entry->size,
                        entry->mtime);
        return (ssize_t) (before + TAR_BLOCK);
}
