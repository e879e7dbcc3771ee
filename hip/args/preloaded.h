/* How much of a kernel's argument is in registers when a wave begins (device/arguments.h), shared by host and device. */
#ifndef TANDEM_HIP_ARGS_PRELOADED_H
#define TANDEM_HIP_ARGS_PRELOADED_H

/* There are 16 scalar registers for it, of which the argument's address takes two. */
enum { HIP_PRELOADED_BYTES = 56 };

#endif
