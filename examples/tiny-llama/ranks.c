/* The processes of a run, through MPI. */
#include "ranks.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "random.h"
#include "ranks_mpi.h"

/* Reads "tp=N" or "alone=N". */
static bool read_count(const char *text, int *count, bool *alone, llama_error *error) {
  char *end = NULL;
  const char *equals = strchr(text, '=');
  size_t length = equals == NULL ? 0 : (size_t)(equals - text);
  *alone = length == 5 && strncmp(text, "alone", length) == 0;
  bool known = *alone || (length == 2 && strncmp(text, "tp", length) == 0);
  long number = known && isdigit((unsigned char)equals[1]) ? strtol(equals + 1, &end, 10) : 0;
  *count = (int)number;
  return (end != NULL && *end == '\0' && number >= 1 && number <= RANKS_MOST) ||
         llama_fail(error, "--ranks = '%.40s': must be tp=N or alone=N, with N from 1 to %d", text, RANKS_MOST);
}

/* One rank without the others. */
static void open_alone(int count, ranks *r) { *r = (ranks){.size = count, .beside = 1, .alone = true}; }

static bool gather_alone(const ranks *r, const void *mine, size_t bytes, void *all) {
  for (int i = 0; i < r->size; i++) memcpy((char *)all + (size_t)i * bytes, mine, bytes);
  return true;
}

#ifdef LLAMA_MPI

static bool opened;
static MPI_Comm job, failing; /* failing: only for the ranks that fail, which others may not expect */

MPI_Comm ranks_job(void) { return job; }

bool ranks_mpi(int code, const char *doing, llama_error *error) {
  if (code == MPI_SUCCESS) return true;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length;
  MPI_Error_string(code, text, &length);
  return llama_fail(error, "%s: MPI: %.300s", doing, text);
}

bool ranks_wait(MPI_Request *request, const char *doing, llama_error *error) {
  enum { BUSY = 200, LONGEST = 100 }; /* tests without a pause; microseconds of one */
  int done = 0, code = MPI_SUCCESS;
  for (int tests = 0; code == MPI_SUCCESS && !done; tests++) {
    code = MPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (!done && tests > BUSY) usleep(tests - BUSY < LONGEST ? (useconds_t)(tests - BUSY) : LONGEST);
  }
  return ranks_mpi(code, doing, error);
}

bool ranks_open(const char *text, ranks *r, llama_error *error) {
  int count = 0, level;
  MPI_Comm host;
  *r = (ranks){.size = 1, .beside = 1};
  if (text == NULL) return true;
  bool alone, read = read_count(text, &count, &alone, error); /* a mistake is told when MPI can say it once */
  if (read && alone) return open_alone(count, r), true;
  if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) return llama_fail(error, "MPI can't be started");
  if (!ranks_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &job), "ranks", error) ||
      !ranks_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &failing), "ranks", error) ||
      !ranks_mpi(MPI_Comm_split_type(job, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host), "ranks", error))
    return false;
  opened = true;
  MPI_Comm_set_errhandler(job, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(failing, MPI_ERRORS_RETURN);
  MPI_Comm_rank(job, &r->rank);
  MPI_Comm_size(job, &r->size);
  MPI_Comm_rank(host, &r->local);
  MPI_Comm_size(host, &r->beside);
  MPI_Comm_free(&host);
  if (!read) return false;
  return count == r->size ||
         llama_fail(error, "--ranks tp=%d: the number of processes is %d: start them with mpirun -n %d tiny-llama ...", count,
                    r->size, count);
}

static bool is_open(void) {
  int ended = 0;
  if (opened) MPI_Finalized(&ended);
  return opened && !ended;
}

void ranks_close(ranks *r) {
  (void)r;
  if (is_open()) MPI_Finalize();
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Has a rank before this one failed too, within a while? A mistake that all see comes to all at nearly the same time. */
static bool is_first(const ranks *r) {
  static int nothing;
  MPI_Request request;
  for (int other = r->rank + 1; other < r->size; other++)
    if (MPI_Isend(&nothing, 0, MPI_INT, other, 0, failing, &request) == MPI_SUCCESS) MPI_Request_free(&request);
  for (double end = now() + 0.5; r->rank > 0 && now() < end; usleep(1000)) {
    int found = 0;
    if (MPI_Iprobe(MPI_ANY_SOURCE, 0, failing, &found, MPI_STATUS_IGNORE) == MPI_SUCCESS && found) return false;
  }
  return true;
}

void ranks_fail(const ranks *r, const llama_error *error) {
  bool alone = !is_open() || r->size == 1; /* also a rank without the others */
  if (alone || is_first(r)) {
    fprintf(stderr, "tiny-llama: %s\n", error->text);
    fflush(stderr);
  } else {
    sleep(2); /* the rank that prints ends all others */
  }
  if (alone) return;
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
  _exit(1);
}

bool ranks_gather(const ranks *r, const void *mine, size_t bytes, void *all, llama_error *error) {
  const size_t most = (size_t)1 << 30;
  if (r->size == 1 || r->alone) return gather_alone(r, mine, bytes, all);
  if (bytes > most) return llama_fail(error, "ranks: %zu bytes are too many at once", bytes);
  MPI_Request request;
  return ranks_mpi(MPI_Iallgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, job, &request), "ranks", error) &&
         ranks_wait(&request, "ranks", error);
}

#else

bool ranks_open(const char *text, ranks *r, llama_error *error) {
  int count;
  bool alone;
  *r = (ranks){.size = 1, .beside = 1};
  if (text == NULL) return true;
  if (!read_count(text, &count, &alone, error)) return false;
  if (alone) return open_alone(count, r), true;
  return llama_fail(error, "--ranks = '%.40s': this build has no MPI: meson configure -Dmpi=enabled", text);
}

void ranks_close(ranks *r) { (void)r; }

void ranks_fail(const ranks *r, const llama_error *error) {
  (void)r;
  fprintf(stderr, "tiny-llama: %s\n", error->text);
}

bool ranks_gather(const ranks *r, const void *mine, size_t bytes, void *all, llama_error *error) {
  (void)error;
  return gather_alone(r, mine, bytes, all);
}

#endif

bool ranks_first_started(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (getenv(names[i]) != NULL) return strcmp(getenv(names[i]), "0") == 0;
  return true;
}

bool ranks_same(const ranks *r, const void *mine, size_t bytes, const char *what, llama_error *error) {
  uint64_t hash = random_hash(0, mine, bytes), all[RANKS_MOST] = {0};
  if (!ranks_gather(r, &hash, sizeof hash, all, error)) return false;
  for (int i = 1; i < r->size; i++)
    if (all[i] != all[0]) return llama_fail(error, "rank %d has %s than rank 0", i, what);
  return true;
}
