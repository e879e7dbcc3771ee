/* Standard output: a tool whose text could not be written has failed. */
#ifndef TANDEM_FILES_OUTPUT_H
#define TANDEM_FILES_OUTPUT_H

/* First of all in main. When the process exits, also by popt's --help, standard output is flushed and closed; if any of its
 * text was lost, a line on standard error reports it, and the exit status is 1. */
void output_begin(const char *tool);

#endif
