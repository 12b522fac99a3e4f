/* Any name of an image: refused, or printed in full and read again as the same; and any challenge. */
#include "fuzz.h"

#include <stdbool.h>

#include "registry/challenge.h"
#include "registry/member.h"
#include "registry/reference.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        char *text = fuzz_string(data, size), whole[REFERENCE_TEXT_MAX + 1], clean[MEMBER_NAME_MAX + 1], twice[MEMBER_NAME_MAX + 1];
        Reference r, again;
        Challenge c;
        Error error = { 0 };

        if (reference_parse(text, &r, &error) >= 0) {
                MUST(r.host[0] && r.name[0] && (r.tag[0] || r.digest.text[0]));
                MUST(!strpbrk(r.host, "/@\r\n %?#") && !strpbrk(r.name, ":@\r\n %?#") && !strstr(r.name, "..") && r.name[0] != '/');
                MUST(reference_parse(reference_print(&r, whole), &again, NULL) >= 0 && memcmp(&r, &again, sizeof(r)) == 0);
        } else
                MUST(error.text[0]);
        if (challenge_parse(text, &c) >= 0)
                MUST(strlen(c.realm) < sizeof(c.realm) && strlen(c.scope) < sizeof(c.scope) && strlen(c.service) < sizeof(c.service));
        if (member_clean_name("", text, clean) >= 0) {
                MUST(clean[0] != '/' && strcmp(clean, "..") != 0 && strncmp(clean, "../", 3) != 0 && !strstr(clean, "/../"));
                MUST(member_clean_name("", clean, twice) >= 0 && strcmp(clean, twice) == 0);
        }
        free(text);
        return 0;
}
