#include "assemble.h"

#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static bool run_clang(char *clang, const char *chip, char *source, char *object) {
  char cpu[32];
  snprintf(cpu, sizeof cpu, "-mcpu=%s", chip);
  char *argv[] = {clang, "-target", "amdgcn-amd-amdhsa", cpu, source, "-o", object, NULL};
  pid_t child;
  int status;
  return posix_spawnp(&child, clang, NULL, NULL, argv, environ) == 0 && waitpid(child, &status, 0) == child && status == 0;
}

static size_t read_all(const char *path, uint8_t *data, size_t room) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return 0;
  size_t bytes = fread(data, 1, room, file);
  fclose(file);
  return bytes;
}

size_t assemble(char *clang, const char *chip, void (*write)(FILE *file, const void *argument), const void *argument,
                uint8_t *data, size_t room) {
  char folder[] = "/tmp/gfxsim-XXXXXX", source[64], object[64];
  if (mkdtemp(folder) == NULL) return perror("assemble: /tmp"), 0;
  snprintf(source, sizeof source, "%s/k.s", folder);
  snprintf(object, sizeof object, "%s/k.hsaco", folder);
  size_t bytes = 0;
  FILE *file = fopen(source, "w");
  if (file != NULL) {
    write(file, argument);
    if (fclose(file) == 0 && run_clang(clang, chip, source, object)) bytes = read_all(object, data, room);
  }
  if (bytes == 0) fprintf(stderr, "%s can't assemble for %s\n", clang, chip);
  unlink(source);
  unlink(object);
  rmdir(folder);
  return bytes;
}
