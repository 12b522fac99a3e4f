/* packages.c: the word "packages" in a policy, and the built-in list of package registries that it stands
 * for. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/internal.h"

/* Each name has one owner, and strangers can store nothing there without an account: there is no cloud
 * bucket, and no domain below which anyone can get a name. https allows everything. http is for mirrors
 * whose packages are signed, and allows only GET and HEAD, see egress_packages_rule(). */
const char *const egress_packages_builtin[] = {
        /* Debian, Ubuntu, Alpine: apt and apk verify signatures, and their sources say http:// */
        "http://deb.debian.org", "https://deb.debian.org", "http://security.debian.org", "https://security.debian.org",
        "https://snapshot.debian.org", "http://snapshot.debian.org",
        "http://archive.ubuntu.com", "https://archive.ubuntu.com", "http://security.ubuntu.com", "https://security.ubuntu.com",
        "http://*.archive.ubuntu.com",                                 /* Ubuntu's mirrors by country and cloud */
        "http://ports.ubuntu.com", "https://ports.ubuntu.com",         /* all but amd64 */
        "http://dl-cdn.alpinelinux.org", "https://dl-cdn.alpinelinux.org",
        /* Python */
        "https://pypi.org", "https://files.pythonhosted.org",          /* not upload.pypi.org */
        "https://conda.anaconda.org", "https://repo.anaconda.com",
        /* JavaScript */
        "https://registry.npmjs.org", "https://registry.yarnpkg.com", "https://repo.yarnpkg.com",
        "https://nodejs.org",                                          /* headers, for node-gyp */
        "https://deb.nodesource.com",
        /* Rust */
        "https://crates.io", "https://index.crates.io", "https://static.crates.io", "https://static.rust-lang.org", "https://sh.rustup.rs",
        /* Go */
        "https://proxy.golang.org", "https://sum.golang.org", "https://go.dev", "https://dl.google.com", /* from which go.dev serves toolchains */
        /* Ruby, PHP, .NET, R */
        "https://rubygems.org", "https://index.rubygems.org",
        "https://repo.packagist.org", "https://packagist.org", "https://getcomposer.org",
        "https://api.nuget.org",
        "https://cloud.r-project.org",
        /* Java */
        "https://repo.maven.apache.org", "https://repo1.maven.org", "https://plugins.gradle.org", "https://services.gradle.org",
        "https://downloads.gradle.org",
        /* GitHub: clone, archives, single files, files of releases */
        "https://github.com", "https://codeload.github.com", "https://raw.githubusercontent.com", "https://objects.githubusercontent.com",
        "https://release-assets.githubusercontent.com",
        NULL,
};

static int packages_restrict(EgressRule *r) {
        static const char *const reads[] = { "GET", "HEAD" };

        r->methods = calloc(ELEMENTSOF(reads) + 1, sizeof(char *));
        for (size_t i = 0; r->methods && i < ELEMENTSOF(reads); i++) {
                r->methods[i] = strdup(reads[i]);
                if (!r->methods[i])
                        return -ENOMEM;
        }
        return r->methods ? 0 : -ENOMEM;
}

/* A name without a scheme means only https: http must be written, by an operator who has considered
 * signatures. */
static void packages_narrow(const char *text, EgressRule *r) {
        if (r->protocols != EGRESS_WEB || strstr(text, "://"))
                return;
        r->protocols = EGRESS_HTTPS;
        for (size_t i = 0; i < r->n_ports; i++)
                if (r->ports[i].first == 80 && r->ports[i].last == 80) {
                        memmove(r->ports + i, r->ports + i + 1, (r->n_ports - i - 1) * sizeof(*r->ports));
                        r->n_ports--;
                        return;
                }
}

/* Any spelling: a proxy would then reach every name that the proxy's network knows. */
static bool packages_is_everything(const EgressRule *r) {
        static const char *const all[] = { "0.0.0.0/0", "::/0" };
        IpRange range;

        if (r->domain)
                return strcmp(r->domain, "*") == 0;
        for (size_t i = 0; i < ELEMENTSOF(all); i++)
                if (ip_range_parse(all[i], &range) >= 0 && ip_range_within(&range, &r->range))
                        return true;
        return false;
}

static int packages_refuse(const char *text, Error *reterr) {
        return error_set(reterr, -EINVAL, "'%s' is no registry: write its name, as in https://mirror.example.org", text);
}

int egress_packages_rule(const char *text, EgressAction action, EgressRule *ret, Error *reterr) {
        _cleanup_(egress_rule_done) EgressRule rule = { 0 };
        int r;

        if (strcmp(text, EGRESS_PACKAGES) == 0)
                return packages_refuse(text, reterr);
        r = egress_rule_parse(text, action, &rule, reterr);
        if (r < 0)
                return r;
        if (packages_is_everything(&rule))
                return packages_refuse(text, reterr);
        packages_narrow(text, &rule);
        if (rule.protocols == EGRESS_HTTP && !rule.methods)
                r = packages_restrict(&rule);
        if (r < 0)
                return error_set(reterr, r, "out of memory");
        rule.packages = true;
        *ret = rule;
        rule = (EgressRule) { 0 };
        return 0;
}

const char *egress_rule_name(const EgressRule *r) {
        return r->packages ? EGRESS_PACKAGES : r->text;
}

size_t egress_packages_size(const EgressSite *site) {
        return site && site->packages ? site->packages->n : ELEMENTSOF(egress_packages_builtin) - 1;
}

const char *egress_packages_text(const EgressSite *site, size_t i) {
        return site && site->packages ? site->packages->items[i] : egress_packages_builtin[i];
}

bool egress_policy_names_packages(const EgressPolicy *p) {
        return p->packages[EGRESS_ALLOW] || p->packages[EGRESS_ASK];
}

bool egress_network_names_packages(const json_t *network) {
        static const char *const lists[] = { "allow", "ask" };
        json_t *item;
        size_t k;

        for (size_t i = 0; i < ELEMENTSOF(lists); i++)
                json_array_foreach(json_object_get(network, lists[i]), k, item)
                        if (egress_is_packages(item))
                                return true;
        return false;
}

bool egress_is_packages(const json_t *item) {
        return json_is_string(item) && strcmp(json_string_value(item), EGRESS_PACKAGES) == 0;
}
