// Thread blocks of a cluster, which share the rows of a graph: every block has the edges that reach its rows, on the way back those that leave them, and what others need of its rows
// it writes into their shared memory.

#if CLUSTER > 1
__device__ __forceinline__ int cluster_rank() { return blockIdx.x % CLUSTER; }

// A barrier of the cluster in two parts: what was written before the first is seen behind the second.
__device__ __forceinline__ void cluster_arrive() {
#ifdef EMULATED
    emulate_cluster_arrival();
#else
    asm volatile("barrier.cluster.arrive.release;" ::: "memory");
#endif
}
__device__ __forceinline__ void cluster_wait() {
#ifdef EMULATED
    emulate_cluster_wait();
#else
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
#endif
}

// An arrival that publishes nothing: what was read before may be written behind the barrier.
__device__ __forceinline__ void cluster_arrive_reading() {
#ifdef EMULATED
    emulate_cluster_arrival();
#else
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
#endif
}

// Writes to a place in the shared memory of every other block of the cluster.
__device__ __forceinline__ void put_elsewhere(float* place, const float4& value) {
#pragma unroll
    for (int other = 1; other < CLUSTER; other++) {
        const int rank = (cluster_rank() + other) % CLUSTER;
#ifdef EMULATED
        at4(emulate_elsewhere(place, rank)) = value;
#else
        unsigned address = (unsigned)__cvta_generic_to_shared(place);
        asm volatile("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(address) : "r"(rank));
        asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(address), "f"(value.x), "f"(value.y), "f"(value.z), "f"(value.w) : "memory");
#endif
    }
}
__device__ __forceinline__ void put2_elsewhere(float* place, float first, float second) {
#pragma unroll
    for (int other = 1; other < CLUSTER; other++) {
        const int rank = (cluster_rank() + other) % CLUSTER;
#ifdef EMULATED
        put2(emulate_elsewhere(place, rank), first, second);
#else
        unsigned address = (unsigned)__cvta_generic_to_shared(place);
        asm volatile("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(address) : "r"(rank));
        asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};" ::"r"(address), "f"(first), "f"(second) : "memory");
#endif
    }
}
#else
__device__ __forceinline__ int cluster_rank() { return 0; }
__device__ __forceinline__ void cluster_arrive() {}
__device__ __forceinline__ void cluster_arrive_reading() {}
__device__ __forceinline__ void cluster_wait() { __syncthreads(); }
__device__ __forceinline__ void put_elsewhere(float*, const float4&) {}
__device__ __forceinline__ void put2_elsewhere(float*, float, float) {}
#endif

// A barrier of all threads that work on the same graphs.
__device__ __forceinline__ void sync_cluster() {
    cluster_arrive();
    cluster_wait();
}
