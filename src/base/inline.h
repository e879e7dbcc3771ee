/* What marks code that is compiled for hosts and for GPUs. */
#ifndef TANDEM_BASE_INLINE_H
#define TANDEM_BASE_INLINE_H

/* Inside device code of an offload build, in the pass that compiles for the GPU. */
#if defined(__NVPTX__) || defined(__AMDGCN__)
#define TDM_ON_GPU 1
#else
#define TDM_ON_GPU 0
#endif

#ifdef __HIP__
#define TDM_INLINE static constexpr __attribute__((host, device, always_inline))
#else
#define TDM_INLINE static inline __attribute__((always_inline))
#endif

#endif
