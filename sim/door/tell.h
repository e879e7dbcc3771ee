/* How the doors report what they found, and what they don't support: to `gfxsim exec`, or to the user if it is not running. */
#ifndef GFXSIM_DOOR_TELL_H
#define GFXSIM_DOOR_TELL_H
#include "sim/include/gfxsim_counters.h"
#include "sim/include/gfxsim_time.h"
#include "tally.h"

tally *door_tally(void);
/* A call, or a part of one, that the door does not serve: counted by its text. */
__attribute__((format(printf, 1, 2))) void door_unserved(const char *format, ...);
/* What the user should know, but is not a finding. */
__attribute__((format(printf, 1, 2))) void door_note(const char *format, ...);
/* A finding of gfxsim, as `gfxsim run` prints it; device: its number, or -1 where the program has only one. */
void door_found(const gfxsim_report *report, int device);
/* A finding of the door itself. */
void door_found_text(const char *kind, const char *kernel, const char *message);
/* Counts the finding as suppressed, where it is a known one of a device runtime; else false. */
bool door_suppressed(const gfxsim_report *report);
/* What a launch counts and how long it is predicted to take: begin puts them into the launch as far as they are wanted, end
 * adds them to the row of its kernel. */
typedef enum door_profile { DOOR_PROFILE_NONE, DOOR_PROFILE_COUNTS, DOOR_PROFILE_TIME } door_profile;
typedef struct door_measure {
  gfxsim_counters counters;
  gfxsim_timing timing;
} door_measure;
void door_measure_begin(door_measure *m, unsigned long profile, gfxsim_launch *launch);
void door_measure_end(door_measure *m, const char *kernel, const gfxsim_launch *launch, gfxsim_status status);

/* What `gfxsim exec` sets in the environment. */
enum { DOOR_DEVICES_MOST = 8 };
typedef struct door_options {
  const char *chip;
  unsigned long devices, unchecked, threads, profile, turn, seed;
} door_options;
bool door_options_read(door_options *options); /* false: a value is not allowed; a message was printed */
bool door_xnack(void); /* HSA_XNACK=1, as users of the hardware set it: kernels may use all memory of the process */

#endif
