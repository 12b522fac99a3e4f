#include "client/files/tar.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/parse.h"

#define RECORDS_MAX (1 << 20) /* of one pax head */

/* Where the fields of an ustar head are. */
enum {
        NAME = 0, NAME_SIZE = 100,
        MODE = 100, UID = 108, GID = 116, NUMBER_SIZE = 8,
        SIZE = 124, MTIME = 136, LONG_SIZE = 12,
        CHECKSUM = 148, CHECKSUM_SIZE = 8, TYPE = 156,
        LINK = 157, LINK_SIZE = 100,
        MAGIC = 257, PREFIX = 345, PREFIX_SIZE = 155,
};

/* Writing. */

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

static void tar_encode_put_head(uint8_t *head, char type, const char *name, const char *target,
                unsigned mode, uint64_t size, int64_t mtime) {
        memset(head, 0, TAR_BLOCK);
        tar_encode_put_text(head + NAME, NAME_SIZE, name);
        put_octal(head + MODE, NUMBER_SIZE, mode & 07777);
        put_octal(head + UID, NUMBER_SIZE, 0); /* our ids mean nothing on the other side */
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

/* Reading. */

void tar_reader_done(ClientTarReader *r) {
        free(r->text);
        *r = (ClientTarReader) { 0 };
}

/* Octal digits with blanks around them, or, if the first bit is set, a binary number (GNU). */
static int tar_decode_read_number(const uint8_t *field, size_t size, uint64_t *ret) {
        uint64_t n = 0;
        size_t i = 0;

        if (field[0] & 0x80) {
                if (field[0] != 0x80)
                        return -EBADMSG; /* negative, or too large */
                for (i = 1; i < size; i++) {
                        if (n >> 55)
                                return -EBADMSG;
                        n = n << 8 | field[i];
                }
                *ret = n;
                return 0;
        }
        while (i < size && field[i] == ' ')
                i++;
        for (; i < size && field[i] >= '0' && field[i] <= '7'; i++)
                n = n << 3 | (uint64_t) (field[i] - '0');
        if (i < size && field[i] != ' ' && field[i] != '\0')
                return -EBADMSG;
        *ret = n;
        return 0;
}

static bool tar_decode_is_zero(const uint8_t *block) {
        for (size_t i = 0; i < TAR_BLOCK; i++)
                if (block[i] != 0)
                        return false;
        return true;
}

static bool checksum_fits(const uint8_t *block) {
        uint64_t said, sum = 0;

        if (tar_decode_read_number(block + CHECKSUM, CHECKSUM_SIZE, &said) < 0)
                return false;
        for (size_t i = 0; i < TAR_BLOCK; i++)
                sum += i >= CHECKSUM && i < CHECKSUM + CHECKSUM_SIZE ? ' ' : block[i];
        return sum == said;
}

static int tar_decode_set_path(char to[static TAR_PATH_MAX], const char *text, size_t size) {
        if (size >= TAR_PATH_MAX)
                return -ENAMETOOLONG;
        if (memchr(text, '\0', size))
                return -EBADMSG;
        memcpy(to, text, size);
        to[size] = '\0';
        return 0;
}

/* "1700000000.25": the fraction is dropped. */
static int tar_decode_read_time(const char *text, size_t size, int64_t *ret) {
        char whole[24];
        uint64_t n;
        size_t length = MIN_OF(size, strcspn(text, ".\n"));

        if (length >= sizeof(whole))
                return -EBADMSG;
        memcpy(whole, text, length);
        whole[length] = '\0';
        if (whole[0] == '-') { /* a time before 1970 becomes 1970 */
                *ret = 0;
                return 0;
        }
        if (parse_uint64(whole, 0, INT64_MAX, &n) < 0)
                return -EBADMSG;
        *ret = (int64_t) n;
        return 0;
}

static int read_size(const char *text, size_t size, uint64_t *ret) {
        char number[24];

        if (size >= sizeof(number))
                return -EBADMSG;
        memcpy(number, text, size);
        number[size] = '\0';
        return parse_uint64(number, 0, INT64_MAX, ret) < 0 ? -EBADMSG : 0;
}

static bool key_is(const char *key, size_t size, const char *name) {
        return strlen(name) == size && memcmp(key, name, size) == 0;
}

static int take_record(ClientTarReader *r, const char *key, size_t key_size, const char *value, size_t size) {
        if (key_is(key, key_size, "path")) {
                r->has_path = true;
                return tar_decode_set_path(r->said.path, value, size);
        }
        if (key_is(key, key_size, "linkpath")) {
                r->has_target = true;
                return tar_decode_set_path(r->said.target, value, size);
        }
        if (key_is(key, key_size, "size")) {
                r->has_size = true;
                return read_size(value, size, &r->said.size);
        }
        if (key_is(key, key_size, "mtime")) {
                r->has_mtime = true;
                return tar_decode_read_time(value, size, &r->said.mtime);
        }
        if (key_size > 11 && memcmp(key, "GNU.sparse.", 11) == 0)
                return -EOPNOTSUPP;
        return 0;
}

/* "27 path=some/long/name\n", one after the other. text has a NUL behind it. */
static int take_records(ClientTarReader *r) {
        const char *p = (const char *) r->text, *end = p + r->text_size;

        while (p < end) {
                const char *record = p, *key, *equals;
                size_t length = 0;
                int n;

                for (; *p >= '0' && *p <= '9' && length < RECORDS_MAX; p++)
                        length = length * 10 + (size_t) (*p - '0');
                if (*p != ' ' || length > (size_t) (end - record) || record + length <= p + 1 || record[length - 1] != '\n')
                        return -EBADMSG;
                key = p + 1;
                equals = memchr(key, '=', (size_t) (record + length - key));
                if (!equals)
                        return -EBADMSG;
                n = take_record(r, key, (size_t) (equals - key), equals + 1, (size_t) (record + length - 1 - (equals + 1)));
                if (n < 0)
                        return n;
                p = record + length;
        }
        return 0;
}

/* The data of a head that describes the next entry is complete. */
static int finish_text(ClientTarReader *r) {
        char kind = r->kind;
        size_t n = r->text_size;
        int error;

        r->kind = 0;
        if (kind == 'g')
                return 0;
        r->text[n] = '\0';
        if (kind == 'x')
                return take_records(r);
        n = strnlen((const char *) r->text, n); /* GNU ends them with NUL */
        if (kind == 'L') {
                error = tar_decode_set_path(r->said.path, (const char *) r->text, n);
                r->has_path = true;
        } else {
                error = tar_decode_set_path(r->said.target, (const char *) r->text, n);
                r->has_target = true;
        }
        return error;
}

static int begin_text(ClientTarReader *r, char kind, uint64_t size) {
        if (size > RECORDS_MAX)
                return -EBADMSG;
        free(r->text);
        r->text = malloc((size_t) size + 1);
        if (!r->text)
                return -ENOMEM;
        r->kind = kind;
        r->left = size;
        r->text_size = 0;
        return size == 0 ? finish_text(r) : 0;
}

static int tar_decode_add_text(ClientTarReader *r, const uint8_t *block) {
        size_t n = (size_t) MIN_OF(r->left, (uint64_t) TAR_BLOCK);

        memcpy(r->text + r->text_size, block, n);
        r->text_size += n;
        r->left -= n;
        return r->left == 0 ? finish_text(r) : 0;
}

static void tar_decode_read_names(const ClientTarReader *r, const uint8_t *block, TarEntry *ret) {
        const char *name = (const char *) block + NAME, *prefix = (const char *) block + PREFIX;
        size_t n = 0;

        if (r->has_path)
                memcpy(ret->path, r->said.path, sizeof(ret->path));
        else {
                if (memcmp(block + MAGIC, "ustar\0", 6) == 0 && prefix[0]) { /* GNU has something else there */
                        n = strnlen(prefix, PREFIX_SIZE);
                        memcpy(ret->path, prefix, n);
                        ret->path[n++] = '/';
                }
                memcpy(ret->path + n, name, strnlen(name, NAME_SIZE));
                ret->path[n + strnlen(name, NAME_SIZE)] = '\0';
        }
        if (r->has_target) {
                memcpy(ret->target, r->said.target, sizeof(ret->target));
                return;
        }
        n = strnlen((const char *) block + LINK, LINK_SIZE);
        memcpy(ret->target, block + LINK, n);
        ret->target[n] = '\0';
}

static TarType tar_decode_type_of(char letter, const char *path) {
        size_t n = strlen(path);

        switch (letter) {
        case '\0':
        case '0':
        case '7': return n > 0 && path[n - 1] == '/' ? TAR_DIRECTORY : TAR_FILE; /* as old archives mark a directory */
        case '1': return TAR_HARD_LINK;
        case '2': return TAR_SYMLINK;
        case '5': return TAR_DIRECTORY;
        default: return TAR_OTHER;
        }
}

static int tar_decode_read_entry(ClientTarReader *r, const uint8_t *block, uint64_t size, TarEntry *ret) {
        char letter = (char) block[TYPE];
        uint64_t mode, mtime;

        if (letter == 'S')
                return -EOPNOTSUPP;
        if (tar_decode_read_number(block + MODE, NUMBER_SIZE, &mode) < 0 || tar_decode_read_number(block + MTIME, LONG_SIZE, &mtime) < 0)
                return -EBADMSG;
        tar_decode_read_names(r, block, ret);
        ret->mode = (unsigned) mode & 07777;
        ret->mtime = r->has_mtime ? r->said.mtime : (int64_t) MIN_OF(mtime, (uint64_t) INT64_MAX);
        ret->size = r->has_size ? r->said.size : size;
        ret->type = tar_decode_type_of(letter, ret->path);
        if (ret->type == TAR_DIRECTORY || ret->type == TAR_SYMLINK || ret->type == TAR_HARD_LINK)
                ret->size = 0; /* whatever the field says, nothing follows */
        r->has_path = r->has_target = r->has_size = r->has_mtime = false;
        return 1;
}

int tar_read_block(ClientTarReader *r, const uint8_t block[static TAR_BLOCK], TarEntry *ret) {
        uint64_t size;
        char letter;

        if (r->kind)
                return tar_decode_add_text(r, block);
        if (tar_decode_is_zero(block))
                return 2;
        if (!checksum_fits(block) || tar_decode_read_number(block + SIZE, LONG_SIZE, &size) < 0 || size > INT64_MAX - TAR_BLOCK)
                return -EBADMSG;
        letter = (char) block[TYPE];
        if (letter == 'x' || letter == 'g' || letter == 'L' || letter == 'K')
                return begin_text(r, letter, size);
        return tar_decode_read_entry(r, block, size, ret);
}
