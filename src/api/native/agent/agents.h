/* agents.h: shared by the handlers of agent executions. */
#pragma once

#include "agent/agent.h"
#include "api/native/native.h"

/* Keeps the request until the execution has ended, at most wait_usec (USEC_INFINITY: no limit), and answers
 * with its state. The execution continues if the client leaves. */
int agent_answer_end(ApiRequest *q, const char *id, usec_t wait_usec);

/* Answers with the current state of the execution. */
int agent_answer(ApiRequest *q, unsigned status, const char *id);

/* Answers with an error of the agents room. */
int agent_error(ApiRequest *q, int r, const Error *error);

/* NULL: answered with 501. */
Agents *agent_room(ApiRequest *q);

/* agents-list.c: handlers; agents.c has the routes. */
void native_agent_list(ApiRequest *q);
void native_agent_get(ApiRequest *q);
void native_agent_logs(ApiRequest *q);
void native_agent_cancel(ApiRequest *q);
void native_agent_retry(ApiRequest *q);
void native_agent_delete(ApiRequest *q);
void native_agent_queue(ApiRequest *q);
extern const Shape native_agent_queue_answer;
