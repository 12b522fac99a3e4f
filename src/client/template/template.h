/* template.h: what the files of `cove template` share. A subverb is a line of the table in template.c. */
#pragma once

#include "base/strv.h"
#include "client/subverb.h"
#include "client/template/making.h"

typedef struct TemplateOptions {
        Common common;
        MakingLook look;
        const char *name, *platform, *user, *tenant;
        bool password_stdin, dry_run, all;
        /* of build */
        const char *file, *tag, *target, *network, *recipe;
        bool no_cache;
        Strv arguments, allow;
} TemplateOptions;

#define TEMPLATE_OPTIONS_INIT { .arguments = STRV_INIT(256), .allow = STRV_INIT(256) }

/* template-build.c */
extern const Usage template_build_usage, template_recipes_usage;
int template_build(const Place *place, void *options, const Operands *words);
int template_recipes(const Place *place, void *options, const Operands *words);

/* template-get.c */
extern const Usage template_pull_usage, template_import_usage, template_push_usage;
int template_pull(const Place *place, void *options, const Operands *words);
int template_import(const Place *place, void *options, const Operands *words);
int template_push(const Place *place, void *options, const Operands *words);

int template_apply_detach(void *target, const char *value, Error *reterr);
int template_apply_quiet(void *target, const char *value, Error *reterr);
#define TEMPLATE_MAKING_OPTIONS                                                                              \
        { "detach", 'd', NULL, "do not wait: print the id of the work", template_apply_detach },             \
        { "quiet",  'q', NULL, "no log, no progress",                   template_apply_quiet }
