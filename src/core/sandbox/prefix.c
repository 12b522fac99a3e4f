#include "core/prefix.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

#include "base/id.h"

#define TOLD_MAX 5 /* matches that are listed in an error */

static PrefixNode **prefix_head(const PrefixIndex *index, const char *id) {
        unsigned first = (unsigned char) id[0], second = first ? (unsigned char) id[1] : 0;

        return (PrefixNode **) index->heads + (first * 36 + second) % PREFIX_HEADS;
}

void prefix_add(PrefixIndex *index, PrefixNode *node, const char *id) {
        PrefixNode **head = prefix_head(index, id);

        node->id = id;
        DL_APPEND(*head, node);
}

void prefix_remove(PrefixIndex *index, PrefixNode *node) {
        PrefixNode **head;

        if (!node->id)
                return;
        head = prefix_head(index, node->id);
        DL_DELETE(*head, node);
        *node = (PrefixNode) { 0 };
}

bool prefix_is_one(const char *text) {
        size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789");

        return n >= PREFIX_MIN && n < ID_LENGTH && text[n] == '\0';
}

/* "ab12cd… (web), ab12ef…" */
static size_t prefix_tell(const PrefixKind *kind, const PrefixNode *node, char *text, size_t size) {
        const char *name = kind->name(node);
        int n = snprintf(text, size, "%s%s%s%s", node->id, name ? " (" : "", name ? name : "", name ? ")" : "");

        return n < 0 ? 0 : (size_t) n;
}

static int prefix_refuse(const PrefixKind *kind, const char *text, char told[static ERROR_TEXT_MAX], size_t n, Error *reterr) {
        return error_set(reterr, -ENOTUNIQ, "'%s' is ambiguous, give more characters: the ids of %zu %s begin so: %s%s", text, n, kind->nouns, told, n > TOLD_MAX ? ", …" : "");
}

int prefix_find(const PrefixIndex *index, const PrefixKind *kind, const Principal *who, const char *text, PrefixNode **ret, Error *reterr) {
        char told[ERROR_TEXT_MAX] = "";
        PrefixNode *node, *found = NULL;
        size_t n = 0, used = 0;

        if (!prefix_is_one(text))
                return -ENOENT;
        DL_FOREACH(*prefix_head(index, text), node) {
                if (strncmp(node->id, text, strlen(text)) != 0 || !kind->is_seen(node, who))
                        continue;
                if (n > 0 && n < TOLD_MAX && used + 2 < sizeof(told))
                        used += (size_t) snprintf(told + used, sizeof(told) - used, ", ");
                if (n < TOLD_MAX && used < sizeof(told))
                        used += prefix_tell(kind, node, told + used, sizeof(told) - used);
                n++;
                found = node;
        }
        if (n > 1)
                return prefix_refuse(kind, text, told, n, reterr);
        if (!found)
                return -ENOENT;
        *ret = found;
        return 0;
}
