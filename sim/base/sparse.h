/* Pages of zeros by number, each made when it is first asked for: the shadow of addresses that lie far apart. */
#ifndef GFXSIM_SPARSE_H
#define GFXSIM_SPARSE_H
#include "types.h"

typedef struct sparse sparse;

sparse *sparse_make(size_t page_bytes); /* NULL: no memory */
/* By several threads at once. NULL: no memory, or more than SPARSE_PAGES of them. */
void *sparse_page(sparse *s, u64 number);
void sparse_free(sparse *s); /* NULL is allowed */

#endif
