/* Requests to the spawner, as an enemy may write them: what is taken is exactly what we would have sent. */
#include "fuzz.h"

#include "wire/spawn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        uint8_t encoded[SPAWN_MESSAGE_MAX];
        SpawnMessage m, again;
        ssize_t n;

        if (spawn_decode(data, size, &m) < 0)
                return 0;
        n = spawn_encode(&m, encoded, sizeof(encoded));
        MUST(n >= 0 && (size_t) n == size);
        MUST(memcmp(encoded, data, size) == 0);
        MUST(spawn_decode(encoded, (size_t) n, &again) == 0);
        MUST(spawn_encode(&again, encoded, sizeof(encoded)) == n);
        MUST(memcmp(encoded, data, size) == 0);
        return 0;
}
