/* What a device is sold as. */
#ifndef TANDEM_BENCH_CORE_DEVICE_NAME_H
#define TANDEM_BENCH_CORE_DEVICE_NAME_H

#include <stddef.h>

/* The GPU of omp:N or hip:N by the driver that the process has loaded, as in "NVIDIA H200"; "" where no driver tells. */
void bench_device_name(const char *device, char *text, size_t size);

#endif
