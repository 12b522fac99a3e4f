/* alert-names.c: one string table for log, API, store and messages alike. */

#include <errno.h>
#include <string.h>

#include "observe/alert-engine.h"

static const char *const status_names[_ALERT_STATUS_MAX] = {
        [ALERT_PENDING] = "pending",
        [ALERT_FIRING] = "firing",
        [ALERT_ACKNOWLEDGED] = "acknowledged",
        [ALERT_RESOLVED] = "resolved",
};

static const char *const news_names[_NEWS_MAX] = {
        [NEWS_FIRED] = "fired",
        [NEWS_REPEATED] = "repeated",
        [NEWS_ACKNOWLEDGED] = "acknowledged",
        [NEWS_RESOLVED] = "resolved",
        [NEWS_TEST] = "test",
};

static int name_index(const char *const *names, int n, const char *name) {
        for (int i = 0; name && i < n; i++)
                if (strcmp(names[i], name) == 0)
                        return i;
        return -EINVAL;
}

const char *alert_status_name(AlertStatus s) {
        return s < _ALERT_STATUS_MAX ? status_names[s] : NULL;
}

AlertStatus alert_status_from_name(const char *name) {
        return (AlertStatus) name_index(status_names, _ALERT_STATUS_MAX, name);
}

const char *alert_news_name(AlertNews n) {
        return n < _NEWS_MAX ? news_names[n] : NULL;
}

AlertNews alert_news_from_name(const char *name) {
        return (AlertNews) name_index(news_names, _NEWS_MAX, name);
}
