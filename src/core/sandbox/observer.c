#include "core/observer.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/manager.h"

#define SECURITY_TEXT_MAX 512

static const char *const step_names[_STEP_MAX] = {
        [STEP_QUEUE] = "queue",
        [STEP_PROVISION] = "provision",
        [STEP_CLAIM] = "claim",
        [STEP_EXEC] = "exec",
        [STEP_CLEANUP] = "cleanup",
        [STEP_LIFETIME] = "lifetime",
};

const char *life_step_name(LifeStep s) {
        return s >= 0 && s < _STEP_MAX ? step_names[s] : NULL;
}

void manager_observe(Manager *m, CoreObserver *o) {
        CoreObserver **end = &m->observers;

        while (*end)
                end = &(*end)->next;
        o->next = NULL;
        *end = o;
}

void manager_unobserve(Manager *m, CoreObserver *o) {
        for (CoreObserver **p = &m->observers; *p; p = &(*p)->next)
                if (*p == o) {
                        *p = o->next;
                        return;
                }
}

void manager_unobserve_all(Manager *m) {
        m->observers = NULL;
}

#define EACH_OBSERVER(o, m) for (const CoreObserver *o = (m)->observers; o; o = o->next)

void observe_status(Sandbox *sb, SandboxStatus from, SandboxStatus to) {
        EACH_OBSERVER(o, sb->manager)
                if (o->status)
                        o->status(sb, from, to, o->userdata);
}

void observe_execution_started(Execution *x) {
        EACH_OBSERVER(o, x->sandbox->manager)
                if (o->execution_started)
                        o->execution_started(x, o->userdata);
}

void observe_execution_ended(Execution *x) {
        EACH_OBSERVER(o, x->sandbox->manager)
                if (o->execution_ended)
                        o->execution_ended(x, o->userdata);
}

void observe_step(Manager *m, LifeStep step, Sandbox *sb, const Execution *x, usec_t start, usec_t duration) {
        EACH_OBSERVER(o, m)
                if (o->step)
                        o->step(step, sb, x, start, duration, o->userdata);
}

void observe_usage(Sandbox *sb, const SandboxUsage *usage) {
        EACH_OBSERVER(o, sb->manager)
                if (o->usage)
                        o->usage(sb, usage, o->userdata);
}

void observe_security(Manager *m, const char *kind, Sandbox *sb, const char *format, ...) {
        char text[SECURITY_TEXT_MAX];
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(text, sizeof(text), format, ap);
        va_end(ap);
        EACH_OBSERVER(o, m)
                if (o->security)
                        o->security(kind, sb, text, o->userdata);
}

void observe_security_count(Manager *m, const char *kind) {
        EACH_OBSERVER(o, m)
                if (o->security)
                        o->security(kind, /* sb= */ NULL, /* text= */ NULL, o->userdata);
}

void observe_network(Manager *m, Sandbox *sb, const NetworkNews *news) {
        EACH_OBSERVER(o, m)
                if (o->network)
                        o->network(sb, news, o->userdata);
}

void observe_event(Sandbox *sb, const char *type, const Execution *x, const char *text) {
        EACH_OBSERVER(o, sb->manager)
                if (o->event)
                        o->event(sb, type, x, text, o->userdata);
}
