#include "spawner/children.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/macro.h"

static int children_compare_ids(const void *a, const void *b) {
        return strcmp(((const Child *) a)->id, ((const Child *) b)->id);
}

static int compare_pids(const void *a, const void *b) {
        pid_t x = ((const Child *) a)->pid, y = ((const Child *) b)->pid;

        return x < y ? -1 : x > y;
}

int children_reserve(Children *c, const char *id, Child **ret) {
        _cleanup_free_ Child *child = calloc(1, sizeof(*child));
        Child **node;

        if (!child)
                return -ENOMEM;
        memcpy(child->id, id, sizeof(child->id));
        node = tsearch(child, &c->by_id, children_compare_ids);
        if (!node)
                return -ENOMEM;
        if (*node != child)
                return -EEXIST;
        *ret = TAKE_PTR(child);
        return 0;
}

int children_started(Children *c, Child *child, pid_t pid) {
        child->pid = pid;
        if (!tsearch(child, &c->by_pid, compare_pids)) {
                child->pid = 0;
                return -ENOMEM;
        }
        return 0;
}

void children_drop(Children *c, Child *child) {
        (void) tdelete(child, &c->by_id, children_compare_ids);
        if (child->pid > 0)
                (void) tdelete(child, &c->by_pid, compare_pids);
        free(child);
}

Child *children_find(const Children *c, const char *id) {
        Child key = { 0 }, **node;

        memcpy(key.id, id, sizeof(key.id));
        node = tfind(&key, (void *const *) &c->by_id, children_compare_ids);
        return node ? *node : NULL;
}

Child *children_find_pid(const Children *c, pid_t pid) {
        Child key = { .pid = pid }, **node = tfind(&key, (void *const *) &c->by_pid, compare_pids);

        return node ? *node : NULL;
}

bool child_reap(const Child *child) {
        return child->pid > 0 && waitpid(child->pid, NULL, WNOHANG) == child->pid;
}

/* twalk() has no userdata parameter. */
static void (*walk_visit)(const Child *child, void *userdata);
static void *walk_userdata;

static void walk_one(const void *node, VISIT visit, int depth) {
        if (visit == postorder || visit == leaf)
                walk_visit(*(const Child *const *) node, walk_userdata);
}

void children_walk(const Children *c, void (*visit)(const Child *child, void *userdata), void *userdata) {
        walk_visit = visit;
        walk_userdata = userdata;
        twalk(c->by_id, walk_one);
}
