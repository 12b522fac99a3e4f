/* presets.c: policies with a name, in the same form that users write. "default" and "permissive" have exactly
 * D4's values, except for D4's list of file extensions, which cannot be enforced. */

#include "policy/policy.h"

#include <errno.h>
#include <string.h>

#include "policy/internal.h"

#define D4_NETWORK "\"maxRequestBytes\":10485760,\"maxResponseBytes\":10485760,\"requestTimeoutSeconds\":30,\"requireTls\":true"
#define D4_FILES   "\"readOnlyPaths\":[\"/etc\",\"/usr\",\"/bin\"],\"maxFileSize\":10485760,\"maxTotalSize\":104857600"

static const struct {
        const char *name, *text;
} texts[] = {
        { "default",
          "{\"network\":{\"mode\":\"none\"," D4_NETWORK "}," D4_FILES ",\"writablePaths\":[\"/app\",\"/tmp\"],\"allowFileSystem\":true,"
          "\"allowProcessCreation\":false,\"allowEnvironmentAccess\":true,\"allowedLanguages\":[\"javascript\",\"typescript\",\"python\"],"
          "\"maxExecutionTime\":30000,\"maxMemoryUsage\":134217728,\"maxCpuUsage\":0.5}" },
        { "standard",
          "{\"network\":{\"mode\":\"none\"," D4_NETWORK "},\"readOnlyPaths\":[\"/etc\",\"/usr\",\"/bin\"],"
          "\"writablePaths\":[\"/app\",\"/tmp\",\"/workspace\"],\"maxFileSize\":67108864,\"maxTotalSize\":268435456,\"allowFileSystem\":true,"
          "\"allowProcessCreation\":true,\"allowEnvironmentAccess\":true,"
          "\"allowedLanguages\":[\"javascript\",\"typescript\",\"python\",\"ruby\",\"go\",\"rust\"],"
          "\"maxExecutionTime\":60000,\"maxMemoryUsage\":268435456,\"maxCpuUsage\":1}" },
        { "permissive",
          "{\"network\":{\"mode\":\"egress\",\"allow\":[\"*\"]," D4_NETWORK "}," D4_FILES ",\"allowFileSystem\":true,"
          "\"allowProcessCreation\":true,\"allowEnvironmentAccess\":true,"
          "\"allowedLanguages\":[\"javascript\",\"typescript\",\"python\",\"ruby\",\"go\",\"rust\"],"
          "\"maxExecutionTime\":300000,\"maxMemoryUsage\":536870912,\"maxCpuUsage\":2}" },
};

const char *const policy_preset_names[] = { "default", "standard", "permissive", NULL };

const char *policy_preset_text(const char *name) {
        for (size_t i = 0; i < ELEMENTSOF(texts); i++)
                if (strcmp(texts[i].name, name) == 0)
                        return texts[i].text;
        return NULL;
}

/* Parsed at the first use, and kept. */
const Policy *policy_preset(const char *name) {
        static Policy presets[ELEMENTSOF(texts)];
        static bool made[ELEMENTSOF(texts)];

        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                _cleanup_(json_complaints_done) JsonComplaints c = { 0 };
                _cleanup_json_ json_t *j = NULL;

                if (strcmp(texts[i].name, name) != 0)
                        continue;
                if (!made[i]) {
                        j = json_pack("{s:s}", "preset", name);
                        if (!j || policy_parse(j, "policy", NULL, presets + i, &c) < 0)
                                return NULL;
                        made[i] = true;
                }
                return presets + i;
        }
        return NULL;
}
