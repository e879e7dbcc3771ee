#!/bin/sh
# Products of aligned arrays on the Hopper stand-in, of which the sets have few: operands that are not packed, results that leave in the short
# way, clusters that go through several tiles, more steps of k than stages. test_aligned.sh CHECK-HOPPER SEED ...
check=$1
shift
failed=0
run() { # SEED, a case's arguments
  seed=$1
  shift
  text=$(HOPPER_SEED=$seed "$check" "$@" --device omp:0 --kernel omp_gpu_wgmma 2>&1) && return
  echo "HOPPER_SEED=$seed $check $* --device omp:0 --kernel omp_gpu_wgmma"
  echo "$text"
  failed=1
}
for seed; do
  echo "seed $seed"
  for type in bf16 f16; do
    for layout in nn nt tn tt; do
      run "$seed" gemm --dtype $type --layout $layout 208x528x64
      run "$seed" gemm --dtype $type --layout $layout --epilogue bias+residual --set alpha=0.5 80x272x136
      run "$seed" gemm --dtype $type --layout $layout --epilogue residual --set batch=3,ldc=288,ldr=296,stride_r=24000 72x280x72
      run "$seed" gemm --dtype $type --layout $layout --epilogue bias+gelu+residual --set beta=0.5 72x136x776
    done
    run "$seed" gemm --dtype $type --layout nt --epilogue bias --set batch=2,broadcast_b=1 72x264x64
    run "$seed" gemm --dtype $type --layout nn --set batch=2,broadcast_a=1,out=f32 72x72x328
    run "$seed" swiglu --dtype $type --layout nt 136x264x64
    run "$seed" swiglu --dtype $type --layout nn 72x136x520
    for shape in 16x72x520 40x72x584 24x40x648 8x64x712; do
      run "$seed" swiglu --dtype $type --layout nt $shape
    done
  done
done
exit $failed
