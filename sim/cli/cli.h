/* The parts of the command line. Functions that return bool print what is wrong to stderr before they return false. */
#ifndef GFXSIM_CLI_H
#define GFXSIM_CLI_H
#include "files/npy.h"
#include "sim/include/gfxsim.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, ARGS_MOST = 256 };

__attribute__((format(printf, 1, 2))) bool complain(const char *format, ...);
/* Of an option that popt has refused with this error. bad: poptBadOption(context, 0), a number without its option where it is
 * the number that is wrong. */
bool complain_option(int argc, const char **argv, const char *bad, int error);

/* "race,wait", or "all", to bits of gfxsim_check; NULL: none. */
bool checks_parse(const char *text, uint32_t *checks);

int info_command(int argc, const char **argv);
int run_command(int argc, const char **argv);
int profile_command(int argc, const char **argv);
int time_command(int argc, const char **argv);

/* A buffer that an --arg made. */
typedef struct buffer {
  uint64_t address;
  size_t bytes;
  char *out; /* file to write after the run, freed by arguments_free; NULL: none */
  npy_type type;
  int rank;
  int64_t dim[NPY_MAX_RANK];
} buffer;

typedef struct arguments {
  uint8_t *bytes; /* the explicit kernel arguments */
  size_t size;
  buffer buffer[ARGS_MOST];
  int buffers;
} arguments;

/* Random elements of a type that --arg names; random.c says which. */
void random_fill(const char *type, size_t type_length, uint64_t seed, size_t bytes, uint8_t *data);

/* Lays the texts out by the kernel's metadata, and makes the buffers. */
bool arguments_make(gfxsim_device *device, const gfxsim_kernel_info *kernel, const char *const *texts, int count,
                    arguments *made);
/* How many of them are to be saved. */
int arguments_outputs(const arguments *made);
bool arguments_save(gfxsim_device *device, const arguments *made);
void arguments_free(arguments *made);

#endif
