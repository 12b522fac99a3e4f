/* What a server says, as a person's terminal gets it: no control characters, whatever was sent; and times. */
#include "fuzz.h"

#include "base/macro.h"
#include "client/human.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_free_ char *text = fuzz_string(data, size), *clean = human_clean(text);
        usec_t at = 0;

        MUST(clean);
        for (const unsigned char *c = (const unsigned char *) clean; *c; c++)
                MUST(*c >= ' ' && *c != 0x7f && !(c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0));
        MUST(human_width(clean) <= strlen(clean) * 2);
        (void) human_parse_time(text, &at);
        return 0;
}
