/* fuzz.h: what the fuzzers share.
 *
 * A fuzzer takes any bytes, gives them to one parser and checks what must hold for all of them. Built twice: with
 * replay.c, which runs the corpus in every test run, and with libFuzzer (-Dfuzz=true), which looks for new inputs. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline _Noreturn void fuzz_fail(const char *file, int line, const char *condition) {
        fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
        abort();
}

/* What must hold. Not assert(), which a build type may take away. */
#define MUST(condition)                                                                                     \
        do {                                                                                                \
                if (!(condition))                                                                           \
                        fuzz_fail(__FILE__, __LINE__, #condition);                                          \
        } while (0)

/* The input as a string of its own size, so that a sanitizer sees a step beyond its end. Caller frees. */
static inline char *fuzz_string(const uint8_t *data, size_t size) {
        char *text = malloc(size + 1);

        if (!text)
                abort();
        if (size > 0)
                memcpy(text, data, size);
        text[size] = '\0';
        return text;
}
