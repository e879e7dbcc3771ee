#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SLICE_MS = 20, PIECES = 64, CHILDREN = 256, ENDING_SECONDS = 2 };

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number) { interrupted = number; }

void process_catch_interrupts(void) {
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction action = {.sa_handler = on_interrupt};
  for (size_t s = 0; s < sizeof signals / sizeof signals[0]; s++) sigaction(signals[s], &action, NULL);
}

bool process_interrupted(void) { return interrupted != 0; }

void *process_share(size_t bytes) {
  void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return at == MAP_FAILED ? NULL : at;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Descendants. While a child runs, this process is the parent of all whose own has ended, also of those that have left its
 * group or session. ---- */

/* Our children, as /proc has them. */
typedef struct children {
  pid_t pid[CHILDREN];
  int count;
} children;

static pid_t parent_of(const char *pid) {
  char path[288], line[512], *name_end;
  snprintf(path, sizeof path, "/proc/%s/stat", pid);
  FILE *f = fopen(path, "r");
  if (f == NULL) return 0; /* it has ended since */
  bool got = fgets(line, sizeof line, f) != NULL;
  fclose(f);
  int parent = 0; /* "PID (NAME) STATE PARENT ..." */
  if (got && (name_end = strrchr(line, ')')) != NULL) sscanf(name_end + 1, " %*c %d", &parent);
  return (pid_t)parent;
}

static bool list_children(children *c) {
  DIR *all = opendir("/proc");
  struct dirent *entry;
  c->count = 0;
  if (all == NULL) return false;
  while ((entry = readdir(all)) != NULL && c->count < CHILDREN)
    if (strspn(entry->d_name, "0123456789") == strlen(entry->d_name) && parent_of(entry->d_name) == getpid())
      c->pid[c->count++] = (pid_t)atoi(entry->d_name);
  closedir(all);
  return c->count < CHILDREN;
}

/* Ends all children that were not there before, and whatever becomes our child by that. Says how many there were. */
static int end_descendants(const children *before) {
  double until = now() + ENDING_SECONDS;
  int ended = 0;
  for (bool some = true; some && now() < until;) {
    children c;
    some = false;
    list_children(&c);
    for (int i = 0; i < c.count; i++) {
      bool was = false;
      for (int k = 0; k < before->count; k++) was |= before->pid[k] == c.pid[i];
      if (was) continue;
      kill(c.pid[i], SIGKILL);
      while (waitpid(c.pid[i], NULL, 0) < 0 && errno == EINTR) {}
      some = true;
      ended++;
    }
  }
  return ended;
}

/* ---- A child ---- */

/* The child is a process group of its own, so that what it starts can be ended with it at once. */
static void child(int words, void (*work)(void *), void *argument) {
  struct rlimit none = {0, 0};
  setpgid(0, 0);
  setrlimit(RLIMIT_CORE, &none);
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  signal(SIGHUP, SIG_DFL);
  int nothing = open("/dev/null", O_RDONLY);
  if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(words, 1) < 0 || dup2(words, 2) < 0) _exit(126);
  close(words);
  work(argument);
  fflush(stdout);
  _exit(0);
}

/* Takes what is there, up to PIECES: a writer that never stops must not keep us from the clock. false: the other end is
 * closed. */
static bool take(int words, process *p, size_t *used) {
  char piece[4096];
  ssize_t got = 1;
  for (int n = 0; n < PIECES && (got = read(words, piece, sizeof piece)) > 0; n++) {
    size_t room = sizeof p->text - 1 - *used, keep = (size_t)got < room ? (size_t)got : room;
    memcpy(p->text + *used, piece, keep);
    *used += keep;
  }
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

/* It is not reaped yet, so that its number stays that of its group. */
static bool has_ended(pid_t pid) {
  siginfo_t info = {0};
  return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid;
}

static void watch(pid_t pid, int words, double seconds, const children *before, process *p) {
  double until = now() + seconds;
  size_t used = 0;
  bool open_end = true, ended = false;
  while (!ended && now() < until && !process_interrupted()) {
    struct pollfd wait = {.fd = open_end ? words : -1, .events = POLLIN};
    poll(&wait, 1, SLICE_MS);
    if (open_end) open_end = take(words, p, &used);
    ended = has_ended(pid);
  }
  p->timed_out = !ended && !process_interrupted();
  kill(-pid, SIGKILL);
  while (waitpid(pid, &p->status, 0) < 0 && errno == EINTR) {}
  p->left = end_descendants(before);
  take(words, p, &used);
  p->text[used] = '\0';
}

bool process_run(void (*work)(void *argument), void *argument, double seconds, process *p) {
  int words[2];
  children before;
  *p = (process){.status = -1};
  fflush(NULL); /* else the child would write it a second time */
  if (!list_children(&before)) {
    snprintf(p->text, sizeof p->text, "/proc can't be read, or has more than %d children of this process", CHILDREN);
    return false;
  }
  if (pipe2(words, O_CLOEXEC) != 0) {
    snprintf(p->text, sizeof p->text, "no pipe: %s", strerror(errno));
    return false;
  }
  fcntl(words[0], F_SETFL, O_NONBLOCK);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  pid_t pid = fork();
  if (pid == 0) child(words[1], work, argument);
  if (pid < 0) snprintf(p->text, sizeof p->text, "no process: %s", strerror(errno));
  close(words[1]);
  if (pid > 0) {
    setpgid(pid, pid); /* also here: whichever comes first */
    watch(pid, words[0], seconds, &before, p);
  }
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  close(words[0]);
  return pid > 0;
}

void process_verdict(const process *p, double seconds, learn_outcome *o) {
  bool bad = WIFSIGNALED(p->status) || WEXITSTATUS(p->status) != 0 || !o->finished;
  if (process_interrupted()) {
    learn_found(o, LEARN_FAILED, "interrupted");
  } else if (p->timed_out) {
    learn_found(o, LEARN_ENDLESS, "it ran longer than %g s", seconds);
  } else if (bad && strstr(p->text, "runtime error: ") != NULL) { /* the sanitizer's words */
    learn_found(o, strstr(p->text, "out of bounds") != NULL ? LEARN_BOUNDS : LEARN_CRASH, "undefined behaviour:");
  } else if (WIFSIGNALED(p->status)) {
    learn_found(o, LEARN_CRASH, "it was ended by a signal: %s", strsignal(WTERMSIG(p->status)));
  } else if (bad) {
    learn_found(o, LEARN_CRASH, "it ended its process, with exit status %d", WEXITSTATUS(p->status));
  } else if (o->verdict == LEARN_RIGHT && p->left > 0) {
    learn_found(o, LEARN_CRASH, "it left %d process%s running, which %s ended", p->left, p->left == 1 ? "" : "es",
                p->left == 1 ? "was" : "were");
  }
  if (bad && !p->timed_out && p->text[0] != '\0') learn_add(o, "\n  %.*s", (int)strcspn(p->text, "\n"), p->text);
}
