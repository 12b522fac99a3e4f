/* Any text in a report: what comes out is one JSON string, printable and in one line. */
#include "fuzz.h"

#include "base/json.h"
#include "base/macro.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_free_ char *text = fuzz_string(data, size);
        JsonWriter w = { 0 };

        json_write_string(&w, /* key= */ NULL, text);
        MUST(w.out.error == 0 && w.out.size >= 2 && w.out.data[0] == '"' && w.out.data[w.out.size - 1] == '"');
        for (size_t i = 1; i < w.out.size - 1; i++) {
                unsigned char c = (unsigned char) w.out.data[i];

                MUST(c >= 0x20 && c != '"');
                if (c == '\\')
                        i += w.out.data[i + 1] == 'u' ? 5 : 1;
                MUST(i < w.out.size - 1);
        }
        MUST(w.out.size <= 6 * strlen(text) + 2);
        json_discard(&w);
        return 0;
}
