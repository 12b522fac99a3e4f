/* What a worker in a sandbox says about files, as an enemy may write it: what is taken is exactly what we would have sent. */
#include "fuzz.h"

#include "wire/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        static uint8_t encoded[FILE_MESSAGE_MAX];
        static FileMessage m;
        ssize_t n;

        if (file_decode(data, size, &m) < 0)
                return 0;
        n = file_encode(&m, encoded, sizeof(encoded));
        MUST(n >= 0 && (size_t) n == size);
        MUST(memcmp(encoded, data, size) == 0);

        switch (m.type) {
        case FILE_ENTRY:
        case FILE_PUT:
                MUST(strlen(m.entry.path) < sizeof(m.entry.path) && strlen(m.entry.target) < sizeof(m.entry.target));
                MUST(m.entry.hard <= 1 && m.entry.size <= INT64_MAX);
                break;
        case FILE_FAILED: MUST(m.failure.error > 0 && strlen(m.failure.path) < sizeof(m.failure.path)); break;
        case FILE_EVENT: MUST(m.event.kind >= FILE_CREATED && m.event.kind < _FILE_EVENT_MAX); break;
        case FILE_DATA: MUST(m.bytes.data >= data && m.bytes.data + m.bytes.size <= data + size); break;
        case FILE_END:
        case FILE_COMMIT: break;
        case _FILE_TYPE_MAX:
        default: MUST(false);
        }
        return 0;
}
