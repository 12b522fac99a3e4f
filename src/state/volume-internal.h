/* volume-internal.h: shared by volume*.c alone. */
#pragma once

#include "state/internal.h"

typedef struct VolumeName {
        char key[ACCESS_NAME_MAX + VOLUME_NAME_MAX + 3]; /* "tenant/name" */
        Volume *volume;
        UT_hash_handle hh;
} VolumeName;

typedef struct Volumes {
        VolumeName *names;
        CoreObserver observer;
} Volumes;

typedef struct VolumeWork {
        Work work;
        Volume *volume; /* out of the table, and ours; or in it; NULL: none */
        bool ours;
        char id[SNAPSHOT_ID_LENGTH + 1];
        VolumeDone done;
} VolumeWork;

/* volume.c */
Volume *volume_free(Volume *v);
int volume_register(State *s, Volume *v); /* -EEXIST */
void volume_unregister(State *s, Volume *v);
void volume_count(State *s, const Sandbox *sb, bool ended); /* among those who have one */
VolumeWork *volume_work_new(State *s, Volume *v, const char *id, VolumeDone done, void *userdata);
void volume_work_tell(VolumeWork *w, const Error *error); /* and is gone */
int volume_remove_tree(State *s, Volume *volume, const char *id, VolumeDone done, void *userdata, Error *reterr);
