/* Any files as an audit log: the check ends, and says what is wrong or that all is well; records are read within their line. The first byte says where the
 * input is cut into two files. */
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/fd.h"
#include "observe/audit-chain.h"

static char top[] = "/tmp/fuzz-audit-XXXXXX";
static int top_fd = -EBADF;

static void no_hash(const void *data, size_t size, uint8_t *ret) {
        memset(ret, size > 0 ? *(const uint8_t *) data & 1 : 0, AUDIT_HASH_SIZE);
}

static void remove_top(void) {
        (void) unlinkat(top_fd, "audit-000001.jsonl", 0);
        (void) unlinkat(top_fd, "audit-000002.jsonl", 0);
        (void) unlinkat(top_fd, AUDIT_HEAD_FILE, 0);
        (void) rmdir(top);
}

static void put_file(const char *name, const void *data, size_t size) {
        _cleanup_close_ int fd = openat(top_fd, name, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);

        MUST(fd >= 0 && fd_write_all(fd, data, size) >= 0);
}

static void check_line(const char *line, size_t size) {
        AuditRecord record;
        const char *text;
        size_t n = 0;

        if (audit_record_read(line, size, &record) == 0)
                MUST(record.hashed <= size);
        text = audit_record_text(line, size, "event", &n);
        MUST(!text || (text >= line && text + n <= line + size));
        (void) audit_record_number(line, size, "lost");
        (void) audit_filter_fits(&(AuditFilter) { .actor = "admin", .sandbox = "x" }, line, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_free_ char *line = NULL;
        AuditHead head = audit_head_empty;
        AuditVerifier v;
        size_t cut;
        int r;

        if (size < 1)
                return 0;
        if (top_fd < 0) {
                MUST(mkdtemp(top));
                top_fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                MUST(top_fd >= 0);
                (void) atexit(remove_top);
        }
        cut = (size - 1) * data[0] / 255;
        line = fuzz_string(data + 1, cut);
        check_line(line, cut);
        put_file("audit-000001.jsonl", data + 1, cut);
        put_file("audit-000002.jsonl", data + 1 + cut, size - 1 - cut);
        put_file(AUDIT_HEAD_FILE, data + 1, cut < AUDIT_HEAD_SIZE ? cut : AUDIT_HEAD_SIZE);
        for (int own = 0; own < 2; own++) {
                r = audit_verify_begin(&v, top_fd, no_hash, own ? NULL : &head);
                while (r >= 0 && (r = audit_verify_slice(&v, 4096)) > 0)
                        ;
                MUST(r < 0 || v.verdict.intact == (v.verdict.problem[0] == '\0'));
                audit_verify_done(&v);
        }
        return 0;
}
