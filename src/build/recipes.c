/* recipes.c: the built-in recipes. Packages are the distribution's own: it signs them, and nothing comes from
 * elsewhere. */

#include <string.h>

#include "build/recipe.h"

#define ON_DEBIAN(packages, extra)                                                                                          \
        "# debian-base: recipes/debian-base makes it. The packages need a way to the hosts below; apt checks signatures, and speaks HTTP:\n" \
        "#     --allow http://deb.debian.org\n"                                                                                  \
        "base: debian-base\n"                                                                                               \
        "hosts: [deb.debian.org]\n"                                                                                         \
        "packages:\n"                                                                                                       \
        "  apt: [" packages "]\n" extra

const Recipe recipes[] = {
        { "python", "Python 3 with pip and venv",
          ON_DEBIAN("python3, python3-pip, python3-venv, python-is-python3",
                    "env: { PYTHONUNBUFFERED: \"1\", PIP_BREAK_SYSTEM_PACKAGES: \"1\" }\n"
                    "run: [python3 --version]\n") },
        { "javascript", "Node.js with npm", ON_DEBIAN("nodejs, npm", "run: [node --version]\n") },
        { "typescript", "Node.js with the TypeScript compiler", ON_DEBIAN("nodejs, npm, node-typescript, ts-node", "run: [tsc --version]\n") },
        { "ruby", "Ruby with bundler", ON_DEBIAN("ruby, ruby-dev, bundler, build-essential", "run: [ruby --version]\n") },
        { "go", "the Go compiler", ON_DEBIAN("golang-go, ca-certificates, git", "env: { GOPATH: /go, PATH: \"/go/bin:$PATH\" }\nrun: [go version]\n") },
        { "rust", "rustc and cargo", ON_DEBIAN("rustc, cargo, ca-certificates, git, build-essential", "run: [rustc --version]\n") },
        { NULL, NULL, NULL },
};

const Recipe *recipe_find(const char *name) {
        for (const Recipe *r = recipes; r->name; r++)
                if (strcmp(r->name, name) == 0)
                        return r;
        return NULL;
}
