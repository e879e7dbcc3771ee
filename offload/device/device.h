/* The omp backend: OpenMP's offload devices, and the host. */
#ifndef TANDEM_OFFLOAD_DEVICE_DEVICE_H
#define TANDEM_OFFLOAD_DEVICE_DEVICE_H

#include "src/core/context.h"

extern const tdm_backend tdm_backend_omp;

/* wait.c: tdm_backend.wait */
tdm_status tdm_omp_wait(const tdm_context *context, const char *wait, char *reason, size_t size);

#endif
