/* What the files of libgfxsim-hip share: the device with its lock, handles, and how a call ends. */
#ifndef GFXSIM_HIP_STATE_H
#define GFXSIM_HIP_STATE_H
#include "sim/include/gfxsim_hip.h"

/* Takes the lock, and opens the device that the environment names if none is open. False: there is no device; hip_leave all the
 * same. So a call reads: return hip_leave(hip_enter() ? work(...) : hipErrorNoDevice); */
bool hip_enter(void);
/* Gives the lock back and keeps an error as the thread's last one. */
hipError_t hip_leave(hipError_t error);
gfxsim_device *hip_device(void); /* only between the two */

/* Stores the message and returns the error. */
__attribute__((format(printf, 2, 3))) hipError_t hip_fail(hipError_t error, const char *format, ...);
/* The error that a status of the simulator means; its message is stored already. */
hipError_t hip_status(gfxsim_status status);

/* hipSuccess for NULL, the default stream, and for live ones (small_stream.c). */
hipError_t hip_check_stream(const char *call, hipStream_t stream);

/* ---- Handles: numbers that only the table knows, so that a stale or wrong one is recognised without being read ---- */

typedef enum handle_kind { HANDLE_FREE, HANDLE_STREAM, HANDLE_EVENT, HANDLE_MODULE, HANDLE_FUNCTION, HANDLE_HOST } handle_kind;

/* NULL without memory. The object is given to free() when the handle is closed; NULL is allowed. */
void *handle_open(handle_kind kind, void *object);
/* Whether the handle is live, and its object. */
bool handle_find(handle_kind kind, const void *handle, void **object);
void handle_close(const void *handle);
void handle_close_all(void);
/* The handle of an object; NULL where there is none. */
void *handle_of(handle_kind kind, const void *object);

#endif
