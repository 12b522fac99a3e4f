#include "cli/meant.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/word.h"

/* The words of container tools and of other sandboxes' programs. */
static const struct {
        const char *word, *instead;
} aliases[] = {
        { "auth",       "`cove key create`"                           },
        { "bash",       "`cove shell SANDBOX`"                        },
        { "build",      "`cove template build -t NAME DIR`"           },
        { "checkpoint", "`cove snapshot create SANDBOX`"              },
        { "connect",    "`cove shell SANDBOX`"                        },
        { "container",  "`cove ls`, `cove create`, `cove rm`"         },
        { "containers", "`cove ls`"                                   },
        { "copy",       "`cove cp`"                                   },
        { "daemon",     "`cove serve`"                                },
        { "del",        "`cove rm`"                                   },
        { "delete",     "`cove rm`"                                   },
        { "describe",   "`cove inspect SANDBOX`"                      },
        { "destroy",    "`cove rm`"                                   },
        { "download",   "`cove cp SANDBOX:PATH PATH`"                 },
        { "enter",      "`cove shell SANDBOX`"                        },
        { "events",     "`cove logs SANDBOX`"                         },
        { "export",     "`cove snapshot create SANDBOX`"              },
        { "get",        "`cove inspect SANDBOX`"                      },
        { "history",    "`cove template inspect NAME`"                },
        { "image",      "`cove template`"                             },
        { "images",     "`cove template ls`"                          },
        { "import",     "`cove template import NAME FILE`"            },
        { "info",       "`cove health`, or `cove inspect SANDBOX`"    },
        { "init",       "`cove create`"                               },
        { "keys",       "`cove key ls`"                               },
        { "kill",       "`cove rm -f SANDBOX`"                        },
        { "launch",     "`cove create`"                               },
        { "list",       "`cove ls`"                                   },
        { "load",       "`cove template import NAME FILE`"            },
        { "login",      "`cove template pull -u NAME IMAGE`, or `cove key create`" },
        { "new",        "`cove create`"                               },
        { "node",       "`cove code SANDBOX -l javascript`"           },
        { "port",       "`cove ports SANDBOX`"                        },
        { "prune",      "`cove cleanup`, or `cove template gc`"       },
        { "pull",       "`cove template pull IMAGE`"                  },
        { "push",       "`cove template push NAME IMAGE`"             },
        { "python",     "`cove code SANDBOX`"                         },
        { "python3",    "`cove code SANDBOX`"                         },
        { "remove",     "`cove rm`"                                   },
        { "restart",    "`cove stop SANDBOX`, then `cove start SANDBOX`" },
        { "rmi",        "`cove template rm NAME`"                     },
        { "sandbox",    "the verb alone: `cove ls`, `cove create`, `cove rm`" },
        { "sandboxes",  "`cove ls`"                                   },
        { "save",       "`cove snapshot create SANDBOX`"              },
        { "search",     "`cove template ls`, or `cove template recipes`" },
        { "server",     "`cove serve`"                                },
        { "sh",         "`cove shell SANDBOX`"                        },
        { "show",       "`cove inspect SANDBOX`"                      },
        { "spawn",      "`cove create`"                               },
        { "ssh",        "`cove shell SANDBOX`"                        },
        { "status",     "`cove health`, or `cove inspect SANDBOX`"    },
        { "tag",        "`cove template build -t NAME:TAG DIR`"       },
        { "terminal",   "`cove shell SANDBOX`"                        },
        { "unpause",    "`cove resume SANDBOX`"                       },
        { "update",     "`cove timeout SANDBOX TIME`, or a new sandbox with other limits" },
        { "upload",     "`cove cp PATH SANDBOX:PATH`"                 },
};

static const char *const verb_names[] = {
#define VERB(name, program, group, help) "`cove " #name "`",
#include "cli/verbs.def"
#undef VERB
};

/* Compares the word with NAME of "`cove NAME`". */
static bool is_nearer_verb(const char *word, const char *quoted, unsigned *best) {
        char name[32];

        (void) snprintf(name, sizeof(name), "%.*s", (int) strcspn(quoted + strlen("`cove "), "`"), quoted + strlen("`cove "));
        return word_is_nearer(word, name, best);
}

const char *verb_meant(const char *word) {
        unsigned best = word_tolerance(word);
        const char *found = NULL;

        for (size_t i = 0; i < ELEMENTSOF(aliases); i++)
                if (strcmp(word, aliases[i].word) == 0)
                        return aliases[i].instead;
        for (size_t i = 0; i < ELEMENTSOF(verb_names); i++)
                if (is_nearer_verb(word, verb_names[i], &best))
                        found = verb_names[i];
        return found;
}
