#include "daemon/agent-metrics.h"

static double seconds(usec_t usec) {
        return (double) usec / (double) USEC_PER_SEC;
}

static void set_gauges(AgentMetrics *m) {
        AgentSignals s;

        agents_signals(m->agents, &s);
        metric_set(m->observe, METRIC_AGENT_QUEUE_DEPTH, NULL, (double) s.depth);
        metric_set(m->observe, METRIC_AGENT_DEAD_LETTERS, NULL, (double) s.dead);
}

static void on_queued(const Job *j, void *userdata) {
        set_gauges(userdata);
}

static void on_forgotten(const Job *j, void *userdata) {
        set_gauges(userdata); /* it may have been a dead letter */
}

static void on_began(const Job *j, usec_t waited, void *userdata) {
        AgentMetrics *m = userdata;

        if (j->attempt == 1)
                metric_observe(m->observe, METRIC_AGENT_QUEUE, j->sandbox.agent_type, seconds(waited));
        else
                metric_add(m->observe, METRIC_AGENT_RETRIES, j->sandbox.agent_type, 1);
        set_gauges(m);
}

static void agent_metrics_on_ended(const Job *j, void *userdata) {
        AgentMetrics *m = userdata;

        metric_add2(m->observe, METRIC_AGENT_EXECUTIONS, j->sandbox.agent_type, job_status_name(j->status), 1);
        if (j->ended_at > j->created_at)
                metric_observe(m->observe, METRIC_AGENT_DURATION, j->sandbox.agent_type, seconds(j->ended_at - j->created_at));
        set_gauges(m);
}

/* Signals, which alerts check. The metric above shows how long executions wait. */

static double read_depth(void *userdata) {
        AgentSignals s;

        agents_signals(userdata, &s);
        return (double) s.depth;
}

static double read_dead(void *userdata) {
        AgentSignals s;

        agents_signals(userdata, &s);
        return (double) s.dead;
}

static int agent_metrics_advise(const char *agent_type, SandboxLimits *limits, void *userdata) {
        return observe_recommended(userdata, agent_type, limits);
}

int agent_metrics_start(AgentMetrics *m, Observe *o, Agents *a, Error *reterr) {
        int r;

        *m = (AgentMetrics) {
                .observe = o,
                .agents = a,
                .observer = { .queued = on_queued, .began = on_began, .ended = agent_metrics_on_ended, .forgotten = on_forgotten, .userdata = m },
        };
        agents_observe(a, &m->observer);
        agents_set_advice(a, agent_metrics_advise, o);
        set_gauges(m);
        r = observe_set_source(o, SIGNAL_QUEUE_DEPTH, read_depth, a);
        if (r >= 0)
                r = observe_set_source(o, SIGNAL_DEAD_LETTERS, read_dead, a);
        return r < 0 ? error_set(reterr, r, "cannot give a signal another source: %m") : 0;
}
