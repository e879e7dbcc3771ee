/* The part of DLPack 1.x that the module uses, from its specification (https://dmlc.github.io/dlpack/latest/c_api.html). */
#ifndef TANDEM_BINDING_DLPACK_H
#define TANDEM_BINDING_DLPACK_H

#include <stdint.h>

enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_ROCM = 10, DL_ROCM_HOST = 11, DL_CUDA_MANAGED = 13 };
enum { DL_INT = 0, DL_FLOAT = 2, DL_BFLOAT = 4 };
enum { DL_READ_ONLY = 1 };

typedef struct dl_device {
  int32_t type, number;
} dl_device;

typedef struct dl_type {
  uint8_t code, bits;
  uint16_t lanes;
} dl_type;

typedef struct dl_tensor {
  void *data;
  dl_device device;
  int32_t rank;
  dl_type type;
  int64_t *shape, *strides; /* strides count elements; NULL before version 1.2: contiguous */
  uint64_t offset;          /* in bytes */
} dl_tensor;

typedef struct dl_managed {
  dl_tensor tensor;
  void *owner;
  void (*deleter)(struct dl_managed *self);
} dl_managed;

typedef struct dl_version {
  uint32_t major, minor;
} dl_version;

typedef struct dl_versioned {
  dl_version version;
  void *owner;
  void (*deleter)(struct dl_versioned *self);
  uint64_t flags;
  dl_tensor tensor;
} dl_versioned;

/* What __dlpack_c_exchange_api__ of a class is, from DLPack 1.3 on: functions that read an array without Python calls. */
typedef struct dl_exchange {
  dl_version version;
  struct dl_exchange *older;
  void *allocate, *managed_from_object, *managed_to_object;
  int (*tensor_from_object)(void *object, dl_tensor *tensor); /* the tensor is the object's; may be NULL */
  int (*current_stream)(int32_t type, int32_t number, void **stream);
} dl_exchange;

/* Fills an array from a tensor. -1: an exception. */
struct array;
int dlpack_read(const char *op, struct array *a, const dl_tensor *tensor);

#endif
