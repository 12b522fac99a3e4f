/* zygote-line.c: parses the option --zygote. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "spawner/zygote.h"

static const char *const languages[] = { "python" };

static bool is_module_name(const char *name) {
        size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");

        return n > 0 && n < SPAWN_NAME_MAX && name[n] == '\0' && name[0] != '.';
}

static int zygote_line_check(const ZygoteLine *line, Error *reterr) {
        _cleanup_free_ char *imports = strdup(line->imports);
        char *save = NULL;
        bool known = false;
        size_t n = 0;

        if (!imports)
                return error_set(reterr, -ENOMEM, "out of memory");
        for (size_t i = 0; i < ELEMENTSOF(languages); i++)
                known |= strcmp(languages[i], line->language) == 0;
        if (!known)
                return error_set(reterr, -EINVAL, "--zygote: there is none for '%s'", line->language);
        for (const char *name = strtok_r(imports, ",", &save); name; name = strtok_r(NULL, ",", &save))
                if (!is_module_name(name) || ++n > ZYGOTE_IMPORTS_MAX)
                        return error_set(reterr, -EINVAL, "--zygote: '%s' is no name of a module, or one too many", name);
        return 0;
}

int zygote_add(ZygoteLines *lines, const char *text, Error *reterr) {
        _cleanup_free_ char *template_name = strdup(text), *language = NULL, *imports = NULL;
        char *sign = template_name ? strchr(template_name, ':') : NULL, *second = sign ? strchr(sign + 1, ':') : NULL;
        ZygoteLine line;
        int r;

        if (!second)
                return error_set(reterr, -EINVAL, "--zygote: '%s' is not TEMPLATE:LANGUAGE:MODULE,MODULE…", text);
        *sign = *second = '\0';
        language = strdup(sign + 1);
        imports = strdup(second + 1);
        if (!language || !imports || ARRAY_EXTEND(lines->items, lines->n) < 0)
                return error_set(reterr, -ENOMEM, "out of memory");
        line = (ZygoteLine) { .template_name = template_name, .language = language, .imports = imports };
        r = lines->n >= ZYGOTES_MAX ? error_set(reterr, -E2BIG, "--zygote: more than %d", ZYGOTES_MAX) : zygote_line_check(&line, reterr);
        if (r < 0)
                return r;
        lines->items[lines->n++] = line;
        TAKE_PTR(template_name);
        TAKE_PTR(language);
        TAKE_PTR(imports);
        return 0;
}
