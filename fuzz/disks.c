/* Makes calls of the C library fail on files in one folder; see disks.py. Loaded by LD_PRELOAD. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static char call[32], folder[PATH_MAX];
static int left, error, is_lasting;
static volatile int *n_failed;

/* Let the nth call of this name fail, and all later ones if it lasts. */
void arm(const char *name, int nth, int number, int lasts, const char *in, int *counter) {
    snprintf(call, sizeof call, "%s", name);
    snprintf(folder, sizeof folder, "%s", in);
    left = nth, error = number, is_lasting = lasts, n_failed = counter;
}

static int fails(const char *name, const char *path) {
    if (!error || strcmp(name, call) || (path[0] == '/' && strncmp(path, folder, strlen(folder))))
        return 0;
    if (left > 1) {
        left--;
        return 0;
    }
    if (left < 1 && !is_lasting)
        return 0;
    left = 0;
    ++*n_failed;
    errno = error;
    return 1;
}

static int fails_at(const char *name, int descriptor) {
    char link[64], path[PATH_MAX];
    if (!error || strcmp(name, call))
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return path[0] == '/' && fails(name, path);
}

#define REAL(type, name, ...)                                                                      \
    static type (*real)(__VA_ARGS__);                                                              \
    if (!real)                                                                                     \
        real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name);

ssize_t write(int descriptor, const void *data, size_t size) {
    REAL(ssize_t, "write", int, const void *, size_t)
    /* A disk that becomes full takes some bytes first. */
    if (is_lasting && left == 1 && size > 1 && fails_at("write", descriptor))
        return real(descriptor, data, size / 2);
    return fails_at("write", descriptor) ? -1 : real(descriptor, data, size);
}

ssize_t pwrite(int descriptor, const void *data, size_t size, off_t offset) {
    REAL(ssize_t, "pwrite", int, const void *, size_t, off_t)
    return fails_at("write", descriptor) ? -1 : real(descriptor, data, size, offset);
}

ssize_t pwrite64(int descriptor, const void *data, size_t size, off64_t offset) {
    REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t)
    return fails_at("write", descriptor) ? -1 : real(descriptor, data, size, offset);
}

ssize_t writev(int descriptor, const struct iovec *data, int count) {
    REAL(ssize_t, "writev", int, const struct iovec *, int)
    return fails_at("write", descriptor) ? -1 : real(descriptor, data, count);
}

ssize_t sendfile(int to, int from, off_t *offset, size_t size) {
    REAL(ssize_t, "sendfile", int, int, off_t *, size_t)
    return fails_at("write", to) ? -1 : real(to, from, offset, size);
}

ssize_t sendfile64(int to, int from, off64_t *offset, size_t size) {
    REAL(ssize_t, "sendfile64", int, int, off64_t *, size_t)
    return fails_at("write", to) ? -1 : real(to, from, offset, size);
}

ssize_t read(int descriptor, void *data, size_t size) {
    REAL(ssize_t, "read", int, void *, size_t)
    return fails_at("read", descriptor) ? -1 : real(descriptor, data, size);
}

ssize_t pread64(int descriptor, void *data, size_t size, off64_t offset) {
    REAL(ssize_t, "pread64", int, void *, size_t, off64_t)
    return fails_at("read", descriptor) ? -1 : real(descriptor, data, size, offset);
}

int fsync(int descriptor) {
    REAL(int, "fsync", int)
    return fails_at("fsync", descriptor) ? -1 : real(descriptor);
}

int fdatasync(int descriptor) {
    REAL(int, "fdatasync", int)
    return fails_at("fsync", descriptor) ? -1 : real(descriptor);
}

int close(int descriptor) {
    REAL(int, "close", int)
    int failed = fails_at("close", descriptor); /* the descriptor is closed nevertheless */
    int result = real(descriptor);
    return failed ? (errno = error, -1) : result;
}

int rename(const char *from, const char *to) {
    REAL(int, "rename", const char *, const char *)
    return fails("rename", to) ? -1 : real(from, to);
}

int renameat(int old, const char *from, int new, const char *to) {
    REAL(int, "renameat", int, const char *, int, const char *)
    return fails("rename", to) ? -1 : real(old, from, new, to);
}

int link(const char *from, const char *to) {
    REAL(int, "link", const char *, const char *)
    return fails("link", to) ? -1 : real(from, to);
}

int chmod(const char *path, mode_t mode) {
    REAL(int, "chmod", const char *, mode_t)
    return fails("chmod", path) ? -1 : real(path, mode);
}

#define OPEN(name, real_name)                                                                      \
    int name(const char *path, int flags, ...) {                                                   \
        REAL(int, real_name, const char *, int, ...)                                               \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;                                  \
        va_end(rest);                                                                              \
        return flags & O_CREAT && fails("open", path) ? -1 : real(path, flags, mode);              \
    }

OPEN(open, "open")
OPEN(open64, "open64")
