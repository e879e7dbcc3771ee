/* Hopper's matrix unit and its copies, for C that is compiled to sm_90a: one warpgroup (4 waves, 128 threads) multiplies 64
 * lines of one operand by N lines of the other, both in shared memory, and keeps the sums in registers. For the
 * instructions see NVIDIA's PTX ISA: "wgmma.mma_async", "matrix descriptor", "cp.async.bulk.tensor", "mbarrier",
 * "barrier.cluster", "mapa".
 *
 * Shared memory holds an operand as the tensor copies write it with the swizzle of 128 bytes: pieces of 16 bytes are
 * exclusive-ored with the number of their line of 128 bytes, modulo 8. Two kinds of order:
 *   k contiguous      a line has 64 k of one row or column; 8 lines are an atom of 1024 bytes; atoms follow each other
 *                     along the rows
 *   k not contiguous  a line has 64 rows or columns of one k; 8 lines are an atom; atoms follow each other along k. 64 k
 *                     are 8 KiB, and the next 64 rows or columns come after them */
#ifndef TANDEM_OFFLOAD_DEVICE_WGMMA_H
#define TANDEM_OFFLOAD_DEVICE_WGMMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/inline.h"
#include "tandem/tandem.h"
#include "wgmma_sizes.h"

/* test/hopper/stand_in.h has the same for hosts, where a test executes the kernels. */

#define WG_UNROLL _Pragma("unroll")
#define WG_NO_UNROLL _Pragma("nounroll")
/* Memory of the device: without the word a GPU finds out at every access. */
#define WG_GLOBAL __attribute__((address_space(1)))
/* What lies at a place in shared memory. */
#define WG_AT(type, address) (*(__attribute__((address_space(3))) type *)(uintptr_t)(address))
/* The same, read where it stands: ptxas moves other reads to where the value is needed, and the wave waits there. */
#define WG_AT_ONCE(type, address) (*(volatile __attribute__((address_space(3))) type *)(uintptr_t)(address))

/* The block's shared memory. */
extern __attribute__((address_space(3), aligned(64))) char wg_memory[];
TDM_INLINE wg_address wg_memory_begin(void) { return (wg_address)(uintptr_t)wg_memory; }
TDM_INLINE const void *wg_memory_pointer(void) { return (const void *)wg_memory; }

/* The beginning of a kernel with one structure as its parameter, whose address in parameter memory becomes `pointer`. It is
 * taken by name: copies need tensor maps that are in memory of the whole launch, and C would copy the structure to the
 * thread. */
#define WG_FUNCTION(name, type, pointer)                                                                                \
  __attribute__((nvptx_kernel)) void name(type parameter);                                                              \
  static inline __attribute__((always_inline)) void name##_body(const type *pointer);                                   \
  __attribute__((nvptx_kernel)) void name(type parameter) {                                                             \
    (void)parameter;                                                                                                    \
    const type *at;                                                                                                     \
    __asm__ volatile("{\n\t.reg .b64 at;\n\tmov.b64 at, " #name "_param_0;\n\tcvta.param.u64 %0, at;\n\t}" : "=l"(at)); \
    name##_body(at);                                                                                                    \
  }                                                                                                                     \
  static inline __attribute__((always_inline)) void name##_body(const type *pointer)

/* ---- Barriers of shared memory: a phase ends when `count` threads have arrived and all expected bytes have come ---- */

TDM_INLINE void wg_barrier_init(wg_address barrier, int count) {
  __asm__ volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"(barrier), "r"(count) : "memory");
}

/* Makes initialised barriers visible to the cluster and to copies. */
TDM_INLINE void wg_barriers_made(void) {
  __asm__ volatile("fence.mbarrier_init.release.cluster;\n\tfence.proxy.async;" : : : "memory");
}

/* Arrives, and expects that many bytes of copies more. */
TDM_INLINE void wg_expect(wg_address barrier, int bytes) {
  __asm__ volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" : : "r"(barrier), "r"(bytes) : "memory");
}

/* Arrives at the barrier of block `rank` of the cluster. */
TDM_INLINE void wg_arrive(wg_address barrier, int rank) {
  __asm__ volatile(
      "{\n\t.reg .b32 there;\n\t"
      "mapa.shared::cluster.u32 there, %0, %1;\n\t"
      "mbarrier.arrive.shared::cluster.b64 _, [there];\n\t}"
      :
      : "r"(barrier), "r"(rank)
      : "memory");
}

/* Waits for the end of the phase with this parity. The number is the nanoseconds that the thread may sleep at once, until the
 * barrier changes. Without it ptxas makes a loop that looks all the time: the thread that copies for attention in f32 took up
 * to 40 % of the instructions of its scheduler, which it shares with waves that multiply. */
TDM_INLINE void wg_wait(wg_address barrier, int parity) {
  int done;
  do
    __asm__ volatile(
        "{\n\t.reg .pred p;\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2, 10000000;\n\t"
        "selp.b32 %0, 1, 0, p;\n\t}"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
  while (!done);
}

/* ---- Clusters ---- */

TDM_INLINE int wg_cluster_rank(void) {
  int x;
  __asm__ volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(x));
  return x;
}
TDM_INLINE int wg_cluster(void) {
  int x;
  __asm__ volatile("mov.u32 %0, %%clusterid.x;" : "=r"(x));
  return x;
}
TDM_INLINE int wg_clusters(void) {
  int x;
  __asm__ volatile("mov.u32 %0, %%nclusterid.x;" : "=r"(x));
  return x;
}
TDM_INLINE int wg_thread(void) { return __nvvm_read_ptx_sreg_tid_x(); }
TDM_INLINE int wg_block(void) { return __nvvm_read_ptx_sreg_ctaid_x(); }
TDM_INLINE int wg_blocks(void) { return __nvvm_read_ptx_sreg_nctaid_x(); }
/* The same, read where it stands and not kept in a register from an earlier place. */
TDM_INLINE int wg_thread_again(void) {
  int x;
  __asm__ volatile("mov.u32 %0, %%tid.x;" : "=r"(x));
  return x;
}

/* The same pointer, but the compiler can't know that: what is read through it is read again. */
TDM_INLINE const void *wg_again(const void *pointer) {
  __asm__ volatile("" : "+l"(pointer));
  return pointer;
}

/* Waits for the threads of the wave, and for the first `threads` of the block, which are whole warpgroups. */
TDM_INLINE void wg_sync_wave(void) { __asm__ volatile("bar.warp.sync 0xffffffff;" : : : "memory"); }
TDM_INLINE void wg_sync_threads(int threads) { __asm__ volatile("bar.sync 1, %0;" : : "r"(threads) : "memory"); }
/* The same at barrier `id`, 2 to 15; and an arrival there that does not wait. `threads` counts both. */
TDM_INLINE void wg_sync_at(int id, int threads) { __asm__ volatile("bar.sync %0, %1;" : : "r"(id), "r"(threads) : "memory"); }
TDM_INLINE void wg_arrive_at(int id, int threads) {
  __asm__ volatile("bar.arrive %0, %1;" : : "r"(id), "r"(threads) : "memory");
}
/* Waits as wg_sync_at; is it true in any of the threads? */
TDM_INLINE bool wg_any_at(int id, int threads, bool value) {
  int any;
  __asm__ volatile(
      "{\n\t.reg .pred p, q;\n\tsetp.ne.b32 p, %1, 0;\n\tbarrier.cta.red.or.pred q, %2, %3, p;\n\tselp.b32 %0, 1, 0, q;\n\t}"
      : "=r"(any)
      : "r"((int)value), "r"(id), "r"(threads)
      : "memory");
  return any;
}

/* Of the wave: the value of lane `lane`, and of the lane whose number differs by `distance`. Is it true in any lane? */
TDM_INLINE float wg_lane(float x, int lane) {
  __asm__ volatile("shfl.sync.idx.b32 %0, %0, %1, 0x1f, 0xffffffff;" : "+f"(x) : "r"(lane));
  return x;
}
TDM_INLINE float wg_lane_xor(float x, int distance) {
  float y;
  __asm__ volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=f"(y) : "f"(x), "r"(distance));
  return y;
}
TDM_INLINE uint32_t wg_word_xor(uint32_t x, int distance) {
  uint32_t y;
  __asm__ volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(y) : "r"(x), "r"(distance));
  return y;
}
TDM_INLINE bool wg_any(bool value) { return __nvvm_vote_any_sync(0xffffffff, value); }

/* 2^x within 2^-22; 0 if the result would be subnormal. */
TDM_INLINE float wg_exp2(float x) { return __nvvm_ex2_approx_ftz_f(x); }
TDM_INLINE float wg_larger(float a, float b) { return __nvvm_fmax_f(a, b); }
/* Waits for all threads of the cluster that have not ended. What they wrote to shared memory is visible afterwards. */
TDM_INLINE void wg_cluster_sync(void) {
  __asm__ volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" : : : "memory");
}

/* The place `at` in block `rank` of the cluster, and a float from there; offset is a constant. */
TDM_INLINE wg_address wg_address_in(wg_address at, int rank) {
  wg_address there;
  __asm__ volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at), "r"(rank));
  return there;
}
TDM_INLINE float wg_load_from(wg_address there, int offset) {
  float x;
  __asm__ volatile("ld.shared::cluster.f32 %0, [%1 + %2];" : "=f"(x) : "r"(there), "i"(offset) : "memory");
  return x;
}
TDM_INLINE void wg_store_float(wg_address at, int offset, float x) {
  __asm__ volatile("st.shared.f32 [%0 + %1], %2;" : : "r"(at), "i"(offset), "f"(x) : "memory");
}

/* Gives registers of this warpgroup back, or takes them: to `count` for each thread, a multiple of 8. */
#define WG_FEWER_REGISTERS(count) __asm__ volatile("setmaxnreg.dec.sync.aligned.u32 " #count ";")
#define WG_MORE_REGISTERS(count) __asm__ volatile("setmaxnreg.inc.sync.aligned.u32 " #count ";")

/* ---- Copies of boxes of a tensor map ---- */

/* x, y, z: where the box begins, innermost first. What is outside of the tensor becomes 0. */
TDM_INLINE void wg_copy(wg_address to, const void *map, wg_address barrier, int x, int y, int z) {
  __asm__ volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
      :
      : "r"(to), "l"(map), "r"(x), "r"(y), "r"(z), "r"(barrier)
      : "memory");
}

/* The same to the same place of both blocks of a cluster of two, whose barriers both get the bytes. */
TDM_INLINE void wg_copy_to_both(wg_address to, const void *map, wg_address barrier, int x, int y, int z) {
  __asm__ volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
      "[%1, {%2, %3, %4}], [%5], %6;"
      :
      : "r"(to), "l"(map), "r"(x), "r"(y), "r"(z), "r"(barrier), "h"((uint16_t)3)
      : "memory");
}

/* The same from a tensor of four dimensions. */
TDM_INLINE void wg_copy_4(wg_address to, const void *map, wg_address barrier, int x, int y, int z, int w) {
  __asm__ volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6];"
      :
      : "r"(to), "l"(map), "r"(x), "r"(y), "r"(z), "r"(w), "r"(barrier)
      : "memory");
}

/* What the threads wrote to shared memory is visible to the products that follow. */
TDM_INLINE void wg_written(void) { __asm__ volatile("fence.proxy.async.shared::cta;" : : : "memory"); }

/* Into the L2. */
TDM_INLINE void wg_prefetch(const void *at) { __asm__ volatile("prefetch.global.L2 [%0];" : : "l"(at)); }

/* ---- Products ---- */

/* Before the first product that uses sums or operands that the threads have written. */
TDM_INLINE void wg_fence(void) { __asm__ volatile("wgmma.fence.sync.aligned;" : : : "memory"); }
/* Closes a group of products. */
TDM_INLINE void wg_commit(void) { __asm__ volatile("wgmma.commit_group.sync.aligned;" : : : "memory"); }
/* Waits for all groups, or all but the last. */
TDM_INLINE void wg_wait_all(void) { __asm__ volatile("wgmma.wait_group.sync.aligned 0;" : : : "memory"); }
TDM_INLINE void wg_wait_but_one(void) { __asm__ volatile("wgmma.wait_group.sync.aligned 1;" : : : "memory"); }

/* After the last wait: nothing reads the sums before they are complete. */
TDM_INLINE void wg_settle(float *sums, int count) {
  WG_UNROLL
  for (int i = 0; i < count; i++) __asm__ volatile("" : "+f"(sums[i]));
}

/* The same for operands in registers, which stay as they are until their product is complete. */
TDM_INLINE void wg_settle_words(uint32_t *words, int count) {
  WG_UNROLL
  for (int i = 0; i < count; i++) __asm__ volatile("" : "+r"(words[i]));
}

/* Sums of 64 x n: register 4 g + 2 h + c of a lane is row 16 wave + lane / 4 + 8 h, column 8 g + 2 (lane % 4) + c. */
#define WG_4(x, i) "+f"((x)[i]), "+f"((x)[(i) + 1]), "+f"((x)[(i) + 2]), "+f"((x)[(i) + 3])
#define WG_8(x, i) WG_4(x, i), WG_4(x, (i) + 4)
#define WG_16(x, i) WG_8(x, i), WG_8(x, (i) + 8)
#define WG_32(x, i) WG_16(x, i), WG_16(x, (i) + 16)
#define WG_40(x, i) WG_32(x, i), WG_8(x, (i) + 32)
#define WG_48(x, i) WG_32(x, i), WG_16(x, (i) + 32)
#define WG_64(x, i) WG_32(x, i), WG_32(x, (i) + 32)
#define WG_80(x, i) WG_64(x, i), WG_16(x, (i) + 64)
#define WG_96(x, i) WG_64(x, i), WG_32(x, (i) + 64)
#define WG_112(x, i) WG_96(x, i), WG_16(x, (i) + 96)
#define WG_128(x, i) WG_96(x, i), WG_32(x, (i) + 96)

/* The names of these registers in an instruction. */
#define WG_TEXT_8 "%0, %1, %2, %3, %4, %5, %6, %7"
#define WG_TEXT_16 WG_TEXT_8 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define WG_TEXT_32 WG_TEXT_16 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define WG_TEXT_40 WG_TEXT_32 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define WG_TEXT_48 WG_TEXT_32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define WG_TEXT_64 WG_TEXT_48 ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define WG_TEXT_80 WG_TEXT_64 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79"
#define WG_TEXT_96 WG_TEXT_80 ", %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define WG_TEXT_112 WG_TEXT_96 ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111"
#define WG_TEXT_128 \
  WG_TEXT_112 ", %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"

/* sums = a b, or sums += a b if add. d to h: the numbers of the operands after the sums. */
#define WG_INSTRUCTION(held, n, type, d, e, f, g, h)                                                   \
  __asm__ volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %" #f                                         \
                   ", 0;\n\t"                                                                          \
                   "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." type "." type " {" WG_TEXT_##held \
                   "}, %" #d ", %" #e ", p, 1, 1, %" #g ", %" #h ";\n\t}"                              \
                   : WG_##held(sums, 0)                                                                \
                   : "l"(a), "l"(b), "r"((int)add), "i"(a_by_k ? 0 : 1), "i"(b_by_k ? 0 : 1)           \
                   : "memory")
#define WG_CASE(held, n, d, e, f, g, h)               \
  case n:                                             \
    if (type == TDM_F16)                              \
      WG_INSTRUCTION(held, n, "f16", d, e, f, g, h);  \
    else                                              \
      WG_INSTRUCTION(held, n, "bf16", d, e, f, g, h); \
    break

/* Multiplies 64 lines of a by n lines of b, for WG_K k. All but a, b, add and the sums are constants. */
TDM_INLINE void wg_multiply(float *sums, uint64_t a, uint64_t b, bool add, int n, bool a_by_k, bool b_by_k, tdm_type type) {
  switch (n) {
    WG_CASE(8, 16, 8, 9, 10, 11, 12);
    WG_CASE(16, 32, 16, 17, 18, 19, 20);
    WG_CASE(32, 64, 32, 33, 34, 35, 36);
    WG_CASE(40, 80, 40, 41, 42, 43, 44);
    WG_CASE(48, 96, 48, 49, 50, 51, 52);
    WG_CASE(64, 128, 64, 65, 66, 67, 68);
    WG_CASE(80, 160, 80, 81, 82, 83, 84);
    WG_CASE(96, 192, 96, 97, 98, 99, 100);
    WG_CASE(112, 224, 112, 113, 114, 115, 116);
    WG_CASE(128, 256, 128, 129, 130, 131, 132);
  }
}
#undef WG_INSTRUCTION
#undef WG_CASE

/* sums += a b, with a in registers: words 2 j + h of a lane are row 16 wave + lane / 4 + 8 h, k 8 j + 2 (lane % 4) and the
 * next one. So two neighbouring groups of 8 columns of sums, converted, are 16 k of a. */
#define WG_INSTRUCTION(held, n, type)                                                                           \
  __asm__ volatile(                                                                                             \
      "{\n\t.reg .pred p;\n\tsetp.eq.b32 p, 0, 0;\n\t"                                                          \
      "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." type "." type " {" WG_TEXT_##held                       \
      "}, {%[a0], %[a1], %[a2], %[a3]}, %[b], p, 1, 1, %[lines];\n\t}"                                          \
      : WG_##held(sums, 0)                                                                                      \
      : [a0] "r"(a[0]), [a1] "r"(a[1]), [a2] "r"(a[2]), [a3] "r"(a[3]), [b] "l"(b), [lines] "n"(b_by_k ? 0 : 1) \
      : "memory")
#define WG_CASE(held, n)               \
  case n:                              \
    if (type == TDM_F16)               \
      WG_INSTRUCTION(held, n, "f16");  \
    else                               \
      WG_INSTRUCTION(held, n, "bf16"); \
    break
TDM_INLINE void wg_multiply_words(float *sums, const uint32_t *a, uint64_t b, int n, bool b_by_k, tdm_type type) {
  switch (n) {
    WG_CASE(32, 64);
    WG_CASE(40, 80);
    WG_CASE(48, 96);
    WG_CASE(64, 128);
    WG_CASE(96, 192);
    WG_CASE(128, 256);
  }
}
#undef WG_INSTRUCTION
#undef WG_CASE

/* ---- Chunks of sums ---- */

/* to = sums[number * count], ...: count is 8 or 16, and there are at most 8 chunks. Registers have no index, and the compiler
 * makes moves with a predicate of comparisons, for all chunks each time. So it is a jump. */
#define WG_MOVE_8(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)                                                        \
  "mov.b32 %" #a ", %" #i "; mov.b32 %" #b ", %" #j "; mov.b32 %" #c ", %" #k "; mov.b32 %" #d ", %" #l "; mov.b32 %" #e \
  ", %" #m "; mov.b32 %" #f ", %" #n "; mov.b32 %" #g ", %" #o "; mov.b32 %" #h ", %" #p ";\n\t"
#define WG_JUMP(number)                                                                                                 \
  "{\n\twg_chunks: .branchtargets wg_chunk_0, wg_chunk_1, wg_chunk_2, wg_chunk_3, wg_chunk_4, wg_chunk_5, wg_chunk_6, " \
  "wg_chunk_7;\n\tbrx.idx.uni %" #number ", wg_chunks;\n\t"
#define WG_TO_4(x, i) "=&f"((x)[i]), "=&f"((x)[(i) + 1]), "=&f"((x)[(i) + 2]), "=&f"((x)[(i) + 3])
#define WG_FROM_1(i) "f"(sums[(i) < held ? (i) : 0])
#define WG_FROM_4(i) WG_FROM_1(i), WG_FROM_1((i) + 1), WG_FROM_1((i) + 2), WG_FROM_1((i) + 3)
#define WG_FROM_16(i) WG_FROM_4(i), WG_FROM_4((i) + 4), WG_FROM_4((i) + 8), WG_FROM_4((i) + 12)
#define WG_FROM_64(i) WG_FROM_16(i), WG_FROM_16((i) + 16), WG_FROM_16((i) + 32), WG_FROM_16((i) + 48)
/* Chunk `n`: to = the operands whose numbers follow, of 8 or 16 sums. */
#define WG_CHUNK_8(n, ...) "wg_chunk_" #n ":\n\t" WG_MOVE_8(0, 1, 2, 3, 4, 5, 6, 7, __VA_ARGS__) "bra.uni wg_end;\n\t"
#define WG_CHUNK_16(n, a, b, c, d, e, f, g, h, ...)                                \
  "wg_chunk_" #n ":\n\t" WG_MOVE_8(0, 1, 2, 3, 4, 5, 6, 7, a, b, c, d, e, f, g, h) \
      WG_MOVE_8(8, 9, 10, 11, 12, 13, 14, 15, __VA_ARGS__) "bra.uni wg_end;\n\t"
/* A chunk a line. */
/* clang-format off */
TDM_INLINE void wg_pick(float *to, const float *sums, int held, int number, int count) {
  if (held == count) {
    WG_UNROLL
    for (int i = 0; i < count; i++) to[i] = sums[i];
  } else if (count == 16) {
    __asm__ volatile(
        WG_JUMP(144)
        WG_CHUNK_16(0, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31)
        WG_CHUNK_16(1, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47)
        WG_CHUNK_16(2, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63)
        WG_CHUNK_16(3, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79)
        WG_CHUNK_16(4, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95)
        WG_CHUNK_16(5, 96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111)
        WG_CHUNK_16(6, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127)
        WG_CHUNK_16(7, 128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139, 140, 141, 142, 143)
        "wg_end:\n\t}"
        : WG_TO_4(to, 0), WG_TO_4(to, 4), WG_TO_4(to, 8), WG_TO_4(to, 12)
        : WG_FROM_64(0), WG_FROM_64(64), "r"(number));
  } else {
    __asm__ volatile(
        WG_JUMP(72)
        WG_CHUNK_8(0, 8, 9, 10, 11, 12, 13, 14, 15)
        WG_CHUNK_8(1, 16, 17, 18, 19, 20, 21, 22, 23)
        WG_CHUNK_8(2, 24, 25, 26, 27, 28, 29, 30, 31)
        WG_CHUNK_8(3, 32, 33, 34, 35, 36, 37, 38, 39)
        WG_CHUNK_8(4, 40, 41, 42, 43, 44, 45, 46, 47)
        WG_CHUNK_8(5, 48, 49, 50, 51, 52, 53, 54, 55)
        WG_CHUNK_8(6, 56, 57, 58, 59, 60, 61, 62, 63)
        WG_CHUNK_8(7, 64, 65, 66, 67, 68, 69, 70, 71)
        "wg_end:\n\t}"
        : WG_TO_4(to, 0), WG_TO_4(to, 4)
        : WG_FROM_64(0), "r"(number));
  }
}
/* clang-format on */
#undef WG_CHUNK_8
#undef WG_CHUNK_16
#undef WG_JUMP
#undef WG_MOVE_8

#endif
