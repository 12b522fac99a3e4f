/* Sizes, times, shares and numbers. */
#include "fuzz.h"

#include "base/macro.h"
#include "base/parse.h"

#define UNTOUCHED UINT64_C(0xfeedfacecafebeef)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_free_ char *text = fuzz_string(data, size);
        uint64_t number = UNTOUCHED, bytes = UNTOUCHED;
        usec_t usec = UNTOUCHED;
        uint32_t milli = 0;
        char printed[32];
        uint64_t again;

        if (parse_uint64(text, 0, UINT64_MAX, &number) == 0) {
                (void) snprintf(printed, sizeof(printed), "%llu", (unsigned long long) number);
                MUST(parse_uint64(printed, number, number, &again) == 0 && again == number);
                MUST(parse_size(text, &bytes) == 0 && bytes == number);
        } else
                MUST(number == UNTOUCHED);

        if (parse_size(text, &bytes) == 0) {
                (void) snprintf(printed, sizeof(printed), "%llu", (unsigned long long) bytes);
                MUST(parse_size(printed, &again) == 0 && again == bytes);
        } else
                MUST(bytes == UNTOUCHED);

        if (parse_duration(text, &usec) == 0) {
                (void) snprintf(printed, sizeof(printed), "%lluus", (unsigned long long) usec);
                MUST(usec != USEC_INFINITY);
                MUST(parse_duration(printed, &again) == 0 && again == usec);
        } else
                MUST(usec == UNTOUCHED);

        if (parse_cpus(text, &milli) == 0)
                MUST(milli >= 10 && milli <= 4096000);
        else
                MUST(milli == 0);
        return 0;
}
