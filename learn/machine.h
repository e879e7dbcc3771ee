/* What runs a HIP kernel: the simulator, or a GPU through HIP's runtime. One at a time in a process. Functions that return bool
 * leave the verdict in the outcome before they return false. */
#ifndef TANDEM_LEARN_MACHINE_H
#define TANDEM_LEARN_MACHINE_H

#include "build.h"
#include "data.h"
#include "learn.h"

typedef struct learn_machine {
  size_t canary; /* bytes around each array that show stray writes; 0: the machine sees them itself */
  bool (*open)(const learn_request *r, const learn_code *code, learn_launch *launch, learn_outcome *o);
  bool (*alloc)(size_t bytes, uint64_t *address, learn_outcome *o);
  bool (*release)(uint64_t address, learn_outcome *o);
  bool (*write)(uint64_t address, const void *host, size_t bytes, learn_outcome *o);
  bool (*read)(uint64_t address, void *host, size_t bytes, learn_outcome *o);
  bool (*launch)(const learn_exercise *e, const uint32_t grid[3], uint32_t block, const void *args, size_t bytes,
                 learn_outcome *o);
  /* Puts the predicted clocks of such a launch into the outcome; NULL: the machine predicts nothing. */
  bool (*predict)(const learn_exercise *e, const uint32_t grid[3], uint32_t block, const void *args, size_t bytes,
                  learn_outcome *o);
} learn_machine;

extern const learn_machine learn_simulator;
extern const learn_machine learn_gpu;

/* What a code object says of its kernel, without a device: for learn_gpu. */
bool learn_inspect(const learn_exercise *e, const char *chip, const learn_code *code, learn_launch *launch, learn_outcome *o);
/* The chip of hip:N. */
bool learn_gpu_chip(const char *device, char *chip, size_t size, learn_outcome *o);

/* All shapes on a machine, in a child: what comes out leaves it through the pipe of child.h. inputs: one of each shape. */
void learn_run_hip(const learn_request *r, const learn_code *code, const learn_machine *machine, learn_data *inputs,
                   learn_outcome *o);

#endif
