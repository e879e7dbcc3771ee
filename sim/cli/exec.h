/* gfxsim exec: runs a program with the doors in place, and prints at its end what they counted. */
#ifndef GFXSIM_CLI_EXEC_H
#define GFXSIM_CLI_EXEC_H

int exec_command(int argc, const char **argv);

#endif
