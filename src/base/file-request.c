#include "base/file-request.h"

#include <string.h>

bool file_labels_next(const uint8_t *labels, size_t size, size_t *offset, const char **ret_key, const char **ret_value) {
        const char *texts[2];

        for (size_t i = 0; i < 2; i++) {
                const uint8_t *end = *offset < size ? memchr(labels + *offset, 0, size - *offset) : NULL;

                if (!end)
                        return false;
                texts[i] = (const char *) labels + *offset;
                *offset = (size_t) (end - labels) + 1;
        }
        *ret_key = texts[0];
        *ret_value = texts[1];
        return true;
}

bool file_labels_check(const uint8_t *labels, size_t size) {
        const char *key, *value;
        size_t offset = 0;

        if (size > FILE_LABELS_MAX)
                return false;
        while (offset < size)
                if (!file_labels_next(labels, size, &offset, &key, &value) || key[0] == '\0')
                        return false;
        return true;
}
