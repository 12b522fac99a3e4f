#include "core/ailment.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"

static Ailment *ailment_find(Manager *m, const char *name) {
        for (size_t i = 0; i < AILMENTS_MAX; i++)
                if (m->ailments[i].name && strcmp(m->ailments[i].name, name) == 0)
                        return &m->ailments[i];
        return NULL;
}

static Ailment *ailment_begin(Manager *m, const char *name) {
        for (size_t i = 0; i < AILMENTS_MAX; i++)
                if (!m->ailments[i].name) {
                        m->ailments[i] = (Ailment) { .name = name, .since = clock_wall_usec() };
                        return &m->ailments[i];
                }
        return NULL;
}

void manager_ail(Manager *m, const char *name, bool ill, const char *format, ...) {
        Ailment *a = ailment_find(m, name);
        bool begins = !a;
        va_list ap;

        if (!a)
                a = ailment_begin(m, name);
        if (!a)
                return;
        a->ill = ill;
        va_start(ap, format);
        (void) vsnprintf(a->text, sizeof(a->text), format, ap);
        va_end(ap);
        if (begins)
                log_error("%s", a->text);
}

void manager_heal(Manager *m, const char *name) {
        Ailment *a = ailment_find(m, name);

        if (!a)
                return;
        log_notice("over: %s", a->text);
        *a = (Ailment) { 0 };
}
