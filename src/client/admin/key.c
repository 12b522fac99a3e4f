/* cove key: API keys. */

#include "client/ask.h"
#include "client/verbs.h"

static const Option create_options[] = {
        { "scope",  's', "SCOPE", "read, use (default) or admin",              BODY_TEXT("scope")  },
        { "tenant", 't', "TENANT", "the tenant that it belongs to",            BODY_TEXT("tenant") },
        { "profile", 0,  "PROFILE", "the profile that it is bound to",           BODY_TEXT("profile") },
        { "loosen", 0,   NULL,    "it may ask for more than a profile allows", BODY_TRUE("loosen") },
};

static const Column key_columns[] = {
        { "ID", "id" },           { "NAME", "name" },      { "SCOPE", "scope" }, { "TENANT", "tenant" }, { "PROFILE", "profile" },
        { "BEGINS", "prefix" }, { "MADE", "createdAt" }, { "LAST USED", "lastUsedAt", .otherwise = "never" },
};

static const Verb key_parts[] = {
        { "create", "key create NAME [options]", "Makes an API key and prints it. It is shown this once, and never again.",
          .more = "Example: COVE_API_KEY=$(cove key create ci --scope use)", VERB_OPTIONS(create_options), VERB_ONE("no name given"),
          .method = "POST", .path = "/api/key", .body = "{\"scope\":\"use\"}", .operand = "name", .prints = "key" },
        { "ls", "key ls [options]", "Lists the API keys; of each, only the beginning is known.", .path = "/api/key", VERB_COLUMNS(key_columns) },
        { "rm", "key rm ID… [options]", "Removes API keys. They are refused from then on.", VERB_SOME("no key given"), VERB_DELETE("/api/key/%") },
};

const Verb command_key = {
        .name = "key",
        .about = "Makes, lists and removes API keys: for clients that reach the daemon by TCP.",
        VERB_PARTS(key_parts),
};
