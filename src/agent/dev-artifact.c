#include "artifact/artifact.h"
void artifacts_forget(Artifacts *a, void *userdata) {}
int artifacts_put(Artifacts *a, const ArtifactSpec *spec, ArtifactDone done, void *userdata, Error *reterr) { return -EOPNOTSUPP; }
int artifacts_each(Artifacts *a, const char *owner_kind, const char *owner_id, const char *after, unsigned limit,
                int (*each)(const Artifact *artifact, void *userdata), void *userdata) { return 0; }
int artifacts_delete_owner(Artifacts *a, const char *owner_kind, const char *owner_id) { return 0; }
