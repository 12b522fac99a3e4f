#include "image/names.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/secret.h"

static bool is_word(char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* A part between slashes: words with single or repeated separators between them. */
static bool part_is_valid(const char *part, size_t n) {
        if (n == 0 || !is_word(part[0]) || !is_word(part[n - 1]))
                return false;
        for (size_t i = 0; i < n; i++)
                if (!is_word(part[i]) && !strchr("._-", part[i]))
                        return false;
        return true;
}

static bool name_is_valid(const char *name, size_t n) {
        const char *end = name + n;

        if (n == 0 || n > TEMPLATE_NAME_MAX)
                return false;
        for (const char *part = name; part <= end;) {
                const char *slash = memchr(part, '/', (size_t) (end - part));
                size_t size = (size_t) ((slash ? slash : end) - part);

                if (!part_is_valid(part, size))
                        return false;
                part += size + 1;
        }
        return true;
}

static bool names_tag_is_valid(const char *tag) {
        size_t n = strlen(tag);

        if (n == 0 || n > TEMPLATE_TAG_MAX || (!isalnum((unsigned char) tag[0]) && tag[0] != '_'))
                return false;
        for (size_t i = 0; i < n; i++)
                if ((unsigned char) tag[i] >= 0x80 || (!isalnum((unsigned char) tag[i]) && !strchr("._-", tag[i])))
                        return false;
        return true;
}

const char *image_size_text(uint64_t bytes, char ret[static IMAGE_SIZE_TEXT]) {
        static const char *const units[] = { "kB", "MB", "GB", "TB" };
        double x = (double) bytes / 1000;
        size_t u = 0;

        for (; x >= 1000 && u + 1 < ELEMENTSOF(units); u++)
                x /= 1000;
        if (bytes < 1000)
                (void) snprintf(ret, IMAGE_SIZE_TEXT, "%llu bytes", (unsigned long long) bytes);
        else
                (void) snprintf(ret, IMAGE_SIZE_TEXT, "%.1f %s", x, units[u]);
        return ret;
}

int template_name_parse(const char *text, TemplateName *ret, Error *reterr) {
        size_t n = strcspn(text, ":");
        const char *tag = text[n] ? text + n + 1 : TEMPLATE_TAG;

        if (!name_is_valid(text, n))
                return error_set(reterr, -EINVAL,
                                "'%.100s' is not a valid name for a template: use lower-case letters and digits, with '.', '_', '-' and '/' between them, then :TAG", text);
        if (strchr(tag, '/'))
                return error_set(reterr, -EINVAL, "'%.100s' has a registry in it; a template is called '%.100s'", text, strchr(tag, '/') + 1);
        if (!names_tag_is_valid(tag))
                return error_set(reterr, -EINVAL, "'%.100s' is not a valid tag: use 1 to %d letters, digits, '_', '.', '-'", tag, TEMPLATE_TAG_MAX);
        memcpy(ret->name, text, n);
        ret->name[n] = '\0';
        (void) snprintf(ret->tag, sizeof(ret->tag), "%s", tag);
        (void) snprintf(ret->full, sizeof(ret->full), "%s:%s", ret->name, ret->tag);
        return 0;
}

static size_t hex_length(const char *text) {
        return strspn(text, "0123456789abcdef");
}

bool image_digest_is_valid(const char *text) {
        return strncmp(text, DIGEST_PREFIX, strlen(DIGEST_PREFIX)) == 0 && strlen(text) == DIGEST_LENGTH &&
               hex_length(text + strlen(DIGEST_PREFIX)) == DIGEST_HEX;
}

const char *image_digest_short(const char *text) {
        size_t n;

        if (strncmp(text, DIGEST_PREFIX, strlen(DIGEST_PREFIX)) == 0)
                text += strlen(DIGEST_PREFIX);
        n = hex_length(text);
        return n >= DIGEST_SHORT_MIN && n <= DIGEST_HEX && text[n] == '\0' ? text : NULL;
}

static void sha256_hex(const char *text, char ret[static DIGEST_HEX + 1]) {
        uint8_t sum[SECRET_SHA256_SIZE];

        secret_sha256(text, strlen(text), sum);
        secret_hex(sum, sizeof(sum), ret);
}

void chain_id(const char *parent, const char *diff_id, char ret[static DIGEST_HEX + 1]) {
        char text[2 * DIGEST_LENGTH + 8];

        if (!*parent) {
                (void) snprintf(ret, DIGEST_HEX + 1, "%s", diff_id + strlen(DIGEST_PREFIX));
                return;
        }
        (void) snprintf(text, sizeof(text), DIGEST_PREFIX "%.64s %.71s", parent, diff_id);
        sha256_hex(text, ret);
}

void chain_random(char ret[static DIGEST_HEX + 1]) {
        secret_random_hex(ret, DIGEST_HEX);
}

/* The part before the first slash is a host if it cannot be a part of a name: it has a dot or a port, or is
 * "localhost". */
static size_t host_length(const char *reference) {
        size_t n = strcspn(reference, "/");

        if (!reference[n] || n == 0)
                return 0;
        if (memchr(reference, '.', n) || memchr(reference, ':', n) || (n == 9 && memcmp(reference, "localhost", 9) == 0))
                return n;
        return 0;
}

static bool is_docker_hub(const char *host, size_t n) {
        static const char *const names[] = { "docker.io", "index.docker.io", "registry-1.docker.io" };

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                if (strlen(names[i]) == n && memcmp(names[i], host, n) == 0)
                        return true;
        return n == 0;
}

void reference_host(const char *reference, char *ret, size_t size) {
        size_t n = host_length(reference);

        if (is_docker_hub(reference, n))
                (void) snprintf(ret, size, "docker.io");
        else
                (void) snprintf(ret, size, "%.*s", (int) n, reference);
}

int reference_name(const char *reference, ReferenceName *ret, Error *reterr) {
        size_t host = host_length(reference);
        const char *path = host > 0 ? reference + host + 1 : reference, *at = strchr(path, '@');
        char text[TEMPLATE_NAME_MAX + TEMPLATE_TAG_MAX + 2];
        ReferenceName name = { .has_host = !is_docker_hub(reference, host) };

        if (at && !image_digest_is_valid(at + 1))
                return error_set(reterr, -EINVAL, "'%.100s': what follows '@' is sha256: and 64 digits", reference);
        if (!name.has_host && strncmp(path, "library/", strlen("library/")) == 0)
                path += strlen("library/");
        if (strlen(path) >= sizeof(text) + DIGEST_LENGTH)
                return error_set(reterr, -EINVAL, "'%.100s…' is too long for an image reference", reference);
        (void) snprintf(text, sizeof(text), "%.*s", at ? (int) (at - path) : (int) strlen(path), path);
        if (template_name_parse(text, &name.name, NULL) < 0)
                return error_set(reterr, -EINVAL, "'%.100s' is not a valid image reference: use [HOST[:PORT]/]NAME[:TAG][@sha256:…], in lower case", reference);
        (void) snprintf(name.full, sizeof(name.full), "%.*s%s%.255s:%.128s%s", name.has_host ? (int) host : 0, reference, name.has_host ? "/" : "",
                        name.name.name, name.name.tag, at ? at : "");
        *ret = name;
        return 0;
}
