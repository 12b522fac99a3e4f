/* cove agent: tasks of agents, each in a sandbox of its own. */

#include "client/agent/agent.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "client/human.h"
#include "client/verbs.h"

static const Option ls_options[] = {
        { "status", 's', "STATUS", "only these: queued, provisioning, running, completed, failed,\ndead, cancelled; several with commas", QUERY_TEXT("status") },
        { "type",   't', "TYPE",   "only of this agent type",       QUERY_TEXT("agentType") },
        { "task",   0,   "ID",     "only of this task",             QUERY_TEXT("taskId")    },
        { "limit",  'n', "N",      "at most N (default 100)", QUERY_TEXT("limit")     },
};

static const Option logs_options[] = {
        { "stream", 0, "NAME", "stdout or stderr (default: each on its own stream)", OPTION_OWN },
};

static int agent_priority(const Option *o, void *target, const char *value, Error *reterr) {
        uint64_t n;
        int r = option_number(o, &n, value[0] == '-' ? value + 1 : value, reterr);

        if (r >= 0)
                json_put_integer(&((Common *) target)->body, "priority", value[0] == '-' ? -(int64_t) n : (int64_t) n);
        return r;
}

static const Option run_options[] = {
        { "type",     't', "PROFILE",    "agent type: a profile (see `cove profile ls`)",         BODY_TEXT("agentType")             },
        { "task",     0,   "ID",         "id of the task",                                   BODY_TEXT("taskId")                },
        { "context",  'c', "JSON",       "JSON for the program; @FILE reads it from a file",  OPTION_OWN },
        { "code",     0,   "FILE",       "run this file's code instead of a command; - is stdin", OPTION_OWN },
        { "language", 'l', "NAME",       "language of the code (default python)",          BODY_TEXT("language")              },
        { "env",      'e', "NAME=VALUE", "set a variable; NAME alone passes the caller's value",        BODY_ENV("env")                    },
        { "timeout",  0,   "TIME",       "timeout of the program (default: the agent type's)",            BODY_SECONDS("timeoutSeconds")     },
        { "retries",  0,   "N",          "further attempts if the sandbox fails",                 BODY_NUMBER("maxRetries", 0, 10)   },
        { "priority", 'p', "N",          "from -100 to 100; higher ones run first",                   agent_priority, .max = 100         },
        { "capture",  0,   "PATTERN",    "keep files of the workspace, such as 'out/**'",         BODY_WORDS("capturePatterns", 64)  },
        { "webhook",  0,   "URL",        "URL to call when the execution ends",                                    BODY_TEXT("webhook")               },
        { "keep",     0,   NULL,         "keep the sandbox after the program has ended",          BODY_TRUE("keepSandbox")           },
        { "async",    'd', NULL,         "do not wait: print the execution's id",                 OPTION_OWN },
        { "quiet",    'q', NULL,         "only the program's own output",                         OPTION_OWN },
};

static const Column agent_columns[] = {
        { "ID", "id" },
        { "TASK", "taskId" },
        { "TYPE", "agentType" },
        { "STATUS", "status", cell_status },
        { "ATTEMPT", "attempt", cell_of, .unit = "maxAttempts" },
        { ">QUEUED", "timings.queuedMs", cell_span, .scale = 1000 },
        { ">RAN", "timings.executionMs", cell_span, .scale = 1000 },
        { "ERROR", "error.code" },
        { "CREATED", "createdAt" },
};

/* The program's output. */

ssize_t agent_copy_output(const Place *place, const char *id, const char *stream, uint64_t from, bool follow, int fd) {
        _cleanup_url_ Url u = url_of("/api/agents/executions/%s/logs?stream=%s&from=%llu&follow=%s", id,
                        stream, (unsigned long long) from, follow ? "true" : "false");
        ClientFile file = { .fd = fd, .name = stream };
        int r = client_receive(place, &u, "application/octet-stream", client_file_take, &file, /* error= */ NULL);

        return r < 0 ? r : (ssize_t) file.size;
}

static int agent_logs(const Place *place, void *options, const Operands *words) {
        static const struct {
                const char *name;
                int fd;
        } streams[] = { { "stdout", STDOUT_FILENO }, { "stderr", STDERR_FILENO } };
        const Common *o = options;

        if (common_said(o, "stream")) /* the daemon checks that there is such a stream */
                return agent_copy_output(place, words->items[0], common_said(o, "stream"), 0, /* follow= */ false, STDOUT_FILENO) < 0 ? EXIT_OWN_FAILURE : 0;
        for (size_t i = 0; i < ELEMENTSOF(streams); i++)
                if (agent_copy_output(place, words->items[0], streams[i].name, 0, /* follow= */ false, streams[i].fd) < 0)
                        return EXIT_OWN_FAILURE;
        return 0;
}

/* The queue. */

static void print_waits(const json_t *waits) {
        static const char *const keys[][2] = { { "p50Ms", "p50" }, { "p95Ms", "p95" }, { "p99Ms", "p99" } };
        char text[HUMAN_MAX];

        for (size_t i = 0; i < ELEMENTSOF(keys); i++)
                printf("wait %-12s %s\n", keys[i][1], human_span((usec_t) (json_get_number(waits, keys[i][0], 0) * 1000), text));
}

static void agent_show_queue(const json_t *queue, const char *word) {
        static const char *const counts[][2] = {
                { "depth", "waiting" }, { "delayed", "of them later" }, { "active", "active" }, { "running", "running" }, { "deadLetters", "dead letters" },
        };
        char text[HUMAN_MAX];
        const char *key;
        json_t *value;

        for (size_t i = 0; i < ELEMENTSOF(counts); i++)
                printf("%-17s %lld\n", counts[i][1], json_count(queue, counts[i][0]));
        printf("%-17s %s\n", "longest wait now", human_span((usec_t) (json_get_number(queue, "oldestWaitMs", 0) * 1000), text));
        print_waits(json_object_get(queue, "waits"));
        json_object_foreach(json_object_get(queue, "byPriority"), key, value)
                printf("priority %-8s %lld\n", key, (long long) json_integer_value(value));
}

static const Verb agent_parts[] = {
        { "run", "agent run --type TYPE --task ID [options] [-- COMMAND [ARG…]]",
          "Runs a task of an agent in a sandbox of its own and exits with its status. Ctrl-C ends this\n"
          "program only: the execution continues, and `cove agent cancel` ends it.",
          .more = "Without COMMAND and --code, runs the command of the agent type. With --json the whole result\n"
                  "is printed as one document at the end.\n\n"
                  "exit status: the program's own, as of `cove exec`; 125 if cove itself or all attempts failed.",
          VERB_OPTIONS(run_options), .operands_max = VERB_ANY_NUMBER, .options_until = 1, .run = agent_run, .method = "POST",
          .path = "/api/agents/execute", .body = "{\"async\":true}", .prints = "id" },
        { "ls", "agent ls [options]", "Lists agent executions, newest first.", .more = "Example: cove agent ls --status dead",
          VERB_OPTIONS(ls_options), .path = "/api/agents/executions", VERB_COLUMNS(agent_columns) },
        { "show", "agent show ID [options]", "Shows the details of an agent execution.", VERB_ONE("no execution given"),
          .path = "/api/agents/executions/%", .show = show_pretty },
        { "logs", "agent logs ID [options]", "Prints the output of an agent execution's program.", VERB_OPTIONS(logs_options),
          VERB_ONE("no execution given"), .run = agent_logs },
        { "cancel", "agent cancel ID… [options]", "Ends agent executions in any state.", VERB_SOME("no execution given"),
          VERB_POST("/api/agents/executions/%/cancel"), .each = true, .lines = true },
        { "retry", "agent retry ID… [options]", "Sends dead letters again, with all their attempts.", VERB_SOME("no execution given"),
          VERB_POST("/api/agents/executions/%/retry"), .each = true, .lines = true },
        { "rm", "agent rm ID… [options]", "Deletes agent executions that have ended, with their artifacts.", VERB_SOME("no execution given"),
          VERB_DELETE("/api/agents/executions/%"), .lines = true },
        { "queue", "agent queue [options]", "Shows how many agent executions wait, and for how long.", .path = "/api/agents/queue",
          .show = agent_show_queue },
};

const Verb command_agent = {
        .name = "agent",
        .about = "Runs tasks of agents, each in a sandbox of its own, through a queue that survives restarts.",
        VERB_PARTS(agent_parts),
};
