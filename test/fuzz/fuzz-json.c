/* Any text in a report: what comes out is one JSON string, printable and in one line. */
#include "fuzz.h"

#include "base/json.h"
#include "base/macro.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_free_ char *text = fuzz_string(data, size);
        JsonWriter w = { 0 };

        json_write_string(&w, /* key= */ NULL, text);
        MUST(w.error == 0 && w.size >= 2 && w.data[0] == '"' && w.data[w.size - 1] == '"');
        for (size_t i = 1; i < w.size - 1; i++) {
                unsigned char c = (unsigned char) w.data[i];

                MUST(c >= 0x20 && c != '"');
                if (c == '\\')
                        i += w.data[i + 1] == 'u' ? 5 : 1;
                MUST(i < w.size - 1);
        }
        MUST(w.size <= 6 * strlen(text) + 2);
        free(w.data);
        return 0;
}
