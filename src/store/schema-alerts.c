/* Alerts and their deliveries. */
#include "store/schema.h"

const char schema_alerts[] =
        "CREATE TABLE alert ("
        "  id TEXT PRIMARY KEY,"
        "  name TEXT NOT NULL,"
        "  subject TEXT," /* what an event is about, to find the alert of the same event again */
        "  severity TEXT NOT NULL,"
        "  status TEXT NOT NULL,"
        "  event INTEGER NOT NULL,"
        "  told INTEGER NOT NULL,"
        "  text TEXT,"
        "  context TEXT," /* a JSON object */
        "  value REAL,"
        "  threshold REAL,"
        "  count INTEGER NOT NULL,"
        "  held_usec INTEGER NOT NULL,"
        "  started_at INTEGER NOT NULL,"
        "  fired_at INTEGER NOT NULL,"
        "  seen_at INTEGER NOT NULL,"
        "  notified_at INTEGER NOT NULL,"
        "  acknowledged_at INTEGER NOT NULL,"
        "  acknowledged_by TEXT,"
        "  note TEXT,"
        "  resolved_at INTEGER NOT NULL"
        ") STRICT, WITHOUT ROWID;"

        "CREATE TABLE notification ("
        "  id INTEGER PRIMARY KEY,"
        "  alert TEXT,"
        "  channel TEXT NOT NULL,"
        "  message TEXT NOT NULL," /* JSON: the event, and the alert at that time */
        "  created_at INTEGER NOT NULL,"
        "  starts INTEGER NOT NULL," /* how often a daemon has started to deliver it */
        "  failed INTEGER NOT NULL," /* given up */
        "  error TEXT"
        ") STRICT;";
