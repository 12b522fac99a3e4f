/* alert-names.c: the words for log, API, store and messages. */

#include "observe/alert-engine.h"

static const char *const alert_statuses[_ALERT_STATUS_MAX] = { "pending", "firing", "acknowledged", "resolved" };
static const char *const alert_news[_NEWS_MAX] = { "fired", "repeated", "acknowledged", "resolved", "test" };
static const char *const alert_units[_ALERT_UNIT_MAX] = { "count", "share", "seconds" };

const ShapeNames alert_status_names = SHAPE_WORDS(alert_statuses);
const ShapeNames alert_news_names = SHAPE_WORDS(alert_news);
const ShapeNames alert_unit_names = SHAPE_WORDS(alert_units);

const char *alert_severity_name(AlertSeverity s) {
        return shape_name(&alert_severity_names, (int) s);
}

const char *alert_status_name(AlertStatus s) {
        return shape_name(&alert_status_names, (int) s);
}
