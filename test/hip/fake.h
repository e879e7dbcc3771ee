/* How a test steers the stand-in for libamdhip64 (fake.c), which it finds with dlsym(library, "fake_hip"). */
#ifndef TANDEM_TEST_FAKE_H
#define TANDEM_TEST_FAKE_H

#include "hip_abi.h"

enum { FAKE_LOG = 64 };

typedef struct fake_hip {
  /* Faults. Calls that only describe an error (hipGetErrorName, hipGetErrorString, hipGetLastError) are not counted. */
  int calls;          /* so far */
  int fail_at;        /* the call that fails, counted from 0; -1: none */
  int fail_forever;   /* 1: the calls after it fail too */
  hipError_t error;   /* that it returns */
  int release;        /* 1: a call that releases something and fails has released it */
  const char *failed; /* the first function that failed: "hipMalloc"; NULL: none */
  /* What lives now, and what was launched. */
  int memory, streams, events, modules;
  int launches;
  int launches_before; /* those that came before the call that failed */
  int strays;          /* calls that used something of a device while another one was current */
  int device;          /* current in this process */
  int devices_used[4]; /* launches on each */
  /* Graphs. */
  int capturing;         /* 1: `capture` captures */
  hipStream_t capture;   /* NULL: none */
  const char *forbidden; /* the first function that was called although HIP does not allow it meanwhile */
  int captured_launches;
  hipStream_t launched_on; /* the last launch's stream */
  int captured_events;     /* records of events on it */
  int records;             /* of events, so far */
  /* Memory that is not the device's: its address, and what is known of it. */
  const void *special;
  int unknown; /* 1: hipErrorInvalidValue, as HIP's documentation has it for memory that it does not know */
  hipPointerAttribute_t attributes;
  /* What the devices report. */
  int compute_units;      /* 0: 256 */
  int reads_host;         /* pageableMemoryAccess */
  int borrowed, returned; /* calls of hipMallocAsync and hipFreeAsync */
  int no_pools;           /* hipDeviceAttributeMemoryPoolsSupported is 0 */
  int xcds;               /* hipDeviceAttributeNumberOfXccs; 0: refused, as ROCm 6 does; -1: reported as 0 */
  /* The names of the calls, in their order: the first ones since `logged` was set to 0. */
  int logged;
  const char *log[FAKE_LOG];
} fake_hip;

#endif
