/* coderun.h: runs one piece of code in a context, as the answer to a request: as a stream of events, or whole
 * at the end.
 *
 * The context is found or started first; the surface words errors up to that point. After that: a client that
 * leaves interrupts the code; the death of the interpreter is an error event; the death of the sandbox breaks
 * the connection off. Lines are plain ASCII (\u escapes), so that a client may split them anywhere.
 * Must not know: routes, which surface asks. */
#pragma once

#include "api/surface.h"
#include "context/context.h"

typedef enum CodeFormat {
        CODE_JSON,   /* one object: executionCount, stdout, stderr, results, error */
        CODE_NDJSON,
        CODE_SSE,
} CodeFormat;

typedef struct CodeRunOptions {
        Context *context;     /* NULL: the language's default context */
        const char *language; /* canonical */
        const char *code;
        const Strv *env;
        usec_t timeout_usec;  /* as allowed by sandbox_execution_time(); 0: none */
        CodeFormat format;
        usec_t keepalive_usec;                              /* sent after such a time of silence; 0: never */
        const char *keepalive;                              /* a whole line or event */
        void (*fail)(ApiRequest *q, int r, const char *text); /* for errors before any answer */
} CodeRunOptions;

/* Call it while a context starts with the request as its userdata: the start forgets the request if the
 * client leaves. Uses q->state and q->destroy. */
void coderun_await_context(ApiRequest *q);

/* Keeps the request; answers at once or later. */
void coderun_answer(ApiRequest *q, const CodeRunOptions *options);
