/* What goes through the filters of credentials: however it is cut, the same comes out; no value is left; filled and masked again it is what it was, when
 * no value was in it. The first byte says how large the portions are. */
#include "fuzz.h"

#include "base/macro.h"
#include "gate/credential/credential.h"

static const char list_text[] =
                "[{\"name\":\"a\",\"placeholder\":\"cove-aaaaaaaa\",\"value\":\"abcab\",\"domain\":\"h.org\",\"in\":[\"header\",\"body\"]},"
                "{\"name\":\"b\",\"placeholder\":\"cove-aaaaaaab\",\"value\":\"abcabd\",\"domain\":\"h.org\",\"in\":[\"header\",\"body\"]},"
                "{\"name\":\"c\",\"placeholder\":\"cove-cccccccc\",\"value\":\"\\\"\\\\/+%\",\"domain\":\"*.org\",\"in\":[\"query\"]}]";

static void run(CredentialFilter *f, const void *data, size_t size, size_t portion, Text *out) {
        for (size_t at = 0; at < size; at += portion)
                MUST(credential_filter_feed(f, (const uint8_t *) data + at, MIN_OF(portion, size - at), false, out) == 0);
        MUST(credential_filter_feed(f, NULL, 0, true, out) == 0);
        (void) credential_filter_free(f);
}

static bool same(const Text *a, const Text *b) {
        return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_json_ json_t *list = json_loads(list_text, 0, NULL);
        Text whole = TEXT_INIT(64 << 20), parts = TEXT_INIT(64 << 20), field = TEXT_INIT(64 << 20);
        CredentialFilter *f;
        Credentials *c = NULL;
        char *text;
        size_t portion;
        Error error;

        if (size == 0 || size > 65536)
                return 0;
        portion = 1 + data[0] % 32U;
        data++;
        size--;
        MUST(credentials_parse(list, &c, &error) == 0);
        for (int kind = 0; kind < 4; kind++) {
                for (int cut = 0; cut < 2; cut++) {
                        f = NULL;
                        if (kind == 0)
                                MUST(credential_filter_new_mask(c, "h.org", false, &f) == 0);
                        else if (kind == 1)
                                MUST(credential_filter_new_mask(c, "h.org", true, &f) == 0);
                        else if (kind == 2)
                                MUST(credential_filter_new_fill(c, "h.org", CREDENTIAL_BODY, CREDENTIAL_JSON, &f) == 0);
                        else
                                MUST(credential_filter_new_find(c, "other.org", &f) == 0);
                        run(f, data, size, cut ? portion : size + 1, cut ? &parts : &whole);
                }
                MUST(same(&whole, &parts));
                if (kind == 1 || kind == 3)
                        MUST(whole.size == size);
                if (kind == 1)
                        MUST(whole.size == 0 || !memmem(whole.data, whole.size, "abcab", 5));
                text_done(&whole);
                text_done(&parts);
        }
        text = fuzz_string(data, size);
        MUST(credential_filter_new_find(c, "other.org", &f) == 0);
        (void) credential_find_field(f, &(HttpField) { .name = "Authorization", .value = text });
        (void) credential_filter_free(f);
        MUST(credential_filter_new_fill(c, "h.org", CREDENTIAL_HEADER, CREDENTIAL_PLAIN, &f) == 0);
        (void) credential_fill_field(f, &(HttpField) { .name = "Authorization", .value = text }, &field);
        (void) credential_filter_free(f);
        text_wipe(&field);
        free(text);
        (void) credentials_free(c);
        return 0;
}
