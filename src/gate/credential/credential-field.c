/* credential-field.c: placeholders in header values, also inside the base64 of "Basic". */

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "gate/credential/credential-internal.h"

static int credential_field_letter_value(char c) {
        static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        const char *p = c ? strchr(letters, c) : NULL;

        return p ? (int) (p - letters) : -1;
}

/* Decodes the base64 of "Basic". -ENOENT: the field is something else. */
static int read_basic(const HttpField *field, Text *ret) {
        const char *p = field->value;
        uint32_t bits = 0;
        unsigned n = 0;

        if (strcasecmp(field->name, "Authorization") != 0 || strncasecmp(p, "Basic", 5) != 0 || p[5] != ' ')
                return -ENOENT;
        for (p += 5 + strspn(p + 5, " "); *p && *p != '='; p++) {
                int value = credential_field_letter_value(*p);

                if (value < 0)
                        return -ENOENT;
                bits = bits << 6 | (uint32_t) value;
                if (++n % 4 == 0) {
                        text_put(ret, (uint8_t[]) { (uint8_t) (bits >> 16), (uint8_t) (bits >> 8), (uint8_t) bits }, 3);
                        bits = 0;
                }
        }
        if (n % 4 == 2)
                text_put(ret, (uint8_t[]) { (uint8_t) (bits >> 4) }, 1);
        if (n % 4 == 3)
                text_put(ret, (uint8_t[]) { (uint8_t) (bits >> 10), (uint8_t) (bits >> 2) }, 2);
        return n % 4 == 1 || p[strspn(p, "=")] ? -ENOENT : ret->error;
}

static void write_basic(const Text *plain, Text *out) {
        char *letters;

        text_put_string(out, "Basic ");
        letters = text_extend(out, BASE64_SIZE(plain->size));
        if (letters)
                base64_encode(plain->data, plain->size, letters);
}

/* A header cannot contain control characters, except tabs. */
static bool is_clean(const char *data, size_t size) {
        for (size_t i = 0; i < size; i++)
                if ((unsigned char) data[i] < ' ' && data[i] != '\t')
                        return false;
        return true;
}

static int fill_basic(CredentialFilter *f, const HttpField *field, Text *out) {
        Text plain = TEXT_INIT(HEAD_MAX), filled = TEXT_INIT(4 * HEAD_MAX);
        int r = read_basic(field, &plain);

        if (r >= 0)
                r = credential_filter_feed(f, plain.data, plain.size, /* last= */ true, &filled);
        if (r >= 0 && credential_filter_hit(f)) {
                write_basic(&filled, out);
                r = 1;
        }
        text_wipe(&plain);
        text_wipe(&filled);
        return r;
}

int credential_fill_field(CredentialFilter *f, const HttpField *field, Text *out) {
        size_t before = out->size;
        int r;

        assert(f && field && out);

        credential_filter_forget(f);
        credential_filter_in_field(f, field->name);
        r = fill_basic(f, field, out);
        if (r == -ENOENT || r == 0) {
                r = credential_filter_feed(f, field->value, strlen(field->value), /* last= */ true, out);
                if (r >= 0)
                        r = credential_filter_hit(f) != NULL;
        }
        credential_filter_in_field(f, NULL);
        if (r > 0 && !is_clean(out->data + before, out->size - before))
                return -EINVAL;
        return r;
}

static bool credential_field_find_in(CredentialFilter *f, const void *data, size_t size) {
        Text ignored = TEXT_INIT(4 * HEAD_MAX);
        int r = 0;

        credential_filter_forget(f);
        if (!credential_filter_is_idle(f))
                r = credential_filter_feed(f, data, size, /* last= */ true, &ignored);
        text_done(&ignored);
        return r < 0 || credential_filter_hit(f); /* on failure, refuse rather than overlook */
}

bool credential_find_text(CredentialFilter *f, const char *text) {
        return credential_field_find_in(f, text, strlen(text));
}

bool credential_find_field(CredentialFilter *f, const HttpField *field) {
        Text plain = TEXT_INIT(HEAD_MAX);
        bool found = credential_field_find_in(f, field->value, strlen(field->value));

        if (!found && read_basic(field, &plain) >= 0)
                found = credential_field_find_in(f, plain.data, plain.size);
        text_done(&plain);
        return found;
}
