#include "init/file-watched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>

void watched_init(Watched *t, int inotify) {
        t->inotify = inotify;
        for (size_t i = 0; i < WATCHED_BUCKETS; i++)
                t->buckets[i] = WATCHED_NONE;
}

static int *bucket(Watched *t, int wd) {
        return t->buckets + ((unsigned) wd & (WATCHED_BUCKETS - 1));
}

int watched_find(const Watched *t, int wd) {
        int i = t->buckets[(unsigned) wd & (WATCHED_BUCKETS - 1)];

        while (i != WATCHED_NONE && t->nodes[i].wd != wd)
                i = t->nodes[i].next;
        return i;
}

int watched_child(const Watched *t, int parent, const char *name) {
        for (int i = 0; i < WATCHED_MAX; i++)
                if (t->nodes[i].wd != 0 && t->nodes[i].parent == parent && strcmp(t->nodes[i].name, name) == 0)
                        return i;
        return WATCHED_NONE;
}

int watched_rename(Watched *t, int node, int parent, const char *name) {
        char *copy = strdup(name);

        if (!copy)
                return -ENOMEM;
        free(t->nodes[node].name);
        t->nodes[node].name = copy;
        t->nodes[node].parent = parent;
        return 0;
}

static int take_free(Watched *t) {
        if (t->n == WATCHED_MAX)
                return -ENOSPC;
        /* Slots are filled from the front, and holes are rare: the first guess is nearly always right. */
        for (size_t i = 0; i < WATCHED_MAX; i++) {
                size_t k = (t->n + i) % WATCHED_MAX;

                if (t->nodes[k].wd == 0)
                        return (int) k;
        }
        return -ENOSPC;
}

int watched_put(Watched *t, int wd, int parent, const char *name) {
        int i = watched_find(t, wd), r;

        if (i == WATCHED_NONE) {
                i = take_free(t);
                if (i < 0)
                        return i;
        }
        r = watched_rename(t, i, parent, name);
        if (r < 0)
                return r;
        if (t->nodes[i].wd == 0) {
                t->nodes[i].wd = wd;
                t->nodes[i].next = *bucket(t, wd);
                *bucket(t, wd) = i;
                t->n++;
        }
        t->nodes[i].round = t->round;
        return i;
}

void watched_drop(Watched *t, int node) {
        int *p = bucket(t, t->nodes[node].wd);

        while (*p != node)
                p = &t->nodes[*p].next;
        *p = t->nodes[node].next;
        free(t->nodes[node].name);
        t->nodes[node].name = NULL;
        t->nodes[node].wd = 0;
        t->n--;
}

static void remove_watch(Watched *t, int node) {
        (void) inotify_rm_watch(t->inotify, t->nodes[node].wd);
        watched_drop(t, node);
}

static bool file_watched_is_below(const Watched *t, int node, int above) {
        for (size_t i = 0; i <= WATCHED_MAX && node != WATCHED_NONE; i++, node = t->nodes[node].parent)
                if (node == above)
                        return true;
        return false;
}

void watched_forget(Watched *t, int node) {
        static bool below[WATCHED_MAX];

        for (int i = 0; i < WATCHED_MAX; i++)
                below[i] = t->nodes[i].wd != 0 && file_watched_is_below(t, i, node);
        for (int i = 0; i < WATCHED_MAX; i++)
                if (below[i])
                        remove_watch(t, i);
}

void watched_forget_unseen(Watched *t) {
        for (int i = 0; i < WATCHED_MAX; i++)
                if (t->nodes[i].wd != 0 && t->nodes[i].round != t->round)
                        remove_watch(t, i);
}

/* Builds the path from its end. Racing events may produce a cycle of parents: the size of the buffer ends it. */
int watched_path(const Watched *t, int node, const char *name, char ret[static FILE_PATH_BYTES]) {
        char path[FILE_PATH_BYTES];
        size_t at = sizeof(path) - 1, n = strlen(name);

        path[at] = '\0';
        for (;;) {
                if (n > 0) {
                        bool slash = path[at] != '\0';

                        if (n + slash > at)
                                return -ENAMETOOLONG;
                        if (slash)
                                path[--at] = '/';
                        at -= n;
                        memcpy(path + at, name, n);
                }
                if (node == WATCHED_NONE)
                        break;
                name = t->nodes[node].name;
                n = strlen(name);
                node = t->nodes[node].parent;
        }
        memcpy(ret, path + at, sizeof(path) - at);
        return 0;
}
