/* Settings of the host that a sandbox has, and what stays outside. */
#include "unit.h"

#include <string.h>

#include "jail/furniture.h"

static const struct {
        const char *host, *inside;
} pip[] = {
        { "", "\n[global]\nbreak-system-packages = true\n" },
        { "[install]\nno-cache-dir = true\n", "[install]\nno-cache-dir = true\n\n[global]\nbreak-system-packages = true\n" },
        { "[global]\nindex-url = https://pip.example.org/simple\ncert = /etc/ca.pem\n",
          "[global]\n\nbreak-system-packages = true\nindex-url = https://pip.example.org/simple\ncert = /etc/ca.pem\n" },
        { "[global]\nextra-index-url =\n  https://me:secret@pip.example.org/\n  https://other.example.org/\n",
          "[global]\n\nbreak-system-packages = true\nextra-index-url =\n  https://other.example.org/\n" },
        { "[global]\nbreak-system-packages = false\n", "[global]\nbreak-system-packages = false\n" },
        { "[global]\nproxy = http://proxy.example.org:3128\nclient-cert=/etc/mine.pem\n", "[global]\n\nbreak-system-packages = true\n" },
}, npm[] = {
        { "", "" },
        { "registry=https://npm.example.org/\ncafile=/etc/ca.pem\n@mine:registry = https://scope.example.org/\n",
          "registry=https://npm.example.org/\ncafile=/etc/ca.pem\n@mine:registry = https://scope.example.org/\n" },
        { "//npm.example.org/:_authToken=secret\n_auth = secret\n//npm.example.org/:_password=secret\n//npm.example.org/:username=me\nkey=secret\ncert=x\n", "" },
        { "Proxy = http://proxy.example.org\nhttps-proxy=http://proxy.example.org\nnoproxy=x\nregistry=https://me:secret@npm.example.org/", "" },
        { "strict-ssl=true", "strict-ssl=true" },
};

TEST(pip) {
        char text[FURNITURE_SETTINGS_BYTES];

        for (size_t i = 0; i < ELEMENTSOF(pip); i++) {
                furniture_write_pip(text, sizeof(text), pip[i].host);
                check_string(pip[i].host, text, pip[i].inside);
        }
}

TEST(npm) {
        char text[FURNITURE_SETTINGS_BYTES];

        for (size_t i = 0; i < ELEMENTSOF(npm); i++) {
                furniture_write_npm(text, sizeof(text), npm[i].host);
                check_string(npm[i].host, text, npm[i].inside);
        }
}
