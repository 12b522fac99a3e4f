/* Lines of events: whatever they say, what comes out ends, fits, and has no control characters. */
#include "fuzz.h"

#include "cli/event-text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        char *line = malloc(size + 1), text[32];

        MUST(line);
        if (size > 0)
                memcpy(line, data, size);
        line[size] = '\0';
        if (event_text(line, "text", text, sizeof(text)) >= 0) {
                MUST(memchr(text, 0, sizeof(text)));
                for (const char *p = text; *p; p++)
                        MUST((unsigned char) *p >= ' ' && *p != 0x7f);
        }
        free(line);
        return 0;
}
