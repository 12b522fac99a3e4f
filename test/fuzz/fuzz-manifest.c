/* Any manifest, index and configuration: refused in words, or within the bounds. */
#include "fuzz.h"

#include "registry/imageconfig.h"

static void check_manifest(const char *text, size_t size) {
        Platform machine;
        const Descriptor *chosen;
        Error error = { 0 };
        Manifest m = { 0 };

        if (manifest_read(text, size, "", &m, &error) < 0) {
                MUST(error.text[0] && error.code < 0);
                return;
        }
        MUST(m.n > 0 && m.n <= (m.is_index ? MANIFEST_INDEX_MAX : MANIFEST_LAYERS_MAX));
        for (size_t i = 0; i < m.n; i++)
                MUST(digest_is_valid(m.items[i].digest.text) && m.items[i].size <= m.size + (m.is_index ? UINT64_MAX - m.size : 0));
        MUST(m.is_index || digest_is_valid(m.config.digest.text));
        platform_of_machine(&machine);
        if (m.is_index && manifest_choose(&m, &machine, &chosen, &error) >= 0)
                MUST(chosen >= m.items && chosen < m.items + m.n && !chosen->attestation);
        manifest_done(&m);
}

static void check_config(const char *text, size_t size) {
        static const char *const names[] = { "Env", "WorkingDir", "User", "Entrypoint", "Cmd", "ExposedPorts", "Labels", "Shell" };
        Error error = { 0 };
        Imageconfig c = { 0 };

        if (imageconfig_read(text, size, SIZE_MAX, &c, &error) < 0) {
                MUST(error.text[0] && error.code < 0);
                return;
        }
        MUST(json_object_size(c.config) == sizeof(names) / sizeof(names[0]));
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
                MUST(json_object_get(c.config, names[i]));
        for (size_t i = 0; i < c.n; i++)
                MUST(digest_is_valid(c.diff_ids[i].text));
        imageconfig_done(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        char *text = fuzz_string(data, size);

        check_manifest(text, size);
        check_config(text, size);
        free(text);
        return 0;
}
