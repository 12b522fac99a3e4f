/* agents.h: what the handlers of agent executions share among themselves. */
#pragma once

#include "agent/agent.h"
#include "api/native/native.h"

/* Keeps the request until the execution has ended, or for so long (USEC_INFINITY: for ever), and answers with what it is by then. The
 * execution goes on when its client does not wait any more. */
int agent_answer_end(ApiRequest *q, const char *id, usec_t wait_usec);

/* Answers with the execution as it is. */
int agent_answer(ApiRequest *q, unsigned status, const char *id);

/* What a call of the room said. */
int agent_error(ApiRequest *q, int r, const Error *error);

/* NULL: answered with 501. */
Agents *agent_room(ApiRequest *q);

/* agents-list.c: the handlers whose routes are agents.c's. */
void native_agent_list(ApiRequest *q);
void native_agent_get(ApiRequest *q);
void native_agent_logs(ApiRequest *q);
void native_agent_cancel(ApiRequest *q);
void native_agent_retry(ApiRequest *q);
void native_agent_delete(ApiRequest *q);
void native_agent_queue(ApiRequest *q);
extern const Shape native_agent_queue_answer;
