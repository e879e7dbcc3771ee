/* Result files. Each function returns false with one line in error. */
#ifndef TANDEM_BENCH_REPORT_FILE_H
#define TANDEM_BENCH_REPORT_FILE_H

#include <jansson.h>

#include "result.h"

/* What is written to file->to replaces what was there when it is closed (files/result.h). */
bool bench_open_file(result_file *file, const char *path, char *error, size_t size);
/* Can a file be written? Asked before minutes of measuring. NULL: none is wanted. */
bool bench_can_write(const char *option, const char *path, char *error, size_t size);
bool bench_close_file(result_file *file, const char *path, char *error, size_t size);
/* root, which it releases; NULL: no memory for it. */
bool bench_write_root(const char *path, json_t *root, char *error, size_t size);

#endif
