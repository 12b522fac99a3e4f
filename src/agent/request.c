/* request.c: makes a complete Job of a request, or refuses the request and names the wrong field. */

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/internal.h"
#include "agent/language.h"
#include "base/shape.h"
#include "config/config.h"
#include "core/allowance.h"
#include "core/enforce.h"
#include "core/profile.h"
#include "core/limits.h"
#include "core/secret.h"
#include "core/template.h"

#define LANGUAGE_DEFAULT "python"
#define SAFETY_TURNS     4 /* operations that may each take their full time before a sandbox is abandoned */

static int agent_request_refuse(const char **ret_field, const char *field, int r) {
        *ret_field = field;
        return r;
}

/* Names. */

static char *lower_copy(const char *text) {
        char *copy = strdup(text);

        for (char *p = copy; p && *p; p++)
                *p = (char) tolower((unsigned char) *p);
        return copy;
}

static int fill_names(const Principal *who, const AgentRequest *q, const Profile *p, Job *j) {
        SandboxSpec *s = &j->sandbox;
        int r = shape_text_set(&s->tenant, who->tenant ? who->tenant : "");

        if (r >= 0)
                r = shape_text_set(&s->task_id, q->task_id);
        if (r >= 0)
                r = shape_text_set(&s->profile, p->name);
        if (r >= 0 && q->template_name)
                r = shape_text_set(&s->template_name, q->template_name);
        if (r >= 0 && !s->template_name)
                r = shape_text_set(&s->template_name, "host");
        free(s->agent_type);
        s->agent_type = lower_copy(p->name);
        return r < 0 || !s->agent_type ? -ENOMEM : 0;
}

/* Limits. */

static int fill_limits(const Manager *m, const Principal *who, const AgentRequest *q, const Profile *p, Job *j, const char **ret_field, Error *reterr) {
        const TimeAsked time = q->time.said ? q->time : (TimeAsked) { .usec = p->wall_usec };
        char whose[PROFILE_NAME_MAX + sizeof("agent type ")];

        limits_lay_over(&j->sandbox.limits, &q->limits);
        if (allowance_check(m, who, &j->sandbox, reterr) < 0)
                return agent_request_refuse(ret_field, "limits", -EPERM);
        if (time.said && time.usec == 0)
                return agent_request_refuse(ret_field, "timeoutSeconds", error_set(reterr, -EINVAL, "must be more than 0"));
        (void) snprintf(whose, sizeof(whose), "agent type %s", p->name);
        if (allowance_time(who, &time, p->wall_usec, whose, &j->timeout_usec, reterr) < 0)
                return agent_request_refuse(ret_field, "timeoutSeconds", -EPERM);
        if (j->sandbox.limits.exec_timeout_usec > 0 && (j->timeout_usec == 0 || j->sandbox.limits.exec_timeout_usec < j->timeout_usec))
                j->timeout_usec = j->sandbox.limits.exec_timeout_usec;
        return 0;
}

/* Policy: the one of the profile. */

static int check_policy(const Enforce *e, const AgentRequest *q, const Job *j, const char **ret_field, Error *reterr) {
        int r = enforce_check_limits(e, &j->sandbox.limits, reterr);

        if (r < 0)
                return agent_request_refuse(ret_field, "limits", r);
        if (e->no_environment && q->env && q->env->n > 0)
                return agent_request_refuse(ret_field, "env", error_set(reterr, -EKEYREJECTED,
                                "the policy of agent type %s gives executions no variables (allowEnvironmentAccess is false)", j->sandbox.profile));
        if (!q->code || enforce_language_allowed(e, q->language ? q->language : LANGUAGE_DEFAULT))
                return 0;
        return agent_request_refuse(ret_field, "language", error_set(reterr, -ENOEXEC, "'%.60s' is not a language that the policy of agent type %s allows",
                        q->language ? q->language : LANGUAGE_DEFAULT, j->sandbox.profile));
}

/* Command. */

/* NULL: a template made of layers, which are not visible from here. */
static const char *template_root(const Manager *m, const char *name) {
        size_t n = strlen(name);

        if (template_builtin(name))
                return "/";
        for (size_t i = 0; m->config.templates && i < m->config.templates->n; i++) {
                const char *item = m->config.templates->items[i];

                if (strncmp(item, name, n) == 0 && item[n] == '=')
                        return item + n + 1;
        }
        return NULL;
}

static int agent_request_copy_list(Strv *to, const Strv *from, size_t max) {
        *to = (Strv) STRV_INIT(max);
        return strv_extend(to, from);
}

static int fill_code(const AgentRequest *q, const Enforce *e, const char *root, Job *j, const char **ret_field, Error *reterr) {
        const char *language = q->language ? q->language : LANGUAGE_DEFAULT, *file;
        char path[AGENT_PATH_MAX];
        int r;

        j->command = (Strv) STRV_INIT(JOB_COMMAND_MAX);
        r = language_find(language, root, &file, &j->command, reterr);
        if (r < 0)
                return agent_request_refuse(ret_field, "language", r == -ENOMEM ? r : -EINVAL);
        (void) snprintf(path, sizeof(path), "%s/%s/%s", enforce_workdir(e), AGENT_DIRECTORY, file);
        r = strv_push(&j->command, path);
        if (r >= 0)
                r = shape_text_set(&j->language, language);
        return r < 0 ? r : shape_text_set(&j->code, q->code);
}

static int fill_command(const Manager *m, const AgentRequest *q, const Enforce *e, const Profile *p, Job *j, const char **ret_field,
                Error *reterr) {
        const char *root = template_root(m, j->sandbox.template_name);

        if (!root && template_check(m, j->sandbox.tenant, j->sandbox.template_name, reterr) < 0)
                return agent_request_refuse(ret_field, "template", -EINVAL);
        if (q->command->n > 0 && q->code)
                return agent_request_refuse(ret_field, "code", error_set(reterr, -EINVAL, "cannot be given together with command"));
        if (q->language && !q->code)
                return agent_request_refuse(ret_field, "language", error_set(reterr, -EINVAL, "goes with code, and there is none"));
        if (q->code)
                return fill_code(q, e, root, j, ret_field, reterr);
        if (q->command->n > 0)
                return agent_request_copy_list(&j->command, q->command, JOB_COMMAND_MAX);
        if (p->command.n > 0)
                return agent_request_copy_list(&j->command, &p->command, JOB_COMMAND_MAX);
        return agent_request_refuse(ret_field, "command",
                        error_set(reterr, -EINVAL, "must be given, or code: agent type %s has no command of its own", p->name));
}

static int fill_rest(Agents *a, const AgentRequest *q, const Profile *p, Job *j) {
        const AgentsConfig *c = &a->manager->settings->agents;
        unsigned attempts = p->attempts_max > 0 ? p->attempts_max : c->attempts_max;
        int r = 0;

        j->attempts_max = q->has_retries ? q->retries + 1 : MAX_OF(attempts, 1U);
        j->priority = q->priority;
        j->capture_files = q->capture_files || (q->capture && q->capture->n > 0);
        j->keep_sandbox = q->keep_sandbox;
        for (size_t i = 0; q->env && i < q->env->n && r >= 0; i++)
                r = strv_set_env(&j->sandbox.env, q->env->items[i]);
        if (r >= 0)
                r = agent_request_copy_list(&j->capture, q->capture, JOB_PATTERNS_MAX);
        if (r >= 0)
                r = shape_text_set(&j->context, q->context ? q->context : "{}");
        if (r >= 0)
                r = shape_text_set(&j->webhook, q->webhook);
        return r < 0 ? r : shape_text_set(&j->idempotency_key, q->idempotency_key);
}

/* The sandbox ends by its timeout, even if no daemon ends it. */
static void set_safety(const Manager *m, Job *j) {
        const AgentsConfig *c = &m->settings->agents;

        j->sandbox.on_timeout = ON_TIMEOUT_KILL;
        j->sandbox.timeout_usec = j->timeout_usec == 0 ? 0
                        : j->timeout_usec + c->ready_timeout_usec + SAFETY_TURNS * c->operation_timeout_usec;
}

int request_make_job(Agents *a, const Principal *who, const AgentRequest *q, Job *j, const char **ret_field, Error *reterr) {
        Manager *m = a->manager;
        const Profile *p = profile_find(m->settings, q->agent_type);
        _cleanup_(enforce_done) Enforce e = { 0 };
        int r;

        *ret_field = NULL;
        if (!p)
                return agent_request_refuse(ret_field, "agentType", profile_unknown(m->settings, q->agent_type, reterr));
        if (q->webhook) {
                r = webhook_check(a, q->webhook, reterr);
                if (r < 0)
                        return agent_request_refuse(ret_field, "webhook", r);
        }
        sandbox_spec_defaults(&j->sandbox);
        r = profile_apply(p, &j->sandbox);
        if (r >= 0 && a->advice)
                (void) a->advice(p->name, &j->sandbox.limits, a->advice_data);
        if (r >= 0)
                r = enforce_read(m, j->sandbox.policy, &e, reterr);
        if (r >= 0)
                r = enforce_settle(m, &j->sandbox, reterr); /* defaults that the caller did not set are brought within the policy */
        if (r >= 0)
                r = fill_names(who, q, p, j);
        if (r >= 0)
                r = fill_limits(m, who, q, p, j, ret_field, reterr);
        if (r >= 0)
                r = check_policy(&e, q, j, ret_field, reterr);
        if (r >= 0)
                r = fill_command(m, q, &e, p, j, ret_field, reterr);
        if (r >= 0)
                r = fill_rest(a, q, p, j);
        if (r == -ENOMEM)
                return error_set(reterr, r, "out of memory");
        if (r < 0)
                return r;
        set_safety(m, j);
        (void) snprintf(j->id, sizeof(j->id), "run_");
        secret_random_hex(j->id + strlen("run_"), JOB_ID_LENGTH - strlen("run_"));
        j->created_at = j->queued_at = clock_wall_usec();
        j->exit_code = -1;
        return 0;
}
