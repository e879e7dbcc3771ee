/* What files that call MPI share. */
#ifndef LLAMA_RANKS_MPI_H
#define LLAMA_RANKS_MPI_H

#include "error.h"

#ifdef LLAMA_MPI
#include <mpi.h>

/* The processes of this run. */
MPI_Comm ranks_job(void);
/* Waits for an exchange; other processes of the host may run meanwhile. */
bool ranks_wait(MPI_Request *request, const char *doing, llama_error *error);
/* A line about a code that is not MPI_SUCCESS. */
bool ranks_mpi(int code, const char *doing, llama_error *error);
#endif

#endif
