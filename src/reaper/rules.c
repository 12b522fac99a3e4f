/* rules.c: decides which sandboxes and records are to be removed. Changes nothing.
 *
 * A rule is a line of the table: its name, the states that it applies to, and its function. The first that holds is the
 * answer. */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "reaper/internal.h"

#define TELLABLE_USEC (10 * USEC_PER_MSEC)
#define FOREVER_USEC  (20 * 365 * 86400 * USEC_PER_SEC)
#define STATUS_BIT(s) (1u << (s))
#define LIVE   (STATUS_BIT(SANDBOX_READY) | STATUS_BIT(SANDBOX_RUNNING) | STATUS_BIT(SANDBOX_STOPPED))
#define PUT_ASIDE STATUS_BIT(SANDBOX_PAUSED)
#define ENDED  (STATUS_BIT(SANDBOX_COMPLETED) | STATUS_BIT(SANDBOX_FAILED) | STATUS_BIT(SANDBOX_TERMINATED))

#define SWEEP_RULES                                                                                          \
        (RULE_BIT(RULE_ORPHANED) | RULE_BIT(RULE_STUCK) | RULE_BIT(RULE_OVERDUE) | RULE_BIT(RULE_OVERRUN) | \
         RULE_BIT(RULE_UNENDED) | RULE_BIT(RULE_OLD))

static const unsigned rules_of[_CLEANUP_KIND_MAX] = {
        [CLEANUP_SWEEP] = SWEEP_RULES,
        [CLEANUP_AGE] = RULE_BIT(RULE_AGED),
        [CLEANUP_MANUAL] = SWEEP_RULES | RULE_BIT(RULE_AGED) | RULE_BIT(RULE_FAILED),
        [CLEANUP_EMERGENCY] = RULE_BIT(RULE_EMERGENCY),
};

bool sandbox_is_agents(const Sandbox *sb) {
        return (sb->spec.profile && *sb->spec.profile) || (sb->spec.agent_type && *sb->spec.agent_type);
}

static const Profile *profile_of(const Config *c, const Sandbox *sb) {
        const Profile *p = sb->spec.profile && *sb->spec.profile ? profile_find(c, sb->spec.profile) : NULL;

        if (!p && sb->spec.agent_type && *sb->spec.agent_type)
                p = profile_find(c, sb->spec.agent_type);
        return p;
}

/* The longest time that a command of the sandbox may run; if the profile is gone, the limit that the sandbox
 * was made with. */
usec_t judge_wall(const Config *c, const Sandbox *sb) {
        const Profile *p = profile_of(c, sb);

        return p ? p->wall_usec : sb->spec.limits.exec_timeout_usec;
}

usec_t judge_stuck_after(const Config *c, const Sandbox *sb) {
        const Profile *p = profile_of(c, sb);
        usec_t stuck = p && p->stuck_usec > 0 ? p->stuck_usec : c->cleanup.stuck_timeout_usec, wall = judge_wall(c, sb);

        return MAX_OF(stuck, wall);
}

/* The lateness allowed to an event that should happen by itself. */
static usec_t grace(const Config *c) {
        return MIN_OF(GRACE_MAX, c->cleanup.orphan_timeout_usec);
}

static const Execution *oldest_alive(const Sandbox *sb) {
        const Execution *x, *next, *oldest = NULL;

        if (sb->n_alive == 0)
                return NULL;
        HASH_ITER(hh, sb->executions, x, next)
                if (!execution_ended(x) && (!oldest || x->born < oldest->born))
                        oldest = x;
        return oldest;
}

#define SECONDS(usec) ((double) (usec) / (double) USEC_PER_SEC)

static bool rules_say(char text[static CLEANUP_TEXT_MAX], const char *format, ...) _printf_(2, 3);
static bool rules_say(char text[static CLEANUP_TEXT_MAX], const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(text, CLEANUP_TEXT_MAX, format, ap);
        va_end(ap);
        return true;
}

static bool is_orphaned(const Judge *j, const Sandbox *sb, char *text) {
        usec_t age = sandbox_age(sb), limit = j->settings->cleanup.orphan_timeout_usec;

        return age > limit && rules_say(text, "orphaned: initializing for %.1f s, longer than %.1f s", SECONDS(age), SECONDS(limit));
}

static bool is_stuck(const Judge *j, const Sandbox *sb, char *text) {
        const Execution *x = sandbox_is_agents(sb) ? oldest_alive(sb) : NULL;
        usec_t age = x ? execution_age(x) : 0, limit = judge_stuck_after(j->settings, sb);

        return x && limit > 0 && age > limit &&
                        rules_say(text, "stuck: %s runs for %.1f s, longer than %.1f s", x->id, SECONDS(age), SECONDS(limit));
}

static bool is_overdue(const Judge *j, const Sandbox *sb, char *text) {
        usec_t late = sb->expires_at > 0 ? sandbox_since(sb, sb->expires_at) : 0;

        return late > grace(j->settings) && rules_say(text, "overdue: its timeout passed %.1f s ago", SECONDS(late));
}

static usec_t limit_of(const Execution *x) {
        return x->spec.has_timeout ? x->spec.timeout_usec : x->sandbox->spec.limits.exec_timeout_usec;
}

static bool is_overrun(const Judge *j, const Sandbox *sb, char *text) {
        const Execution *x, *next;

        if (sb->n_alive == 0)
                return false;
        HASH_ITER(hh, sb->executions, x, next) {
                usec_t limit = limit_of(x), age;

                if (execution_ended(x) || limit == 0)
                        continue;
                age = MIN_OF(execution_age(x), sandbox_since(sb, sb->changed_at) + limit); /* it may have been frozen for a while */
                if (age > limit + grace(j->settings))
                        return rules_say(text, "stuck: %s has been running for %.1f s, beyond its own limit of %.1f s", x->id, SECONDS(age),
                                        SECONDS(limit));
        }
        return false;
}

static bool is_unended(const Judge *j, const Sandbox *sb, char *text) {
        usec_t since = sandbox_since(sb, sb->changed_at);

        return since > grace(j->settings) && rules_say(text, "terminating for %.1f s", SECONDS(since));
}

static bool rules_is_old(const Judge *j, const Sandbox *sb, char *text) {
        usec_t since = sandbox_since(sb, sb->ended_at), limit = j->settings->cleanup.record_age_usec;

        return since > limit && rules_say(text, "old: ended %.1f s ago, kept for %.1f s", SECONDS(since), SECONDS(limit));
}

static bool is_failed(const Judge *j, const Sandbox *sb, char *text) {
        usec_t since = sandbox_since(sb, sb->ended_at);
        usec_t limit = j->has_max_age ? j->max_age : j->settings->cleanup.max_age_usec;

        return since > limit && rules_say(text, "failed %.1f s ago: %.150s", SECONDS(since), sb->reason ? sb->reason : "no reason given");
}

/* A sandbox whose command is within its execution time may stay, however old it is. */
static bool works(const Config *c, const Sandbox *sb) {
        const Execution *x = oldest_alive(sb);
        usec_t wall = judge_wall(c, sb);

        return x && (wall == 0 || execution_age(x) <= wall);
}

static bool is_aged(const Judge *j, const Sandbox *sb, char *text) {
        usec_t age = sandbox_since(sb, sandbox_owned_since(sb)), limit = j->settings->cleanup.max_age_usec;
        bool agents = sandbox_is_agents(sb);

        if (j->has_max_age)
                limit = j->max_age;
        else
                limit = MAX_OF(limit, judge_wall(j->settings, sb));
        if (!agents && (!j->has_max_age || sb->spec.critical))
                return false;
        if (age <= limit || (agents && works(j->settings, sb)))
                return false;
        return rules_say(text, "aged: %.1f s old, longer than %.1f s", SECONDS(age), SECONDS(limit));
}

static bool is_dispensable(const Judge *j, const Sandbox *sb, char *text) {
        return !sb->spec.critical && rules_say(text, "emergency: every sandbox that is not critical is removed");
}

static const struct {
        CleanupRule rule;
        unsigned states;
        bool pooled; /* also unclaimed pooled sandboxes */
        bool (*holds)(const Judge *j, const Sandbox *sb, char *text);
} rules[] = {
        { RULE_ORPHANED,  STATUS_BIT(SANDBOX_INITIALIZING),                    true,  is_orphaned    },
        { RULE_UNENDED,   STATUS_BIT(SANDBOX_TERMINATING),                     true,  is_unended     },
        { RULE_OLD,       ENDED,                                               true,  rules_is_old         },
        { RULE_FAILED,    STATUS_BIT(SANDBOX_FAILED),                          true,  is_failed      },
        { RULE_OVERDUE,   LIVE,                                                true,  is_overdue     },
        { RULE_STUCK,     STATUS_BIT(SANDBOX_RUNNING),                         false, is_stuck       },
        { RULE_OVERRUN,   STATUS_BIT(SANDBOX_RUNNING),                         false, is_overrun     },
        { RULE_AGED,      LIVE,                                                false, is_aged        },
        { RULE_EMERGENCY, LIVE | PUT_ASIDE | STATUS_BIT(SANDBOX_INITIALIZING), true,  is_dispensable },
};

void judge_for(const Reaper *r, const CleanupRequest *q, Judge *ret) {
        *ret = (Judge) {
                .settings = r->manager->settings,
                .rules = rules_of[q->kind],
                .has_max_age = q->has_max_age,
                .max_age = q->max_age_usec,
        };
}

CleanupRule judge_sandbox(const Judge *j, const Sandbox *sb, char text[static CLEANUP_TEXT_MAX]) {
        for (size_t i = 0; i < ELEMENTSOF(rules); i++)
                if ((j->rules & RULE_BIT(rules[i].rule)) && (rules[i].states & STATUS_BIT(sb->status)) &&
                                (rules[i].pooled || !sb->pooled) && rules[i].holds(j, sb, text))
                        return rules[i].rule;
        return RULE_NONE;
}

unsigned judge_count(const Manager *m, unsigned which) {
        Judge j = { .settings = m->settings, .rules = which };
        char text[CLEANUP_TEXT_MAX];
        const Sandbox *sb, *next;
        unsigned n = 0;

        HASH_ITER(hh, m->sandboxes, sb, next)
                n += sandbox_status_is_live(sb->status) && judge_sandbox(&j, sb, text) != RULE_NONE;
        return n;
}

/* Made-up sandboxes, which are in no table: each is tested with an age that its rule must find, and with one
 * that no rule may find. */

typedef struct Case {
        const char *name;
        SandboxStatus status;
        CleanupRule rule;
        usec_t age;
} Case;

static CleanupRule judge_case(JudgeFunction judge, const Config *settings, const Case *k, bool fresh) {
        Judge j = { .settings = settings, .rules = SWEEP_RULES | RULE_BIT(RULE_AGED) };
        usec_t now = clock_wall_usec(), age = fresh ? 0 : k->age + USEC_PER_SEC;
        Sandbox sb = {
                .status = k->status,
                .spec.agent_type = (char *) (k->rule == RULE_STUCK || k->rule == RULE_AGED ? "ELICITATION" : ""),
                .created_at = now - age,
                .changed_at = now - age,
                .ended_at = sandbox_status_is_ended(k->status) ? now - age : 0,
                .born = (int64_t) clock_usec() - (int64_t) age,
        };
        Execution x = { .sandbox = &sb, .id = "e1", .status = EXECUTION_RUNNING, .spec.has_timeout = true, .born = sb.born };
        char text[CLEANUP_TEXT_MAX];
        CleanupRule found;

        if (k->status == SANDBOX_RUNNING) {
                HASH_ADD_STR(sb.executions, id, &x);
                sb.n_alive = sb.executions ? 1 : 0;
        }
        found = judge(&j, &sb, text);
        if (sb.executions)
                HASH_DEL(sb.executions, &x);
        return found;
}

bool judge_self_test(JudgeFunction judge, const Config *settings, char text[static CLEANUP_TEXT_MAX]) {
        const Sandbox agents = { .spec.agent_type = (char *) "ELICITATION" };
        const usec_t wall = judge_wall(settings, &agents);
        const Case cases[] = {
                { "orphaned", SANDBOX_INITIALIZING, RULE_ORPHANED, settings->cleanup.orphan_timeout_usec },
                { "stuck",    SANDBOX_RUNNING,      RULE_STUCK,    judge_stuck_after(settings, &agents) },
                { "old",      SANDBOX_TERMINATED,   RULE_OLD,      settings->cleanup.record_age_usec },
                { "aged",     SANDBOX_READY,        RULE_AGED,     MAX_OF(settings->cleanup.max_age_usec, wall) },
                { "unended",  SANDBOX_TERMINATING,  RULE_UNENDED,  grace(settings) },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                if (cases[i].age < TELLABLE_USEC || cases[i].age > FOREVER_USEC)
                        continue; /* the rule is off, or so short that a fresh sandbox breaks it too */
                if (judge_case(judge, settings, &cases[i], /* fresh= */ false) != cases[i].rule)
                        return !rules_say(text, "self-test: a sample sandbox that is %s was not found", cases[i].name);
                if (judge_case(judge, settings, &cases[i], /* fresh= */ true) != RULE_NONE)
                        return !rules_say(text, "self-test: a healthy sample sandbox was found to be %s", cases[i].name);
        }
        return true;
}
