// Runs the kernels on a processor, for tests where there is no card: every thread of a block is a fiber, warps take turns in random order and run until they have to wait for others, so
// that a missing barrier shows. What nobody wrote is not a number, copies in the background arrive when they are waited for, and products on tensor cores are exact up to the sum.

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
#define __shared__ static

using std::isfinite;
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(8) float2 { float x, y; };
struct alignas(16) int4 { int x, y, z, w; };
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
static inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
static inline float2 make_float2(float x, float y) { return {x, y}; }
static inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
static inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

template <class To, class From>
static inline To bits_of(From from) {
    static_assert(sizeof(To) == sizeof(From), "bits");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}
static inline float __uint_as_float(unsigned value) { return bits_of<float>(value); }
static inline unsigned __float_as_uint(float value) { return bits_of<unsigned>(value); }
static inline float __int_as_float(int value) { return bits_of<float>(value); }
template <class A, class B>
static inline auto min(A a, B b) { return a < (decltype(a + b))b ? (decltype(a + b))a : (decltype(a + b))b; }
template <class A, class B>
static inline auto max(A a, B b) { return a > (decltype(a + b))b ? (decltype(a + b))a : (decltype(a + b))b; }

struct Dimensions { unsigned x, y, z; };
static Dimensions threadIdx, blockIdx, gridDim;

struct Copy { void* to; const void* from; int bytes; };

struct Fiber {
    ucontext_t context;
    std::vector<char> stack;
    std::vector<Copy> copies;
    unsigned warp_meetings = 0, block_meetings = 0;
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
    unsigned current, in_block;
    bool progressed;
    Meeting meetings[32][2];
    unsigned met[32];
    char* shared;
    unsigned shared_bytes;
};
static Emulator emulator;
static char* emulated_shared() { return emulator.shared; }

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
    const unsigned all = ++emulator.fibers[emulator.current].block_meetings * (unsigned)emulator.fibers.size();
    emulator.in_block++;
    emulator.progressed = true;
    while (emulator.in_block < all) wait_for_others();
}
template <class Value>
static inline Value __shfl_sync(unsigned, Value value, int lane) {
    memcpy(&value, meet(&value, sizeof value).words[lane], sizeof value);
    return value;
}
template <class Value>
static inline Value __shfl_xor_sync(unsigned mask, Value value, int offset) { return __shfl_sync(mask, value, emulator.current % 32 ^ offset); }

// The instructions that the kernels name themselves.
static inline unsigned emulate_round(float value) {
    const unsigned bits = __float_as_uint(value);
    return std::isnan(value) ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
static inline unsigned emulate_address(const void* place) { return unsigned((const char*)place - emulator.shared); }
static inline void emulate_copy(void* to, const void* from, int bytes) {
    memset(to, 0xff, bytes);
    emulator.fibers[emulator.current].copies.push_back({to, from, bytes});
}
static inline void emulate_arrival() {
    for (const Copy& copy : emulator.fibers[emulator.current].copies) memcpy(copy.to, copy.from, copy.bytes);
    emulator.fibers[emulator.current].copies.clear();
}
template <int N>
static inline void emulate_load(unsigned (&to)[N], unsigned address, bool transposed) {
    if (address % 16 || address + 16 > emulator.shared_bytes) printf("an address of a tile: %u\n", address), abort();
    const Meeting& meeting = meet(&address, sizeof address);
    const int lane = emulator.current % 32;
    for (int tile = 0; tile < N; tile++) {
        unsigned short pair[2];
        for (int i = 0; i < 2; i++) {
            const int row = transposed ? 2 * (lane % 4) + i : lane / 4, column = transposed ? lane / 4 : 2 * (lane % 4) + i;
            memcpy(&pair[i], emulator.shared + (unsigned)meeting.words[8 * tile + row][0] + 2 * column, 2);
        }
        to[tile] = pair[0] | unsigned(pair[1]) << 16;
    }
}
// N registers of the left factor and N / 2 of the right one.
template <int N>
static inline void emulate_product(float4& sum, const unsigned (&left)[N], unsigned right_0, unsigned right_1) {
    unsigned own[6] = {};
    std::copy(left, left + N, own);
    own[4] = right_0, own[5] = right_1;
    const Meeting& meeting = meet(own, sizeof own);
    const auto number = [&](int lane, int word, int half) {
        const unsigned pair = ((const unsigned*)meeting.words[lane])[word];
        return (double)__uint_as_float(half ? pair & 0xffff0000u : pair << 16);
    };
    const int g = emulator.current % 32 / 4, q = emulator.current % 4;
    float* target = &sum.x;
    for (int i = 0; i < 4; i++) {
        const int row = g + i / 2 * 8, column = 2 * q + i % 2;
        double total = target[i];
        for (int k = 0; k < 4 * N; k++) total += number(row % 8 * 4 + k % 8 / 2, row / 8 + k / 8 * 2, k % 2) * number(column * 4 + k % 8 / 2, 4 + k / 8, k % 2);
        target[i] = (float)total;
    }
}
