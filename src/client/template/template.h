/* template.h: shared by the files of `cove template`. Each verb is an entry of the table in template.c. */
#pragma once

#include "base/strv.h"
#include "client/ask.h"
#include "client/template/making.h"

typedef struct TemplateOptions {
        Common common;
        MakingLook look;
        const char *user;
        bool password_stdin, dry_run;
        /* of build */
        const char *file, *tag, *target, *network, *recipe;
        bool no_cache;
        Strv arguments, allow;
} TemplateOptions;

/* template-build.c */
OPTION_KIND(template_argument);
int template_build(const Place *place, void *options, const Operands *words);
int template_recipes(const Place *place, void *options, const Operands *words);

/* template-get.c */
int template_import(const Place *place, void *options, const Operands *words);
int template_transfer(const Place *place, void *options, const Operands *words); /* pull and push */
