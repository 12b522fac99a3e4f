#include "spawner/image.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "jail/disk.h"
#include "base/title.h"
#include "wire/channel.h"

struct SpawnerImage {
        SpawnerImage *next;
        Creation creation;
        pid_t pid;
        int fd; /* where the mount comes from, or the reason why there is none */
};

/* Situation: a copy of the worker, in its namespaces, with its rights. The message is an Error as it is in
 * memory, since sender and receiver are the same program. */
static _noreturn_ void spawner_image_maker_main(pid_t worker, int fd, uint64_t bytes) {
        _cleanup_close_ int tree = -EBADF;
        Error error = { 0 };

        title_set("cove-disk");
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != worker)
                _exit(1);
        tree = disk_open_image(bytes, &error);
        _exit(channel_send_bytes(fd, &error, sizeof(error), &tree, tree >= 0 ? 1 : 0, /* flags= */ 0) < 0);
}

int image_start(Spawner *s, Creation *c, Error *reterr) {
        _cleanup_free_ SpawnerImage *image = calloc(1, sizeof(*image));
        pid_t worker = getpid();
        int fds[2], r;

        if (!image)
                return error_set(reterr, -ENOMEM, "out of memory");
        r = channel_pair(fds);
        if (r < 0)
                return error_set(reterr, r, "cannot make a channel: %m");
        image->pid = fork();
        if (image->pid == 0) {
                (void) fd_close(fds[0]);
                spawner_image_maker_main(worker, fds[1], c->request.disk_bytes);
        }
        r = image->pid < 0 ? -errno : 0;
        (void) fd_close(fds[1]);
        if (r < 0) {
                (void) fd_close(fds[0]);
                return error_set(reterr, r, "cannot fork: %m");
        }

        image->fd = fds[0];
        image->creation = *c;
        c->listen_fd = c->hub_fd = c->disk_fd = -EBADF;
        image->next = s->images;
        s->images = TAKE_PTR(image);
        s->n_images++;
        return 0;
}

static SpawnerImage *image_free(SpawnerImage *image) {
        (void) fd_close(image->fd);
        creation_done(&image->creation);
        free(image);
        return NULL;
}

static SpawnerImage *image_take(Spawner *s, SpawnerImage **place) {
        SpawnerImage *image = *place;

        *place = image->next;
        s->n_images--;
        return image;
}

static SpawnerImage **image_find(Spawner *s, const char *id) {
        SpawnerImage **place = &s->images;

        while (*place && strcmp((*place)->creation.request.id, id) != 0)
                place = &(*place)->next;
        return place;
}

bool image_is_making(const Spawner *s, const char *id) {
        return *image_find((Spawner *) s, id) != NULL;
}

void image_cancel(Spawner *s, const char *id) {
        SpawnerImage **place = image_find(s, id), *image;
        Error error;

        if (!*place)
                return;
        image = image_take(s, place);
        (void) kill(image->pid, SIGKILL); /* not reaped yet, so its pid is still its own; its mkfs ends by itself and leaves nothing behind */
        (void) error_set(&error, -ECANCELED, "sandbox %s was destroyed before it was made", id);
        spawner_answer_failed(s, image->creation.serial, &error);
        (void) image_free(image);
}

size_t image_poll(const Spawner *s, struct pollfd ret[static IMAGES_MAX]) {
        size_t n = 0;

        for (const SpawnerImage *image = s->images; image && n < IMAGES_MAX; image = image->next)
                ret[n++] = (struct pollfd) { .fd = image->fd, .events = POLLIN };
        return n;
}

static int receive_tree(SpawnerImage *image, Error *reterr) {
        Error told;
        size_t size, n_fds = 0;
        int tree = -EBADF, r;

        r = channel_receive_bytes(image->fd, MSG_DONTWAIT, &told, sizeof(told), &size, &tree, 1, &n_fds);
        if (r == 1 && size == sizeof(told) && n_fds == 1) {
                image->creation.disk_fd = tree;
                return 0;
        }
        if (n_fds > 0)
                (void) fd_close(tree);
        if (r == 1 && size == sizeof(told) && told.code < 0) {
                *reterr = told;
                return told.code;
        }
        if (r == CHANNEL_SHORT || (r < 0 && r != -EBADMSG))
                return error_set(reterr, r < 0 ? r : -EMFILE, "the disk image cannot be taken over: %m");
        return error_set(reterr, -EIO, "the maker of the disk image died");
}

static void image_ready(Spawner *s, SpawnerImage *image) {
        Error error = { 0 };

        if (receive_tree(image, &error) < 0)
                spawner_answer_failed(s, image->creation.serial, &error);
        else
                creation_run(s, &image->creation);
        (void) image_free(image);
}

void image_handle(Spawner *s, const struct pollfd *fds, size_t n) {
        SpawnerImage **place = &s->images;

        for (size_t i = 0; i < n && *place; i++) {
                if (fds[i].revents)
                        image_ready(s, image_take(s, place));
                else
                        place = &(*place)->next;
        }
}
