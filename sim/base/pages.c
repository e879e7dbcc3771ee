#define _GNU_SOURCE /* memfd_create */
#include "pages.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A block maps one file of a piece's size again and again. The mappings are private, so a write copies 4 KiB. A process may
 * have 65530 mappings by default, so a block of more than 1 GiB takes pieces of 64 MiB: 3072 of them are an MI300X's memory. */
enum { PIECE = 2 << 20, LARGE_PIECE = 64 << 20, VALUES = 256 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int file_of[2][VALUES]; /* small and large, by value: the file + 1; 0: none yet, -1: there is none to be had */

static int make_file(u8 value, u64 size) {
  int file = memfd_create("gfxsim-pages", MFD_CLOEXEC);
  if (file < 0) return -1;
  void *piece = MAP_FAILED;
  if (ftruncate(file, (off_t)size) == 0) piece = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (piece == MAP_FAILED) {
    close(file);
    return -1;
  }
  memset(piece, value, size);
  munmap(piece, size);
  return file + 1;
}

static int find_file(u8 value, u64 size) {
  pthread_mutex_lock(&lock);
  int *known = &file_of[size == LARGE_PIECE][value], file;
  if (*known == 0) *known = make_file(value, size);
  file = *known;
  pthread_mutex_unlock(&lock);
  return file - 1;
}

void pages_set(u8 *at, u64 bytes, u8 value) {
  const u64 piece = bytes > UINT64_C(1) << 30 ? LARGE_PIECE : PIECE;
  int file = find_file(value, piece);
  for (u64 done = 0; done < bytes; done += piece) {
    u64 part = bytes - done < piece ? bytes - done : piece;
    if (file < 0 ||
        mmap(at + done, part, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED, file, 0) == MAP_FAILED) {
      memset(at + done, value, bytes - done); /* what is mapped there still is memory */
      return;
    }
  }
}

u8 *pages_make(u64 bytes, u8 value) {
  u8 *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return NULL;
  if (value != 0) pages_set(at, bytes, value);
  return at;
}

void pages_free(u8 *at, u64 bytes) {
  if (at != NULL) munmap(at, bytes);
}
