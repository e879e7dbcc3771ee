/* Result files: a temporary file next to the target, then rename. */
#define _GNU_SOURCE /* fopencookie */
#include "result.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

enum { LINKS_MOST = 40, TRIES = 100, NAME_KEPT = 200 }; /* a name of 255 bytes leaves no room for a suffix */

static bool fail(char *error, size_t size, int number) {
  snprintf(error, size, "can't be written: %s", strerror(number));
  return false;
}

/* ---- Where a path leads ---- */

typedef struct place {
  bool direct;    /* not replaced by a new file */
  int descriptor; /* of this process, that the path names; -1: none */
  bool there;     /* is: a regular file, if not direct */
  struct stat is;
  char path[PATH_MAX]; /* symbolic links followed */
} place;

/* The part of a path before the file's name: "", or up to its last slash. */
static size_t folder_length(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

static int open_folder(const char *path) {
  char folder[PATH_MAX];
  snprintf(folder, sizeof folder, "%.*s", (int)folder_length(path), path);
  return open(folder[0] != '\0' ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Links in /proc are not paths: /proc/self/fd/1 leads to whatever standard output is, even to a file without a name. */
static bool leads_through_proc(place *p) {
  struct statfs system;
  struct stat folder, own;
  int at = open_folder(p->path);
  bool proc = at >= 0 && fstatfs(at, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
  if (proc && fstat(at, &folder) == 0 && stat("/proc/self/fd", &own) == 0 && folder.st_ino == own.st_ino &&
      folder.st_dev == own.st_dev)
    p->descriptor = atoi(p->path + folder_length(p->path));
  if (at >= 0) close(at);
  return proc;
}

/* Replaces the last part of the path, a link, by its target. */
static bool follow(place *p) {
  char text[PATH_MAX], joined[2 * PATH_MAX];
  ssize_t length = readlink(p->path, text, sizeof text - 1);
  if (length < 0) return false;
  text[length] = '\0';
  int used = snprintf(joined, sizeof joined, "%.*s%s", text[0] == '/' ? 0 : (int)folder_length(p->path), p->path, text);
  errno = ENAMETOOLONG;
  if (used >= (int)sizeof p->path) return false;
  memcpy(p->path, joined, (size_t)used + 1);
  return true;
}

/* false: errno says why. */
static bool find_place(const char *path, place *p) {
  *p = (place){.descriptor = -1};
  errno = ENAMETOOLONG;
  if (strlen(path) >= sizeof p->path) return false;
  strcpy(p->path, path);
  for (int links = 0;; links++) {
    errno = ELOOP;
    if (links > LINKS_MOST) return false;
    p->there = lstat(p->path, &p->is) == 0;
    if (!p->there && errno != ENOENT) return false;
    if (!p->there || !S_ISLNK(p->is.st_mode)) break;
    p->direct = leads_through_proc(p);
    if (p->direct) return p->descriptor >= 0 || stat(p->path, &p->is) == 0;
    if (!follow(p)) return false;
  }
  errno = p->path[0] == '\0' ? ENOENT : EISDIR;
  if (p->path[folder_length(p->path)] == '\0' || (p->there && S_ISDIR(p->is.st_mode))) return false;
  p->direct = p->there && !S_ISREG(p->is.st_mode);
  errno = EINVAL; /* a whole disk is not what --json means */
  if (p->there && S_ISBLK(p->is.st_mode)) return false;
  return !p->there || faccessat(AT_FDCWD, p->path, W_OK, AT_EACCESS) == 0;
}

/* ---- The stream: it keeps errno of the first write that failed, which stdio forgets ---- */

static ssize_t put(void *cookie, const char *bytes, size_t count) {
  result_file *f = cookie;
  for (size_t done = 0; done < count && f->fault == 0;) {
    ssize_t wrote = write(f->descriptor, bytes + done, count - done);
    if (wrote >= 0)
      done += (size_t)wrote;
    else if (errno != EINTR)
      f->fault = errno;
  }
  return f->fault == 0 ? (ssize_t)count : 0;
}

/* Without a function that closes: result_sync closes the descriptor itself, after fsync. */
static bool open_stream(result_file *f) {
  f->to = fopencookie(f, "w", (cookie_io_functions_t){.write = put});
  if (f->to != NULL) setvbuf(f->to, NULL, _IOFBF, 1 << 16);
  return f->to != NULL;
}

/* ---- The temporary file ---- */

/* Its owner and permissions. Where the group can't be kept, the new one may do what everybody may. */
static bool keep_mode(int descriptor, const struct stat *old) {
  mode_t mode = old->st_mode & 07777;
  struct stat now;
  if (fchown(descriptor, old->st_uid, old->st_gid) != 0 && fchown(descriptor, (uid_t)-1, old->st_gid) != 0)
    mode &= ~(mode_t)(S_ISUID | S_ISGID | S_IRWXG) | (mode_t)((mode & S_IRWXO) << 3);
  if (fstat(descriptor, &now) != 0) return false;
  return (now.st_mode & 07777) == mode || fchmod(descriptor, mode) == 0;
}

static int make_temporary(const place *p, char **name) {
  size_t folder = folder_length(p->path), room = strlen(p->path) + 64;
  *name = malloc(room);
  for (int i = 0; *name != NULL && i < TRIES; i++) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    unsigned long number = (unsigned long)getpid() << 32 ^ (unsigned long)now.tv_nsec ^ (unsigned long)i << 30;
    snprintf(*name, room, "%.*s%.*s.%lx.tandem-tmp", (int)folder, p->path, NAME_KEPT, p->path + folder, number);
    int made = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, p->there ? 0600 : 0666);
    if (made >= 0 && p->there && !keep_mode(made, &p->is)) {
      int fault = errno;
      close(made);
      unlink(*name);
      errno = fault;
      made = -1;
    }
    if (made >= 0) return made;
    if (errno != EEXIST) break;
  }
  int fault = errno;
  free(*name);
  *name = NULL;
  errno = fault;
  return -1;
}

static bool fail_temporary(const place *p, char *error, size_t size) {
  int folder = (int)folder_length(p->path);
  snprintf(error, size, "can't be written: no new file in '%.*s': %s", folder > 0 ? folder : 2, folder > 0 ? p->path : "./",
           strerror(errno));
  return false;
}

/* ---- The whole ---- */

/* A write beyond the limit on the size of files (ulimit -f) is an error, and does not end the process. */
static void ignore_size_signal(void) {
  struct sigaction now;
  if (sigaction(SIGXFSZ, NULL, &now) == 0 && now.sa_handler == SIG_DFL) signal(SIGXFSZ, SIG_IGN);
}

static bool open_direct(result_file *f, const place *p, char *error, size_t size) {
  fflush(NULL); /* what was printed before comes first */
  f->descriptor = p->descriptor >= 0 ? fcntl(p->descriptor, F_DUPFD_CLOEXEC, 3)
                                     : open(p->path, O_WRONLY | O_NOCTTY | O_CLOEXEC | (S_ISREG(p->is.st_mode) ? O_TRUNC : 0));
  return f->descriptor >= 0 || fail(error, size, errno);
}

static bool open_new(result_file *f, const place *p, char *error, size_t size) {
  f->target = strdup(p->path);
  if (f->target == NULL) return fail(error, size, errno);
  f->descriptor = make_temporary(p, &f->temporary);
  return f->descriptor >= 0 || fail_temporary(p, error, size);
}

bool result_open(result_file *f, const char *path, char *error, size_t size) {
  place p;
  *f = (result_file){.descriptor = -1};
  if (!find_place(path, &p)) return fail(error, size, errno);
  ignore_size_signal();
  bool ok = p.direct ? open_direct(f, &p, error, size) : open_new(f, &p, error, size);
  ok = ok && (open_stream(f) || fail(error, size, errno));
  if (!ok) result_drop(f);
  return ok;
}

void result_drop(result_file *f) {
  if (f->fault == 0) f->fault = ECANCELED; /* what is still in the stream goes nowhere */
  if (f->to != NULL) fclose(f->to);
  if (f->descriptor >= 0) close(f->descriptor);
  if (f->temporary != NULL) unlink(f->temporary);
  free(f->temporary);
  free(f->target);
  *f = (result_file){.descriptor = -1};
}

bool result_sync(result_file *f, char *error, size_t size) {
  bool good = fflush(f->to) == 0 && !ferror(f->to);
  good = fclose(f->to) == 0 && good;
  f->to = NULL;
  int fault = f->fault != 0 || good ? f->fault : EIO;
  if (fault == 0 && f->temporary != NULL && fsync(f->descriptor) != 0 && errno != EINVAL) fault = errno;
  if (close(f->descriptor) != 0 && fault == 0) fault = errno;
  f->descriptor = -1;
  if (fault == 0) return true;
  result_drop(f);
  return fail(error, size, fault);
}

/* After this the new name is on the disk too. File systems that can't sync a folder say EINVAL. */
static int sync_folder(const char *path) {
  int folder = open_folder(path), fault = folder < 0 || fsync(folder) == 0 || errno == EINVAL ? 0 : errno;
  if (folder >= 0) close(folder);
  return fault;
}

bool result_place(result_file *f, char *error, size_t size) {
  int fault = 0;
  if (f->temporary != NULL && rename(f->temporary, f->target) != 0) {
    fault = errno;
  } else if (f->temporary != NULL) {
    free(f->temporary); /* the file has its final name: result_drop must not remove it */
    f->temporary = NULL;
    fault = sync_folder(f->target);
  }
  result_drop(f);
  return fault == 0 || fail(error, size, fault);
}

bool result_finish(result_file *f, char *error, size_t size) {
  return result_sync(f, error, size) && result_place(f, error, size);
}

bool result_check(const char *path, char *error, size_t size) {
  place p;
  char *name;
  if (!find_place(path, &p)) return fail(error, size, errno);
  if (p.direct) return true;
  int made = make_temporary(&p, &name);
  if (made < 0) return fail_temporary(&p, error, size);
  close(made);
  unlink(name);
  free(name);
  return true;
}
