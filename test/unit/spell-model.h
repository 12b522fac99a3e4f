/* spell-model.h: a value written by somebody who chooses a spelling for each of its letters. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define SPELLING_MAX 40

/* The letter in the spelling of that number; false: it has none of it. */
static inline bool spell_letter(uint8_t c, unsigned choice, char ret[static SPELLING_MAX]) {
        static const struct {
                char letter;
                const char *name;
        } names[] = { { '&', "&amp;" }, { '/', "&sol;" }, { '"', "&quot;" }, { '\'', "&apos;" }, { '<', "&lt;" }, { '+', "&plus;" } };
        static const char *const formats[] = { "%%%02x", "%%%02X",     "%%25%02x",    "%%2525%02X", "\\u%04x",  "\\u%04X",     "\\\\u%04x", "\\x%02x",
                                               "\\%03o",  "&#%u;",      "&#x%x;",      "&#X%X;",     "&#%04u;",  "&amp;#%u;",   "=%02X",      "\\u{%02x}" };

        if (choice == 0) {
                snprintf(ret, SPELLING_MAX, "%c", c);
                return true;
        }
        if (choice <= 2) {
                snprintf(ret, SPELLING_MAX, "%s%c", choice == 1 ? "\\" : "\\\\", c);
                return !((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == ' '); /* those become something else */
        }
        for (size_t i = 0; choice == 3 && i < sizeof(names) / sizeof(names[0]); i++)
                if (names[i].letter == c) {
                        snprintf(ret, SPELLING_MAX, "%s", names[i].name);
                        return true;
                }
        if (choice < 4 || choice - 4 >= sizeof(formats) / sizeof(formats[0]))
                return false;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(ret, SPELLING_MAX, formats[choice - 4], c);
#pragma GCC diagnostic pop
        return true;
}

#define SPELLINGS 20
