// Two and four numbers at a time, and sums over a warp.

__device__ __forceinline__ float leaky(float value) { return fmaxf(value, 0.01f * value); }
__device__ __forceinline__ float4 leaky(float4 v) { return make_float4(leaky(v.x), leaky(v.y), leaky(v.z), leaky(v.w)); }
__device__ __forceinline__ float slope(float value) { return value > 0.f ? 1.f : 0.01f; }
__device__ __forceinline__ float4 zero4() { return make_float4(0.f, 0.f, 0.f, 0.f); }
__device__ __forceinline__ const float2& at2(const float* row) { return *reinterpret_cast<const float2*>(row); }
__device__ __forceinline__ void put2(float* row, float first, float second) { *reinterpret_cast<float2*>(row) = make_float2(first, second); }
__device__ __forceinline__ float4& at4(float* row) { return *reinterpret_cast<float4*>(row); }
__device__ __forceinline__ const float4& at4(const float* row) { return *reinterpret_cast<const float4*>(row); }

__device__ __forceinline__ void axpy(float4& sum, float factor, const float4& value) {
    sum.x += factor * value.x;
    sum.y += factor * value.y;
    sum.z += factor * value.z;
    sum.w += factor * value.w;
}

__device__ __forceinline__ void add(float4& sum, const float4& value) {
    sum.x += value.x;
    sum.y += value.y;
    sum.z += value.z;
    sum.w += value.w;
}

__device__ __forceinline__ float warp_sum(float value) {
#pragma unroll
    for (int offset = 16; offset; offset >>= 1) value += __shfl_xor_sync(~0u, value, offset);
    return value;
}

// A launch may begin while those before it still run: here it waits until they are done and what they wrote can be read. The next one may begin as soon as all thread blocks of this
// launch have.
__device__ __forceinline__ void wait_for_launches_before() {
#if !defined(EMULATED) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Copies of 16 bytes from global memory that go on while the thread does other things; `wait_for_copies` waits for those of the thread, a barrier behind it for those of all.
__device__ __forceinline__ void copy_16(void* to, const void* from) {
#if defined(EMULATED) || LARGE
    at4((float*)to) = at4((const float*)from);
#else
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
#endif
}
__device__ __forceinline__ void wait_for_copies() {
#if !defined(EMULATED) && !LARGE
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}
