// Small dense products on rows in shared memory, one 4 x 4 tile per thread.

__device__ __forceinline__ float leaky(float value) { return value > 0.f ? value : 0.01f * value; }
__device__ __forceinline__ float4 leaky(float4 v) { return make_float4(leaky(v.x), leaky(v.y), leaky(v.z), leaky(v.w)); }
__device__ __forceinline__ float slope(float value) { return value > 0.f ? 1.f : 0.01f; }
__device__ __forceinline__ float4 zero4() { return make_float4(0.f, 0.f, 0.f, 0.f); }
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

// sum[i] += left[i, 0..K] right[0..K, 0..4]; rows of `left` and `right` lie `left_stride` and `right_stride` apart.
template <int K>
__device__ __forceinline__ void multiply(float4 (&sum)[4], const float* left, int left_stride, const float* right, int right_stride) {
#pragma unroll 4
    for (int k = 0; k < K; k += 4) {
        float4 a[4], b[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            a[i] = at4(left + i * left_stride + k);
            b[i] = at4(right + (k + i) * right_stride);
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
            axpy(sum[i], a[i].x, b[0]);
            axpy(sum[i], a[i].y, b[1]);
            axpy(sum[i], a[i].z, b[2]);
            axpy(sum[i], a[i].w, b[3]);
        }
    }
}

// sum[i] += left[i] right: one row's share of a product of transposed rows with rows.
__device__ __forceinline__ void outer(float4 (&sum)[4], const float4& left, const float4& right) {
    axpy(sum[0], left.x, right);
    axpy(sum[1], left.y, right);
    axpy(sum[2], left.z, right);
    axpy(sum[3], left.w, right);
}

__device__ __forceinline__ float warp_sum(float value) {
#pragma unroll
    for (int offset = 16; offset; offset >>= 1) value += __shfl_xor_sync(~0u, value, offset);
    return value;
}
