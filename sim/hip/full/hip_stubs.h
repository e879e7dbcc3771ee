/* What hip_stubs.c needs of the door; it can't see HIP's own declarations, which it would contradict. */
#ifndef GFXSIM_HIP_STUBS_H
#define GFXSIM_HIP_STUBS_H

int hip_stub(const char *name); /* counts the call as not served; hipErrorNotSupported */

#endif
