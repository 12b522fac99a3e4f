/* A value that somebody has spelled as he likes is hidden, whatever stands around it and however it is cut; what has none of its letters comes as it was.
 * Two bytes for portions and what stands before; then a spelling for each letter; the rest stands behind. */
#include "fuzz.h"

#include "base/macro.h"
#include "gate/credential/credential-spell.h"

#include "../unit/spell-model.h"

static const char value[] = "a\"b/41&c+%d";

static void run(const SpellSet *set, bool same_length, const Text *text, size_t portion, Text *out) {
        SpellFinder *f = spell_finder_new(same_length);
        const char *name = NULL;

        MUST(f && spell_finder_add(f, set) == 0);
        for (size_t at = 0; at < text->size; at += portion)
                MUST(spell_finder_feed(f, text->data + at, MIN_OF(portion, text->size - at), false, out, &name) == 0);
        MUST(spell_finder_feed(f, NULL, 0, true, out, &name) == 0);
        spell_finder_free(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        Text text = TEXT_INIT(1 << 20), calm = TEXT_INIT(1 << 20), whole = TEXT_INIT(1 << 20), parts = TEXT_INIT(1 << 20);
        SpellSet *set = spell_set_new(value, strlen(value), "n", "placeholder");
        size_t portion, before, begin, end;

        MUST(set);
        if (size >= 2 + strlen(value)) {
                portion = 1 + data[0] % 40U;
                before = MIN_OF((size_t) data[1] % 16, size - 2 - strlen(value));
                data += 2;
                size -= 2;
                text_put(&text, data + size - before, before);
                begin = text.size;
                for (const char *v = value; *v; v++, data++, size--) {
                        char spelling[SPELLING_MAX];
                        unsigned choice = *data % SPELLINGS;

                        while (!spell_letter((uint8_t) *v, choice, spelling))
                                choice = (choice + 1) % SPELLINGS;
                        text_put_string(&text, spelling);
                }
                end = text.size;
                text_put(&text, data, size);
                run(set, true, &text, text.size, &whole);
                run(set, true, &text, portion, &parts);
                MUST(whole.size == text.size && parts.size == text.size && memcmp(whole.data, parts.data, whole.size) == 0);
                for (size_t i = begin; i < end; i++)
                        MUST(whole.data[i] == '*');
                for (size_t i = 0; i < size; i++)
                        text_put(&calm, (char[]) { (char) ('g' + data[i] % 20) }, 1);
                text_done(&parts);
                run(set, false, &calm, portion, &parts);
                MUST(parts.size == calm.size && (calm.size == 0 || memcmp(parts.data, calm.data, calm.size) == 0));
        }
        text_done(&text);
        text_done(&calm);
        text_done(&whole);
        text_done(&parts);
        spell_set_free(set);
        return 0;
}
