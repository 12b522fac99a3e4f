/* cove key: API keys. */

#include "client/ask.h"
#include "client/verbs.h"

static const Option create_options[] = {
        { "scope",  's', "SCOPE", "read, use (default) or admin",              BODY_TEXT("scope")  },
        { "tenant", 't', "TENANT", "the tenant of the key",            BODY_TEXT("tenant") },
        { "profile", 0,  "PROFILE", "the profile that the key is bound to",           BODY_TEXT("profile") },
        { "loosen", 0,   NULL,    "permit requests beyond a profile's limits", BODY_TRUE("loosen") },
};

static const Column key_columns[] = {
        { "ID", "id" },           { "NAME", "name" },      { "SCOPE", "scope" }, { "TENANT", "tenant" }, { "PROFILE", "profile" },
        { "BEGINS", "prefix" }, { "MADE", "createdAt" }, { "LAST USED", "lastUsedAt", .otherwise = "never" },
};

static const Verb key_parts[] = {
        { "create", "key create NAME [options]", "Creates an API key and prints it. It cannot be printed again.",
          .more = "Example: COVE_API_KEY=$(cove key create ci --scope use)", VERB_OPTIONS(create_options), VERB_ONE("no name given"),
          .method = "POST", .path = "/api/key", .body = "{\"scope\":\"use\"}", .operand = "name", .prints = "key" },
        { "ls", "key ls [options]", "Lists the API keys with the beginning of each.", .path = "/api/key", VERB_COLUMNS(key_columns) },
        { "rm", "key rm ID… [options]", "Removes API keys. They are refused from then on.", VERB_SOME("no key given"), VERB_DELETE("/api/key/%") },
};

const Verb command_key = {
        .name = "key",
        .about = "Creates, lists and removes API keys, for clients that reach the daemon over TCP.",
        VERB_PARTS(key_parts),
};
