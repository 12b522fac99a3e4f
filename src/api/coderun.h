/* coderun.h: one piece of code in a context, as the answer to a request: events as they come, or all of it at its end.
 *
 * The context is found or begun first; what fails until then is the surface's to put into words. From then on: whoever goes away interrupts the code; an interpreter
 * that dies is an error event; a sandbox that dies breaks the connection off. Lines are plain ASCII (\u escapes), so that a client may cut them anywhere.
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
        Context *context;     /* NULL: the default one of the language */
        const char *language; /* canonical */
        const char *code;
        const Strv *env;
        usec_t timeout_usec;  /* as sandbox_execution_time() allows it; 0: none */
        CodeFormat format;
        usec_t keepalive_usec;                              /* of silence; 0: none */
        const char *keepalive;                              /* a whole line or event */
        void (*fail)(ApiRequest *q, int r, const char *text); /* before anything was answered */
} CodeRunOptions;

/* A context begins for the request, which is the userdata: it is forgotten when the client leaves. Takes state and destroy. */
void coderun_await_context(ApiRequest *q);

/* Keeps the request; has answered, or will. */
void coderun_answer(ApiRequest *q, const CodeRunOptions *options);
