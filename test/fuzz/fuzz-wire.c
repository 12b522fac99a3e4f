/* Messages from PID 1, as an enemy may write them: what is taken is exactly what we would have sent. */
#include "fuzz.h"

#include "wire/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        uint8_t encoded[WIRE_MESSAGE_MAX];
        WireMessage m, again;
        ssize_t n;

        if (wire_decode(data, size, &m) < 0)
                return 0;
        n = wire_encode(&m, encoded, sizeof(encoded));
        MUST(n >= 0 && (size_t) n == size);
        MUST(memcmp(encoded, data, size) == 0);
        MUST(wire_decode(encoded, (size_t) n, &again) == 0);
        MUST(wire_encode(&again, encoded, sizeof(encoded)) == n);
        MUST(memcmp(encoded, data, size) == 0);
        return 0;
}
