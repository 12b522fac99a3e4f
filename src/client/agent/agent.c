/* cove agent: tasks of agents, each in a sandbox of its own. */

#include "client/agent/agent.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "client/human.h"
#include "client/sandbox/several.h"
#include "client/table.h"
#include "client/verbs.h"

void url_agent(Url *u, const char *id, const char *what) {
        url_begin(u, "/api/agents/executions");
        url_part(u, id);
        if (what)
                url_part(u, what);
}

/* Listing. */

APPLY_TEXT(AgentOptions, type)
APPLY_TEXT(AgentOptions, task)
APPLY_TEXT(AgentOptions, status)
APPLY_TEXT(AgentOptions, limit)
APPLY_TEXT(AgentOptions, stream)

static const Option ls_options[] = {
        { "status", 's', "STATUS", "only these: queued, provisioning, running, completed, failed,\ndead, cancelled; several with commas", apply_status },
        { "type",   't', "TYPE",   "only of this agent type",                        apply_type   },
        { "task",   0,   "ID",     "only of this task",                              apply_task   },
        { "limit",  'n', "N",      "at most so many (default 100)",                  apply_limit  },
        COMMON_OPTIONS,
};

static const Option logs_options[] = {
        { "stream", 0, "NAME", "stdout or stderr (default: both, each to its own)", apply_stream },
        COMMON_OPTIONS,
};

static const Option plain_options[] = { COMMON_OPTIONS };

static const Usage ls_usage = {
        .synopsis = "agent ls [options]",
        .about = "Lists agent executions, the newest first.",
        .more = "Example: cove agent ls --status dead",
        USAGE_OPTIONS(ls_options),
};

#define OF_SOME(verb_name, sentence)                                                                         \
        {                                                                                                    \
                .synopsis = "agent " verb_name " ID… [options]", .about = sentence, USAGE_OPTIONS(plain_options), \
                .operands_min = 1, .operands_max = USAGE_ANY_NUMBER, .missing = "no execution given",        \
        }

static const Usage cancel_usage = OF_SOME("cancel", "Ends agent executions, wherever they stand.");
static const Usage retry_usage = OF_SOME("retry", "Sends dead letters again, with all their attempts.");
static const Usage rm_usage = OF_SOME("rm", "Forgets agent executions that have ended, with what was kept of them.");

static const Usage show_usage = {
        .synopsis = "agent show ID [options]",
        .about = "Tells all about an agent execution.",
        USAGE_OPTIONS(plain_options),
        .operands_min = 1,
        .operands_max = 1,
        .missing = "no execution given",
};

static const Usage logs_usage = {
        .synopsis = "agent logs ID [options]",
        .about = "Prints what the program of an agent execution has written.",
        USAGE_OPTIONS(logs_options),
        .operands_min = 1,
        .operands_max = 1,
        .missing = "no execution given",
};

static const Usage queue_usage = {
        .synopsis = "agent queue [options]",
        .about = "Shows how long the queue of agent executions is, and how long they wait.",
        USAGE_OPTIONS(plain_options),
};

static void cell_span(Table *t, const json_t *timings, const char *key) {
        double ms = json_get_number(timings, key, -1);
        char text[HUMAN_MAX];

        table_cell(t, ms < 0 ? NULL : human_span((usec_t) (ms * 1000), text));
}

static void agent_add_row(Table *t, const json_t *x) {
        const json_t *timings = json_object_get(x, "timings");
        const char *status = json_get_text_or(x, "status", "");

        table_cell(t, json_get_text(x, "id"));
        table_cell(t, json_get_text(x, "taskId"));
        table_cell(t, json_get_text(x, "agentType"));
        table_cell_colour(t, status, colour_of_status(strcmp(status, "dead") == 0 ? "failed" : status));
        table_cell_format(t, "%lld/%lld", (long long) json_get_integer(x, "attempt", 0), (long long) json_get_integer(x, "maxAttempts", 0));
        cell_span(t, timings, "queuedMs");
        cell_span(t, timings, "executionMs");
        table_cell(t, json_get_text(json_object_get(x, "error"), "code"));
        table_cell(t, json_get_text(x, "createdAt"));
}

static int agent_list(const Place *place, void *options, const Operands *words) {
        static const char *const heads[] = { "ID", "TASK", "TYPE", "STATUS", "ATTEMPT", ">QUEUED", ">RAN", "ERROR", "CREATED", NULL };
        const AgentOptions *o = options;
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };

        url_begin(&u, "/api/agents/executions");
        url_query(&u, "status", o->status);
        url_query(&u, "agentType", o->type);
        url_query(&u, "taskId", o->task);
        url_query(&u, "limit", o->limit);
        if (client_need(place, /* method= */ NULL, &u, /* body= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        return subverb_show_list(&a, o->common.json, heads, agent_add_row);
}

/* One. */

static int agent_show(const Place *place, void *options, const Operands *words) {
        const AgentOptions *o = options;
        _cleanup_free_ char *text = NULL;
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };

        url_agent(&u, words->items[0], /* what= */ NULL);
        if (client_need(place, /* method= */ NULL, &u, /* body= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        text = o->common.json ? NULL : client_json_print(a.json, /* pretty= */ true);
        if (text)
                puts(text);
        else
                answer_print(&a);
        return 0;
}

typedef struct AgentCopy {
        int fd;
        uint64_t n;
} AgentCopy;

static int copy_on(void *userdata, const void *data, size_t size) {
        AgentCopy *c = userdata;
        int r = fd_write_all(c->fd, data, size);

        c->n += r < 0 ? 0 : size;
        return r;
}

ssize_t agent_copy_output(const Place *place, const char *id, const char *stream, uint64_t from, bool follow, int fd) {
        Request q = REQUEST_INIT;
        _cleanup_url_ Url u = { 0 };
        AgentCopy copy = { .fd = fd };
        int r;

        url_agent(&u, id, "logs");
        url_query(&u, "stream", stream);
        url_query_number(&u, "from", from);
        url_query(&u, "follow", follow ? "true" : "false");
        if (u.error < 0)
                return u.error;
        q.path = u.text;
        q.accept = "application/octet-stream";
        q.sink = copy_on;
        q.sink_data = &copy;
        r = client_transfer(place, &q, /* error= */ NULL, /* ret_head= */ NULL);
        return r < 0 ? r : (ssize_t) copy.n;
}

static int logs(const Place *place, void *options, const Operands *words) {
        static const struct {
                const char *name;
                int fd;
        } streams[] = { { "stdout", STDOUT_FILENO }, { "stderr", STDERR_FILENO } };
        const AgentOptions *o = options;

        if (o->stream) /* the daemon says whether there is such a one */
                return agent_copy_output(place, words->items[0], o->stream, 0, /* follow= */ false, STDOUT_FILENO) < 0 ? EXIT_OWN_FAILURE : 0;
        for (size_t i = 0; i < ELEMENTSOF(streams); i++)
                if (agent_copy_output(place, words->items[0], streams[i].name, 0, /* follow= */ false, streams[i].fd) < 0)
                        return EXIT_OWN_FAILURE;
        return 0;
}

static int ask_all(const Place *place, void *options, const Operands *words, const char *method, const char *what) {
        const AgentOptions *o = options;
        int status = 0;

        for (unsigned i = 0; i < words->n; i++) {
                _cleanup_builder_ JsonBuilder b = { 0 };
                _cleanup_answer_ Answer a = { 0 };
                _cleanup_url_ Url u = { 0 };

                url_agent(&u, words->items[i], what);
                if (client_need(place, method, &u, what ? &b : NULL, &a) < 0)
                        status = EXIT_OWN_FAILURE;
                else if (o->common.json)
                        answer_print(&a);
                else
                        puts(words->items[i]);
        }
        return status;
}

static int agent_cancel(const Place *place, void *options, const Operands *words) {
        return ask_all(place, options, words, "POST", "cancel");
}

static int agent_retry(const Place *place, void *options, const Operands *words) {
        return ask_all(place, options, words, "POST", "retry");
}

static int agent_remove_some(const Place *place, void *options, const Operands *words) {
        return ask_all(place, options, words, "DELETE", /* what= */ NULL);
}

/* The queue. */

static void print_waits(const json_t *waits) {
        static const char *const keys[][2] = { { "p50Ms", "p50" }, { "p95Ms", "p95" }, { "p99Ms", "p99" } };
        char text[HUMAN_MAX];

        for (size_t i = 0; i < ELEMENTSOF(keys); i++)
                printf("wait %-12s %s\n", keys[i][1], human_span((usec_t) (json_get_number(waits, keys[i][0], 0) * 1000), text));
}

static int agent_queue(const Place *place, void *options, const Operands *words) {
        static const char *const counts[][2] = {
                { "depth", "waiting" }, { "delayed", "of them later" }, { "active", "active" }, { "running", "running" }, { "deadLetters", "dead letters" },
        };
        const AgentOptions *o = options;
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };
        char text[HUMAN_MAX];
        const char *key;
        json_t *value;

        url_begin(&u, "/api/agents/queue");
        if (client_need(place, /* method= */ NULL, &u, /* body= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (o->common.json) {
                answer_print(&a);
                return 0;
        }
        for (size_t i = 0; i < ELEMENTSOF(counts); i++)
                printf("%-17s %lld\n", counts[i][1], (long long) json_get_integer(a.json, counts[i][0], 0));
        printf("%-17s %s\n", "longest wait now", human_span((usec_t) (json_get_number(a.json, "oldestWaitMs", 0) * 1000), text));
        print_waits(json_object_get(a.json, "waits"));
        json_object_foreach(json_object_get(a.json, "byPriority"), key, value)
                printf("priority %-8s %lld\n", key, (long long) json_integer_value(value));
        return 0;
}

int verb_agent(int argc, char **argv) {
        static const Subverb subverbs[] = {
                { "run", &agent_run_usage, agent_run },
                { "ls", &ls_usage, agent_list },
                { "show", &show_usage, agent_show },
                { "logs", &logs_usage, logs },
                { "cancel", &cancel_usage, agent_cancel },
                { "retry", &retry_usage, agent_retry },
                { "rm", &rm_usage, agent_remove_some },
                { "queue", &queue_usage, agent_queue },
        };
        AgentOptions o = { .env = STRV_INIT(1024), .patterns = STRV_INIT(64) };
        int status = subverb_run("agent", "Runs tasks of agents, each in a sandbox of its own, through a queue that survives everything.", subverbs,
                        ELEMENTSOF(subverbs), argc, argv, &o);

        strv_done(&o.env);
        strv_done(&o.patterns);
        return status;
}
