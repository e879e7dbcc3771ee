#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "landlock.h"
#include "seccomp.h"

/* A child's limits. Compilers write an object, kernels write nothing; OpenMP's library of LLVM a note of 1 KiB. */
enum { OBJECT_BYTES = 64 << 20, NOTE_BYTES = 1 << 20, FILES = 256, TASKS = 512 };
/* Numbers that no user has: systemd's range for services without a user of their own. */
enum { FIRST_USER = 61184, USERS = 4000 };

static const char *const layer_names[SANDBOX_LAYERS] = {"landlock", "namespaces", "seccomp"};

/* ---- What this machine has ---- */

static bool put_line(const char *path, const char *line) {
  int file = open(path, O_WRONLY | O_CLOEXEC);
  bool good = file >= 0 && write(file, line, strlen(line)) == (ssize_t)strlen(line);
  int error = errno;
  if (file >= 0) close(file);
  errno = error;
  return good;
}

bool sandbox_map_user(const sandbox_means *m, uid_t user, gid_t group) {
  char line[64];
  if ((m->clone & CLONE_NEWUSER) == 0) return true;
  prctl(PR_SET_DUMPABLE, 1); /* else these files are root's */
  snprintf(line, sizeof line, "%u %u 1", (unsigned)user, (unsigned)user);
  bool good = put_line("/proc/self/uid_map", line) && put_line("/proc/self/setgroups", "deny");
  snprintf(line, sizeof line, "%u %u 1", (unsigned)group, (unsigned)group);
  good = good && put_line("/proc/self/gid_map", line);
  int error = errno;
  prctl(PR_SET_DUMPABLE, 0);
  errno = error;
  return good;
}

/* Runs a trial in a child; returns its errno, 0: it went well. */
static int attempt(int flags, int (*trial)(const sandbox_means *m), const sandbox_means *m) {
  int status;
  uid_t user = geteuid();
  gid_t group = getegid();
  pid_t pid = (pid_t)syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) _exit(sandbox_map_user(m, user, group) ? trial(m) : errno);
  if (pid < 0) return errno;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
  return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

static int try_filter(const sandbox_means *m) {
  (void)m;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  return seccomp_restrict(0) ? 0 : errno;
}

/* Leaves its capabilities as they are, also for access(), by which compilers look at folders. */
static bool become_user(uid_t user) {
  return prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP) == 0 && setgroups(0, NULL) == 0 && setresgid(user, user, user) == 0 &&
         setresuid(user, user, user) == 0;
}

static bool drop_capabilities(uint32_t kept) {
  struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct rights[2] = {{kept, kept, kept}};
  return syscall(SYS_capset, &head, rights) == 0;
}

static int try_user(const sandbox_means *m) { return become_user(m->user) ? 0 : errno; }

static int try_path(const sandbox_means *m) {
  return become_user(m->user) && drop_capabilities(0) && access(m->path, X_OK) == 0 ? 0 : errno;
}

/* A /dev/shm of the child's own. LLVM's OpenMP library leaves a file there, named by process and user, when a program ends
 * without it; a later program with the same numbers, which are small in a namespace of processes, takes that for a living
 * library's. */
static bool own_shared_memory(void) {
  return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
         mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=1m,mode=1777") == 0;
}

static int try_namespaces(const sandbox_means *m) { return (m->clone & CLONE_NEWNS) == 0 || own_shared_memory() ? 0 : errno; }

/* Root needs no namespace of users, which its own containers may forbid; some forbid mounts. */
static void find_namespaces(sandbox_means *m) {
  const int all = CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC, users = geteuid() == 0 ? 0 : CLONE_NEWUSER;
  const int choices[] = {all | CLONE_NEWNS | users, all | users, all | CLONE_NEWNS | CLONE_NEWUSER, all | CLONE_NEWUSER};
  for (int c = 0; c < 4; c++) {
    m->clone = choices[c];
    m->clone_error = attempt(m->clone, try_namespaces, m);
    if (m->clone_error == 0) return;
    if ((m->clone & CLONE_NEWNS) != 0) m->mount_error = m->clone_error;
  }
  m->clone = 0;
}

void sandbox_find(unsigned without, sandbox_means *m) {
  *m = (sandbox_means){.without = without};
  if ((without & SANDBOX_NAMESPACES) == 0) find_namespaces(m);
  if ((without & SANDBOX_LANDLOCK) == 0) m->landlock = landlock_version();
  if (m->landlock == 0) m->landlock_error = errno;
  if ((without & SANDBOX_SECCOMP) == 0) {
    m->seccomp_error = attempt(0, try_filter, &(sandbox_means){0});
    m->seccomp = m->seccomp_error == 0;
  }
  if (geteuid() != 0) return;
  m->user = FIRST_USER + (uid_t)getpid() % USERS;
  m->user_error = (m->clone & CLONE_NEWUSER) != 0 ? EINVAL : attempt(0, try_user, &(sandbox_means){.user = m->user});
  if (m->user_error != 0) m->user = 0;
}

void sandbox_needs(sandbox_means *m, const char *path) {
  if (m->user == 0 || m->landlock > 0) return; /* with Landlock it keeps the right to read */
  m->user_error = attempt(0, try_path, &(sandbox_means){.user = m->user, .path = path});
  if (m->user_error == 0) return;
  m->user = 0;
  m->path = path;
}

bool sandbox_parse(const char *names, unsigned *layers) {
  *layers = 0;
  while (*names != '\0') {
    size_t length = strcspn(names, ",");
    int n = 0;
    while (n < SANDBOX_LAYERS && (strlen(layer_names[n]) != length || strncmp(layer_names[n], names, length) != 0)) n++;
    if (n == SANDBOX_LAYERS) return false;
    *layers |= 1u << n;
    names += length + (names[length] == ',');
  }
  return true;
}

/* ---- What it is called ---- */

__attribute__((format(printf, 3, 4))) static void add(char *text, size_t size, const char *format, ...) {
  size_t used = strlen(text);
  va_list args;
  va_start(args, format);
  vsnprintf(text + used, size - used, format, args);
  va_end(args);
}

static const char *reason(const sandbox_means *m, unsigned layer, int error) {
  return (m->without & layer) != 0 ? "left out by --without" : strerror(error);
}

/* Since Linux 5.14 a namespace of users counts its own processes; before, all of the user's. */
static bool counts_own_tasks(const sandbox_means *m) {
  struct utsname u;
  int major = 0, minor = 0;
  if (m->user != 0) return true;
  if ((m->clone & CLONE_NEWUSER) == 0 || uname(&u) != 0 || sscanf(u.release, "%d.%d", &major, &minor) != 2) return false;
  return major > 5 || (major == 5 && minor >= 14);
}

void sandbox_describe(const sandbox_means *m, bool device, char *text, size_t size) {
  text[0] = '\0';
  if (m->landlock > 0) add(text, size, "Landlock %d, ", m->landlock);
  if (m->clone != 0 && !device) add(text, size, "namespaces, ");
  if (m->seccomp && !device) add(text, size, "seccomp, ");
  if (m->user != 0 && !device) add(text, size, "a separate user, ");
  add(text, size, "limits");
  if (device)
    add(text, size, "; missing: what the driver of a GPU needs stays open: reading files, /dev, the network, processes");
  if (m->landlock == 0)
    add(text, size, "; missing: Landlock (%s): files are as open to it as to %s",
        reason(m, SANDBOX_LANDLOCK, m->landlock_error), m->user != 0 ? "any user" : "you");
  if (device) return;
  if (m->clone == 0)
    add(text, size, "; missing: namespaces (%s)%s", reason(m, SANDBOX_NAMESPACES, m->clone_error),
        m->seccomp ? "" : ": the network is open, and a process of it may hide");
  else if ((m->clone & CLONE_NEWNS) == 0)
    add(text, size, "; missing: a separate /dev/shm (%s)", strerror(m->mount_error));
  if (!m->seccomp)
    add(text, size, "; missing: seccomp (%s): it may make any system call", reason(m, SANDBOX_SECCOMP, m->seccomp_error));
  if (geteuid() == 0 && m->user == 0)
    add(text, size, "; missing: a separate user (%s%s%s): it is root without capabilities", m->path != NULL ? m->path : "",
        m->path != NULL ? ": " : "", strerror(m->user_error));
  if (!counts_own_tasks(m)) add(text, size, "; missing: a limit of threads");
}

/* ---- Rules ---- */

void sandbox_read(sandbox *s, const char *path) {
  if (s->reads < SANDBOX_PATHS) s->read[s->reads++] = path;
}

void sandbox_read_system(sandbox *s) {
  static const char *const paths[] = {"/usr/lib",
                                      "/usr/lib32",
                                      "/usr/lib64",
                                      "/usr/libx32",
                                      "/usr/local/lib",
                                      "/usr/local/lib64",
                                      "/lib",
                                      "/lib32",
                                      "/lib64",
                                      "/libx32",
                                      "/nix/store",
                                      "/gnu/store",
                                      "/etc/ld.so.cache",
                                      "/etc/ld.so.conf",
                                      "/etc/ld.so.conf.d",
                                      "/etc/ld.so.preload",
                                      "/dev/null",
                                      "/dev/zero",
                                      "/dev/random",
                                      "/dev/urandom",
                                      "/proc/self",
                                      "/proc/cpuinfo",
                                      "/proc/meminfo",
                                      "/proc/stat",
                                      "/sys/devices/system/cpu",
                                      "/sys/devices/system/node",
                                      NULL};
  for (int p = 0; paths[p] != NULL; p++) sandbox_read(s, paths[p]);
}

/* ---- The child ---- */

static bool limit(int what, rlim_t most) { return setrlimit(what, &(struct rlimit){most, most}) == 0; }

static bool set_limits(const sandbox *s) {
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  rlim_t seconds = (rlim_t)s->seconds * (rlim_t)(processors > 0 ? processors : 1) + 2;
  bool good = limit(RLIMIT_CORE, 0) && limit(RLIMIT_CPU, seconds) && limit(RLIMIT_NOFILE, FILES);
  if (s->device) return good;
  if (counts_own_tasks(s->means)) good = good && limit(RLIMIT_NPROC, TASKS);
  return good && limit(RLIMIT_FSIZE, s->write != NULL ? OBJECT_BYTES : NOTE_BYTES) && limit(RLIMIT_MSGQUEUE, 0);
}

/* One of root's rights stays where Landlock says what may be read: the toolchain may lie in a folder that others can't enter.
 */
static bool drop_rights(const sandbox *s) {
  uid_t user = s->device ? 0 : s->means->user;
  uint32_t kept = user != 0 && s->means->landlock > 0 ? 1u << CAP_DAC_READ_SEARCH : 0;
  if (user != 0 && !become_user(user)) return false;
  for (int c = 0; c < 64; c++)
    if (kept == 0 || c != CAP_DAC_READ_SEARCH) prctl(PR_CAPBSET_DROP, c, 0, 0, 0); /* without the right to it there are none */
  if (!drop_capabilities(kept)) return false;
  return kept == 0 || prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_DAC_READ_SEARCH, 0, 0) == 0;
}

static int make_rules(const sandbox *s) {
  int version = s->means->landlock, rules = landlock_begin(version);
  bool good = rules >= 0;
  for (int p = 0; p < s->reads && good; p++) good = landlock_allow(rules, version, s->read[p], false);
  good = good && landlock_allow(rules, version, "/dev/null", true);
  if (s->device) good = good && landlock_allow(rules, version, "/", false) && landlock_allow(rules, version, "/dev", true);
  if (s->write != NULL) good = good && landlock_allow(rules, version, s->write, true);
  if (good) return rules;
  if (rules >= 0) close(rules);
  return -1;
}

static bool failed(const char *what, char *text, size_t size) {
  snprintf(text, size, "%s: %s", what, strerror(errno));
  return false;
}

bool sandbox_enter(const sandbox *s, char *text, size_t size) {
  int rules = -1;
  bool has_rules = s->means->landlock > 0, filter = s->means->seccomp && !s->device;
  if (!s->device && (s->means->clone & CLONE_NEWNS) != 0 && !own_shared_memory()) return failed("/dev/shm", text, size);
  if (!set_limits(s)) return failed("limits", text, size);
  if (!drop_rights(s)) return failed("capabilities", text, size);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return failed("no_new_privs", text, size);
  if (has_rules && (rules = make_rules(s)) < 0) return failed("Landlock's rules", text, size);
  if (has_rules && !landlock_restrict(rules)) return failed("Landlock", text, size);
  if (filter && !seccomp_restrict(0)) return failed("seccomp", text, size);
  return true;
}
