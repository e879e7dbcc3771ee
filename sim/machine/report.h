/* What a launch finds: kept until its end, one row for each kind and pc. */
#ifndef GFXSIM_REPORT_H
#define GFXSIM_REPORT_H
#include "sim/include/gfxsim.h"
#include "sim/load/object.h"

typedef struct report_list report_list;

/* NULL: no memory. */
report_list *reports_make(const gfxsim_kernel *kernel);
/* Calls the callback for each row, frees the list, and returns the launch's status: GFXSIM_OK where nothing was found. */
gfxsim_status reports_end(report_list *list);

#endif
