/* Any method and path (a line each): the router finds a line of the table or says why not, and what it decodes is UTF-8. */
#include "fuzz.h"

#include <errno.h>

#include "api/router.h"
#include "base/text.h"

static const ApiRoute routes[] = {
        { "POST", "/api/sandbox" },
        { "GET", "/api/sandbox/list" },
        { "GET", "/api/sandbox/{id}" },
        { "DELETE", "/api/sandbox/{id}" },
        { "GET", "/api/sandbox/{id}/exec/{eid}" },
        { "POST", "/api/sandbox/{id}/exec/{eid}/stdin/close" },
        { "PUT", "/{a}/{b}/{c}" },
        { 0 },
};

static const ApiRoute *const tables[] = { routes, NULL };

static size_t count_parameters(const char *path) {
        size_t n = 0;

        for (; *path; path++)
                n += *path == '{';
        return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_free_ char *text = fuzz_string(data, size);
        size_t n = strcspn(text, "\n");
        const char *path = text[n] ? text + n + 1 : "";
        RouterMatch m;
        int r;

        text[n] = '\0';
        r = router_find(tables, text, path, &m);
        MUST(r == 0 || r == -ENOENT || r == -EPERM || r == -EOPNOTSUPP || r == -EILSEQ);
        MUST((r == -EPERM) <= (m.allow[0] != '\0'));
        for (size_t i = 0; i < API_PARAMETERS_MAX; i++) {
                const char *parameter = m.parameters[i];
                bool cut;

                MUST((parameter != NULL) == (r == 0 && i < count_parameters(m.route->path)));
                if (parameter)
                        MUST(*parameter && utf8_prefix(parameter, strlen(parameter), &cut) == strlen(parameter));
        }
        if (r == 0)
                MUST(strcmp(m.route->method, text) == 0);
        router_match_done(&m);
        return 0;
}
