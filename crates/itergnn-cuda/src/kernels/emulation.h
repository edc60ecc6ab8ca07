// Runs the kernels on a processor, for tests where there is no card: every thread of a block is a fiber, warps take turns in random order and run until they have to wait for others, so
// that a missing barrier shows. What nobody wrote is not a number, and products on tensor cores are exact up to the sum.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <ucontext.h>
#include <vector>

#define EMULATED 1
#define __device__
#define __host__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__
#define __cluster_dims__(...)
#define __shared__ static

using std::isfinite;
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(8) float2 { float x, y; };
struct alignas(16) int4 { int x, y, z, w; };
static inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
static inline float2 make_float2(float x, float y) { return {x, y}; }
static inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }

template <class To, class From>
static inline To bits_of(From from) {
    static_assert(sizeof(To) == sizeof(From), "bits");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}
static inline float __uint_as_float(unsigned value) { return bits_of<float>(value); }
static inline unsigned __float_as_uint(float value) { return bits_of<unsigned>(value); }
static inline int __float_as_int(float value) { return bits_of<int>(value); }
static inline float __int_as_float(int value) { return bits_of<float>(value); }
template <class A, class B>
static inline auto min(A a, B b) { return a < (decltype(a + b))b ? (decltype(a + b))a : (decltype(a + b))b; }
template <class A, class B>
static inline auto max(A a, B b) { return a > (decltype(a + b))b ? (decltype(a + b))a : (decltype(a + b))b; }

struct Dimensions { unsigned x, y, z; };
static Dimensions threadIdx, blockIdx, gridDim;

struct Fiber {
    ucontext_t context;
    std::vector<char> stack;
    unsigned warp_meetings = 0, block_meetings = 0, cluster_meetings = 0;
    bool done = false;
};

// What the lanes of a warp tell each other when they meet; two of them, since nobody can be two meetings ahead.
struct Meeting {
    unsigned arrived;
    unsigned long long words[32][4];
};

struct Emulator {
    std::vector<Fiber> fibers;
    ucontext_t scheduler;
    unsigned current, in_block[CLUSTER], in_cluster;
    bool progressed;
    Meeting meetings[32 * CLUSTER][2];
    unsigned met[32 * CLUSTER];
    // Of each block of the cluster.
    char* shared[CLUSTER];
    unsigned shared_bytes;
};
static Emulator emulator;
static unsigned emulated_rank() { return emulator.current / THREADS; }
static char* emulated_shared() { return emulator.shared[emulated_rank()]; }

static void wait_for_others() { swapcontext(&emulator.fibers[emulator.current].context, &emulator.scheduler); }

// Leaves something for the other lanes of the warp and waits for theirs.
static inline const Meeting& meet(const void* value, int bytes) {
    Fiber& fiber = emulator.fibers[emulator.current];
    const unsigned warp = emulator.current / 32, number = fiber.warp_meetings++;
    Meeting& meeting = emulator.meetings[warp][number % 2];
    if (meeting.arrived == 32) meeting.arrived = 0;
    memcpy(meeting.words[emulator.current % 32], value, bytes);
    emulator.progressed = true;
    if (++meeting.arrived == 32) emulator.met[warp] = number + 1;
    while (emulator.met[warp] <= number) wait_for_others();
    return meeting;
}

static inline void __syncwarp() { meet("", 1); }
static inline void __syncthreads() {
    const unsigned all = ++emulator.fibers[emulator.current].block_meetings * THREADS, rank = emulated_rank();
    emulator.in_block[rank]++;
    emulator.progressed = true;
    while (emulator.in_block[rank] < all) wait_for_others();
}
static inline void emulate_cluster_arrival() {
    emulator.fibers[emulator.current].cluster_meetings++;
    emulator.in_cluster++;
    emulator.progressed = true;
}
static inline void emulate_cluster_wait() {
    const unsigned all = emulator.fibers[emulator.current].cluster_meetings * THREADS * CLUSTER;
    while (emulator.in_cluster < all) wait_for_others();
    emulator.progressed = true;
}
static inline float* emulate_elsewhere(float* place, unsigned rank) { return (float*)(emulator.shared[rank] + ((char*)place - emulated_shared())); }
template <class Value>
static inline Value __shfl_sync(unsigned, Value value, int lane) {
    memcpy(&value, meet(&value, sizeof value).words[lane], sizeof value);
    return value;
}
template <class Value>
static inline Value __shfl_xor_sync(unsigned mask, Value value, int offset) { return __shfl_sync(mask, value, emulator.current % 32 ^ offset); }

// A product on tensor cores: of each number the last 13 bits do not count.
static inline void emulate_tf32_product(float4& sum, const unsigned (&left)[4], unsigned right_0, unsigned right_1) {
    const unsigned own[6] = {left[0], left[1], left[2], left[3], right_0, right_1};
    const Meeting& meeting = meet(own, sizeof own);
    const auto number = [&](int lane, int word) { return (double)__uint_as_float(((const unsigned*)meeting.words[lane])[word] & 0xffffe000u); };
    const int g = emulator.current % 32 / 4, q = emulator.current % 4;
    float* target = &sum.x;
    for (int i = 0; i < 4; i++) {
        const int row = g + i / 2 * 8, column = 2 * q + i % 2;
        double total = target[i];
        for (int k = 0; k < 8; k++) total += number(row % 8 * 4 + k % 4, row / 8 + k / 4 * 2) * number(column * 4 + k % 4, 4 + k / 4);
        target[i] = (float)total;
    }
}
