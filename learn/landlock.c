#include "landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The headers of older systems lack the newer of these. */
enum {
  CREATE_RULESET = 444, /* system calls, the same on all processors */
  ADD_RULE = 445,
  RESTRICT_SELF = 446,
  ASK_VERSION = 1,
  RULE_PATH_BENEATH = 1,
  NET_TCP = 3,              /* bind, connect */
  SCOPE_ALL = 3,            /* abstract sockets, signals */
  FS_EXECUTE = 1 << 0,      /* the bits of rights to files */
  FS_WRITE_FILE = 1 << 1,   /* of a file */
  FS_READ_FILE = 1 << 2,    /* of a file */
  FS_READ_DIR = 1 << 3,     /* */
  FS_FIRST = (1 << 13) - 1, /* version 1: these, and the making and removing of everything */
  FS_REFER = 1 << 13,       /* version 2 */
  FS_TRUNCATE = 1 << 14,    /* version 3; of a file */
  FS_IOCTL_DEV = 1 << 15,   /* version 5; of a file */
  FS_OF_FILES = FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV
};

typedef struct ruleset {
  uint64_t files, net, scoped;
} ruleset;

typedef struct __attribute__((packed)) path_beneath {
  uint64_t allowed;
  int32_t parent;
} path_beneath;

int landlock_version(void) {
  long version = syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
  return version > 0 ? (int)version : 0;
}

static uint64_t rights(int version) {
  uint64_t all = FS_FIRST;
  if (version >= 2) all |= FS_REFER;
  if (version >= 3) all |= FS_TRUNCATE;
  if (version >= 5) all |= FS_IOCTL_DEV;
  return all;
}

int landlock_begin(int version) {
  ruleset r = {rights(version), version >= 4 ? NET_TCP : 0, version >= 6 ? SCOPE_ALL : 0};
  size_t size = version >= 6 ? sizeof r : version >= 4 ? 2 * sizeof r.files : sizeof r.files;
  return (int)syscall(CREATE_RULESET, &r, size, 0);
}

bool landlock_allow(int rules, int version, const char *path, bool write) {
  int place = open(path, O_PATH | O_CLOEXEC);
  if (place < 0) return true;
  struct stat is;
  path_beneath p = {write ? rights(version) : FS_EXECUTE | FS_READ_FILE | FS_READ_DIR, place};
  if (fstat(place, &is) == 0 && !S_ISDIR(is.st_mode)) p.allowed &= FS_OF_FILES;
  p.allowed &= rights(version);
  bool good = syscall(ADD_RULE, rules, RULE_PATH_BENEATH, &p, 0) == 0;
  close(place);
  return good;
}

bool landlock_restrict(int rules) {
  bool good = syscall(RESTRICT_SELF, rules, 0) == 0;
  int error = errno;
  close(rules);
  errno = error;
  return good;
}
