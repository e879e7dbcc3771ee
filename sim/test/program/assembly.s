; Kernels written by hand, each (a, b, c, n) as those of the .hip files.
.text

; c[i] = 3 a[i] + b[i]: 64-bit scalar arithmetic for the addresses, lanes after n masked by hand.
.globl axpy
.p2align 8
.type axpy,@function
axpy:
  s_load_dwordx4 s[4:7], s[0:1], 0x0    ; a, b
  s_load_dwordx2 s[8:9], s[0:1], 0x10   ; c
  s_load_dword s10, s[0:1], 0x18        ; n
  s_lshl_b32 s11, s2, 6                 ; blocks of 64
  v_add_u32 v0, s11, v0
  v_mov_b32 v4, 0x40400000              ; 3.0
  s_waitcnt lgkmcnt(0)
  v_cmp_gt_u32 vcc, s10, v0
  s_and_saveexec_b64 s[12:13], vcc
  s_cbranch_execz end_axpy
  v_lshlrev_b32 v1, 2, v0
  global_load_dword v2, v1, s[4:5]
  global_load_dword v3, v1, s[6:7]
  s_waitcnt vmcnt(0)
  v_fmac_f32 v3, v2, v4
  global_store_dword v1, v3, s[8:9]
end_axpy:
  s_endpgm

; Each wave's 64 elements in the reverse order: load-to-LDS, one wait, read from the other end.
.globl reverse
.p2align 8
.type reverse,@function
reverse:
  s_load_dwordx2 s[4:5], s[0:1], 0x0    ; a
  s_load_dwordx2 s[8:9], s[0:1], 0x10   ; c
  s_lshl_b32 s11, s2, 8                 ; bytes of a block
  s_mov_b32 m0, 0                       ; where LDS receives
  v_lshl_add_u32 v1, v0, 2, s11
  v_sub_u32 v2, 63, v0
  v_lshlrev_b32 v2, 2, v2
  s_waitcnt lgkmcnt(0)
  global_load_lds_dword v1, s[4:5]
  s_waitcnt vmcnt(0)
  ds_read_b32 v3, v2
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v3, s[8:9]
  s_endpgm

.rodata
.p2align 6
.macro descriptor name, lds
.amdhsa_kernel \name
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 16
  .amdhsa_accum_offset 8
  .amdhsa_kernarg_size 28
  .amdhsa_group_segment_fixed_size \lds
  .amdhsa_float_denorm_mode_32 3
.end_amdhsa_kernel
.endm
descriptor axpy, 0
descriptor reverse, 256

.amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.kernels:
  - .name: axpy
    .symbol: axpy.kd
    .kernarg_segment_size: 28
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 64
    .args:
      - { .name: a, .offset: 0, .size: 8, .value_kind: global_buffer }
      - { .name: b, .offset: 8, .size: 8, .value_kind: global_buffer }
      - { .name: c, .offset: 16, .size: 8, .value_kind: global_buffer }
      - { .name: n, .offset: 24, .size: 4, .value_kind: by_value }
  - .name: reverse
    .symbol: reverse.kd
    .kernarg_segment_size: 28
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 256
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 64
    .args:
      - { .name: a, .offset: 0, .size: 8, .value_kind: global_buffer }
      - { .name: b, .offset: 8, .size: 8, .value_kind: global_buffer }
      - { .name: c, .offset: 16, .size: 8, .value_kind: global_buffer }
      - { .name: n, .offset: 24, .size: 4, .value_kind: by_value }
...
.end_amdgpu_metadata
