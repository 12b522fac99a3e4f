/* alert-names.c: one string table for log, API, store and messages alike. */

#include "base/shape.h"
#include "observe/alert-engine.h"

static const char *const status_words[_ALERT_STATUS_MAX] = {
        [ALERT_PENDING] = "pending",
        [ALERT_FIRING] = "firing",
        [ALERT_ACKNOWLEDGED] = "acknowledged",
        [ALERT_RESOLVED] = "resolved",
};
static const ShapeNames status_names = SHAPE_WORDS(status_words);
SHAPE_NAMED(alert_status_name, alert_status_from_name, AlertStatus, status_names);

static const char *const news_words[_NEWS_MAX] = {
        [NEWS_FIRED] = "fired",
        [NEWS_REPEATED] = "repeated",
        [NEWS_ACKNOWLEDGED] = "acknowledged",
        [NEWS_RESOLVED] = "resolved",
        [NEWS_TEST] = "test",
};
static const ShapeNames news_names = SHAPE_WORDS(news_words);
SHAPE_NAMED(alert_news_name, alert_news_from_name, AlertNews, news_names);
