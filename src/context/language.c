#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "context/internal.h"

/* Each reads the driver's source from descriptor 3 and executes it: a template need not contain any file of ours. */
static const char *const python_args[] = {
        "python3", "-u", "-c",
        "import os,sys\n"
        "n=b''\n"
        "while not n.endswith(b'\\n'): n+=os.read(3,1) or sys.exit(1)\n"
        "n=int(n);s=b''\n"
        "while len(s)<n: s+=os.read(3,n-len(s)) or sys.exit(1)\n"
        "g={'__name__':'cove_driver'};sys.argv=['']\n"
        "exec(compile(s,'<cove>','exec'),g);g['serve'](3)\n",
        NULL,
};
static const char *const node_args[] = {
        "node", "--no-warnings", "-e",
        "const fs=require('fs');const b=Buffer.alloc(1);let n='';"
        "for(;;){if(!fs.readSync(3,b,0,1))process.exit(1);const c=b.toString();if(c==='\\n')break;n+=c}"
        "n=+n;const s=Buffer.alloc(n);let k=0;while(k<n){const r=fs.readSync(3,s,k,n-k);if(!r)process.exit(1);k+=r}"
        "new Function('require','module','process','fd',s.toString())(require,module,process,3)",
        NULL,
};
static const char *const bash_args[] = {
        "bash", "-c",
        "LC_ALL=C; IFS= read -r -u 3 n && IFS= read -r -N \"$n\" -u 3 s || exit 1; unset LC_ALL; eval \"$s\"",
        NULL,
};

/* R opens files by name, and a socket has none: cat passes the data on. */
static const char *const r_args[] = {
        "/bin/bash", "-c",
        "command -v R >/dev/null || exit 127\n"
        "export EDITOR=${EDITOR:-vi} PAGER=${PAGER:-cat}\n"
        "exec 4< <(trap '' INT; exec cat <&3) 5> >(trap '' INT; exec cat >&3)\n"
        "exec 3>&-\n"
        "exec R --no-echo --no-restore --no-save -e '"
        "requests <- file(\"/dev/fd/4\", \"rb\"); told <- file(\"/dev/fd/5\", \"wb\")\n"
        "n <- as.integer(readLines(requests, n = 1)); s <- rawToChar(readBin(requests, \"raw\", n)); Encoding(s) <- \"UTF-8\"\n"
        "eval(parse(text = s, keep.source = FALSE)); assign(\"requests\", requests, .cove); assign(\"told\", told, .cove)\n"
        "rm(requests, told, n, s); .cove$serve()'",
        NULL,
};
static const char *const java_args[] = {
        "/bin/sh", "-c",
        "read -r n <&3 && d=$(mktemp -d) && head -c \"$n\" <&3 >\"$d/Java.java\" || exit 1\n"
        "command -v java >/dev/null || exit 127\n"
        "exec java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC --add-modules jdk.jshell --add-opens java.base/java.io=ALL-UNNAMED \"$d/Java.java\" \"$d\"",
        NULL,
};

static const ContextLanguage languages[] = {
        { "python",     { "py", "python3" },   "python3", python_args, "python.py",     "python3" },
        { "javascript", { "js", "node" },      "node",    node_args,   "javascript.js", "nodejs"  },
        { "typescript", { "ts" },              "node",    node_args,   "javascript.js", "nodejs and the typescript module (node-typescript, or npm install typescript)" },
        { "bash",       { "sh", "shell" },     "bash",    bash_args,   "bash.sh",       "bash", .by_signal = true },
        { "r",          { "R", "rscript" },    "R",       r_args,      "r.R",           "r-base-core", .by_signal = true },
        { "java",       { "jshell" },          "java",    java_args,   "Java.java",     "a Java development kit (default-jdk-headless), 17 or newer" },
};

const ContextLanguage *context_language_find(const char *name) {
        for (size_t i = 0; i < ELEMENTSOF(languages); i++) {
                if (strcasecmp(languages[i].name, name) == 0)
                        return languages + i;
                for (size_t k = 0; k < ELEMENTSOF(languages[i].aliases) && languages[i].aliases[k]; k++)
                        if (strcasecmp(languages[i].aliases[k], name) == 0)
                                return languages + i;
        }
        return NULL;
}

const char *context_language(const char *name) {
        const ContextLanguage *l = context_language_find(name);

        return l ? l->name : NULL;
}

const char *context_languages(char ret[static CONTEXT_LANGUAGES_MAX]) {
        size_t n = 0;

        ret[0] = '\0';
        for (size_t i = 0; i < ELEMENTSOF(languages) && n < CONTEXT_LANGUAGES_MAX; i++) {
                const char *before = i == 0 ? "" : i + 1 == ELEMENTSOF(languages) ? " or " : ", ";

                n += (size_t) snprintf(ret + n, CONTEXT_LANGUAGES_MAX - n, "%s%s", before, languages[i].name);
        }
        return ret;
}

int context_language_source(const ContextLanguage *l, const char **ret, size_t *ret_size) {
        for (size_t i = 0; i < context_n_drivers; i++)
                if (strcmp(context_drivers[i].name, l->driver) == 0) {
                        *ret = (const char *) context_drivers[i].data;
                        *ret_size = context_drivers[i].size;
                        return 0;
                }
        return -ENOENT;
}
