/* Files that users name as inputs. */
#ifndef TANDEM_FILES_READ_H
#define TANDEM_FILES_READ_H

#include <stdbool.h>
#include <stdio.h>

/* Opens a regular file for reading, and refuses others: a read from a pipe or terminal may never return. On an error it returns
 * -1, or NULL, and writes one line without the path, as in "is a pipe: must be a regular file". */
int read_open(const char *path, char *error, size_t size);
FILE *read_open_stream(const char *path, char *error, size_t size);

#endif
