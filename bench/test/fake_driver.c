/* A CUDA driver that knows the names of two GPUs. */
#include <stdio.h>
int cuDeviceGetName(char *name, int length, int device);
int cuDeviceGetName(char *name, int length, int device) {
  if (device > 1) return 101; /* CUDA_ERROR_INVALID_DEVICE */
  snprintf(name, (size_t)length, "Fake GPU %c", 'A' + device);
  return 0;
}
