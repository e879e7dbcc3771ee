/* Result files: what was there before stays whole until the new file is on the disk.
 *
 *   result_file f;
 *   if (!result_open(&f, path, error, sizeof error)) ...        nothing was changed
 *   fprintf(f.to, ...);                                         no check needed here: the first failure is kept
 *   if (!result_finish(&f, error, sizeof error)) ...            the old file is still there
 *
 * The text goes to a new file in the target's folder, NAME.NUMBER.tandem-tmp, which is synced and then renamed over the target.
 * After an error it is removed. A process that is killed leaves it: such a file may be deleted.
 *
 * A target that exists keeps its permissions, and its owner where the system allows it; hard links to it keep the old contents.
 * A symbolic link stays, and the file that it names is replaced. Pipes, terminals, /dev/null and the process's own descriptors
 * (/dev/stdout, /dev/fd/3) can't be replaced and are written to directly. Folders, block devices and write-protected files are
 * refused.
 *
 * Errors are one line without the path, as in "can't be written: No space left on device": the caller adds the name of its
 * option.
 */
#ifndef TANDEM_FILES_RESULT_H
#define TANDEM_FILES_RESULT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

typedef struct result_file {
  FILE *to;
  char *target, *temporary; /* symbolic links followed; both NULL: written directly */
  int descriptor;
  int fault; /* errno of the first write that failed */
} result_file;

bool result_open(result_file *f, const char *path, char *error, size_t size);
/* Closes it and puts it in place. */
bool result_finish(result_file *f, char *error, size_t size);
/* The same in two steps, so that several files change together: after result_sync only the renaming is left. */
bool result_sync(result_file *f, char *error, size_t size);
bool result_place(result_file *f, char *error, size_t size);
/* Gives it up: the old file stays. Allowed at any time, also after an error. */
void result_drop(result_file *f);

/* Says before a long run whether result_open would work; changes nothing, and does not wait for the reader of a pipe. */
bool result_check(const char *path, char *error, size_t size);

#endif
