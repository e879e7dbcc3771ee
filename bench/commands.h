/* Commands of tandem-bench that are not ops. argv[0] is the command; each returns the exit code of the program. */
#ifndef TANDEM_BENCH_COMMANDS_H
#define TANDEM_BENCH_COMMANDS_H

int bench_shapes_command(int argc, char **argv);
int bench_order(int argc, char **argv);
int bench_ladder(int argc, char **argv);
/* command: what the user typed. */
int bench_score(int argc, char **argv, const char *command);
int bench_tune(int argc, char **argv, const char *command);

#endif
