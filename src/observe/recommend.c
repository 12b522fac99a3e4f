/* recommend.c: recommended limits of an agent type, from its past usage.
 *
 * A recommendation is a quantile over its sandboxes of the last day, times a margin: of their peak memory, in whole
 * steps of 16 MiB and at least 32 MiB, and of their mean CPU use. A CPU quota is only lowered, never introduced: a mean
 * says nothing about peaks. The confidence grows with the number of sandboxes: 0 below samples_min, near 1 at ten times
 * as many. */

#include <math.h>
#include <string.h>
#include <strings.h>

#include "core/profile.h"
#include "observe/internal.h"

#define MEMORY_STEP ((uint64_t) 16 << 20)
#define MEMORY_MIN  ((uint64_t) 32 << 20)
#define MILLI_STEP  50
#define MILLI_MIN   100

typedef struct Advice {
        uint64_t samples;
        double confidence;
        uint64_t memory_bytes, memory_seen; /* 0: no data */
        uint32_t cpu_milli;
        double cores_seen;
} Advice;

static uint64_t in_steps(double x, uint64_t step, uint64_t min) {
        uint64_t whole = (uint64_t) ceil(x / (double) step) * step;

        return MAX_OF(whole, min);
}

static double quantile_of(Observe *o, Metric m, const char *agent, double q, uint64_t *ret_count) {
        Histogram h = { 0 };
        double x;

        series_read(o, m, agent, /* second= */ NULL, WINDOW_24H, &h);
        x = histogram_quantile(&h, q) / metric_scale(m);
        *ret_count = h.count;
        histogram_done(&h);
        return x;
}

static Advice recommend_advise(Observe *o, const char *agent) {
        const PredictionConfig *c = &o->manager->settings->prediction;
        Advice a = { 0 };
        uint64_t n_cores;
        double memory = quantile_of(o, METRIC_MEMORY_PEAK, agent, c->quantile, &a.samples);
        double cores = quantile_of(o, METRIC_CPU_CORES, agent, c->quantile, &n_cores);

        if (a.samples > 0 && a.samples >= c->samples_min)
                a.confidence = 1 - exp(-(double) a.samples / fmax(c->samples_min * 3.0, 1));
        if (memory > 0) {
                a.memory_seen = (uint64_t) memory;
                a.memory_bytes = in_steps(memory * c->margin, MEMORY_STEP, MEMORY_MIN);
        }
        if (cores >= 0) {
                a.cores_seen = cores;
                a.cpu_milli = (uint32_t) in_steps(fmin(cores, 1024) * 1000 * c->margin, MILLI_STEP, MILLI_MIN);
        }
        return a;
}

int observe_recommended(Observe *o, const char *agent_type, SandboxLimits *limits) {
        const PredictionConfig *c;
        char lower[METRIC_LABEL_BYTES];
        int changed = 0;
        Advice a;

        if (!o || !agent_type || !(c = &o->manager->settings->prediction)->automatic)
                return 0;
        if (strlen(agent_type) >= sizeof(lower))
                return 0;
        for (size_t i = 0; i <= strlen(agent_type); i++)
                lower[i] = agent_type[i] >= 'A' && agent_type[i] <= 'Z' ? (char) (agent_type[i] - 'A' + 'a') : agent_type[i];
        a = recommend_advise(o, lower);
        if (a.samples < MAX_OF(c->samples_min, 1U))
                return 0;
        if (a.memory_bytes != 0 && a.memory_bytes < limits->memory_bytes) {
                limits->memory_bytes = a.memory_bytes;
                changed = 1;
        }
        if (a.cpu_milli != 0 && a.cpu_milli < limits->cpu_milli) {
                limits->cpu_milli = a.cpu_milli;
                changed = 1;
        }
        return changed;
}

static json_t *recommend_amount(double value, bool known) {
        return known ? json_real(value) : json_null();
}

static json_t *advice_json(Observe *o, const char *agent) {
        const Config *config = o->manager->settings;
        const Profile *p = profile_find(config, agent);
        Advice a = recommend_advise(o, agent);

        return json_pack("{s:o,s:I,s:f,s:b,s:o,s:o,s:o,s:o,s:o,s:o}",
                        "agentType", json_text_or_null(agent),
                        "samples", (json_int_t) a.samples, "confidence", a.confidence,
                        "sufficient", a.samples >= MAX_OF(config->prediction.samples_min, 1U),
                        "memoryMB", recommend_amount((double) a.memory_bytes / (1 << 20), a.memory_bytes != 0),
                        "cpuCores", recommend_amount(a.cpu_milli / 1000.0, a.cpu_milli != 0),
                        "observedMemoryMB", recommend_amount((double) a.memory_seen / (1 << 20), a.memory_bytes != 0),
                        "observedCpuCores", recommend_amount(a.cores_seen, a.cpu_milli != 0),
                        "profileMemoryMB", recommend_amount(p ? (double) p->limits.memory_bytes / (1 << 20) : 0, p && p->limits.memory_bytes != 0),
                        "profileCpuCores", recommend_amount(p ? p->limits.cpu_milli / 1000.0 : 0, p && p->limits.cpu_milli != 0));
}

json_t *observe_recommendations_json(Observe *o) {
        const PredictionConfig *c = &o->manager->settings->prediction;
        json_t *list = json_array();
        const AgentType *t, *next;

        HASH_ITER(hh, o->agent_types, t, next)
                (void) json_array_append_new(list, advice_json(o, t->name));
        return json_pack("{s:b,s:f,s:f,s:i,s:s,s:o}", "automatic", c->automatic, "quantile", c->quantile, "margin", c->margin,
                        "samplesMin", (int) c->samples_min, "window", window_name(WINDOW_24H), "recommendations", list);
}
