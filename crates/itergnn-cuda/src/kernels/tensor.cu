// Products on tensor cores in single precision: every number is the sum of three of bfloat16, and six of the nine products of such parts are added up; the other three are below the
// last bit. What is multiplied lies in shared memory as three planes, one for each part.

#if SLICED
template <int N>
struct Count {
    static constexpr int value = N;
};

// The stride of rows in a plane: 16 bytes more than a multiple of 128, so that eight rows meet different banks.
constexpr int BS = ((PW > KV ? PW : KV) + 55) / 64 * 64 + 8;

// Three planes, `size` numbers apart.
struct Planes {
    unsigned short* parts;
    int size;
};

// Two numbers rounded to bfloat16, the first in the lower half; and the numbers that they are.
__device__ __forceinline__ unsigned round_pair(float x, float y) {
#ifdef EMULATED
    return emulate_round(x) | emulate_round(y) << 16;
#else
    unsigned pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(y), "f"(x));
    return pair;
#endif
}
__device__ __forceinline__ float lower(unsigned pair) { return __uint_as_float(pair << 16); }
__device__ __forceinline__ float upper(unsigned pair) { return __uint_as_float(pair & 0xffff0000u); }

// The parts of two numbers.
__device__ __forceinline__ void split(float x, float y, unsigned (&parts)[3]) {
#pragma unroll
    for (int part = 0; part < 3; part++) {
        parts[part] = round_pair(x, y);
        x -= lower(parts[part]);
        y -= upper(parts[part]);
    }
}

// Writes four numbers of a row.
__device__ __forceinline__ void put_split(const Planes& planes, int row, int column, const float4& value) {
    unsigned first[3], second[3];
    split(value.x, value.y, first);
    split(value.z, value.w, second);
#pragma unroll
    for (int part = 0; part < 3; part++) *reinterpret_cast<uint2*>(planes.parts + part * planes.size + row * BS + column) = make_uint2(first[part], second[part]);
}

// Reads them again, exactly.
__device__ __forceinline__ float4 get_split(const Planes& planes, int row, int column) {
    float4 value = zero4();
#pragma unroll
    for (int part = 2; part >= 0; part--) {
        const uint2 pair = *reinterpret_cast<const uint2*>(planes.parts + part * planes.size + row * BS + column);
        add(value, make_float4(lower(pair.x), upper(pair.x), lower(pair.y), upper(pair.y)));
    }
    return value;
}

// Weights of eight columns as the right factor of products: pairs of neighbours among the K x 8 rows.
template <int K>
struct Right {
    unsigned parts[3][K];
};

// Tiles of 8 x 8 numbers: of rows as they are, the four of a tile of 16 x 16 or the two of one of 16 x 8, or transposed. Every lane gives the address of a row.
__device__ __forceinline__ void load_tiles(unsigned (&to)[4], unsigned address) {
#ifdef EMULATED
    emulate_load(to, address, false);
#else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(address));
#endif
}
__device__ __forceinline__ void load_tiles(unsigned (&to)[2], unsigned address) {
#ifdef EMULATED
    emulate_load(to, address, false);
#else
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(to[0]), "=r"(to[1]) : "r"(address));
#endif
}
__device__ __forceinline__ void load_transposed(unsigned (&to)[4], unsigned address) {
#ifdef EMULATED
    emulate_load(to, address, true);
#else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(address));
#endif
}
__device__ __forceinline__ void load_transposed(unsigned (&to)[2], unsigned address) {
#ifdef EMULATED
    emulate_load(to, address, true);
#else
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(to[0]), "=r"(to[1]) : "r"(address));
#endif
}

__device__ __forceinline__ unsigned shared_address(const void* place) {
#ifdef EMULATED
    return emulate_address(place);
#else
    return (unsigned)__cvta_generic_to_shared(place);
#endif
}

// Of 16 rows and up to 16 columns, the row and column whose address a lane gives: for tiles as they are, and transposed.
__device__ __forceinline__ int tile_row_of_lane() { return threadIdx.x % 16; }
__device__ __forceinline__ int tile_column_of_lane() { return threadIdx.x % 32 / 16 * 8; }
__device__ __forceinline__ int transposed_row_of_lane() { return threadIdx.x % 8 + threadIdx.x % 32 / 16 * 8; }
__device__ __forceinline__ int transposed_column_of_lane() { return threadIdx.x / 8 % 2 * 8; }

__device__ __forceinline__ void multiply_add(float4& sum, const unsigned (&a)[4], unsigned b0, unsigned b1) {
#ifdef EMULATED
    emulate_product(sum, a, b0, b1);
#else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum.x), "+f"(sum.y), "+f"(sum.z), "+f"(sum.w)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}
__device__ __forceinline__ void multiply_add(float4& sum, const unsigned (&a)[2], unsigned b) {
#ifdef EMULATED
    emulate_product(sum, a, b, 0);
#else
    asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(sum.x), "+f"(sum.y), "+f"(sum.z), "+f"(sum.w)
        : "r"(a[0]), "r"(a[1]), "r"(b));
#endif
}

// Adds the products of parts, `product(sum, left, part)` being one with a part on the right. The tensor cores cut off what does not fit into a sum, so large and small products are
// added up apart, and the small ones in two chains where there are few others to wait for.
template <class Left, class Product>
__device__ __forceinline__ void add_products(float4& large, float4& middle, float4& small, const Left (&left)[3], Product product) {
    product(small, left[2], 0);
    product(middle, left[1], 0);
    product(large, left[0], 0);
    product(small, left[0], 2);
    product(middle, left[0], 1);
    product(small, left[1], 1);
}

// A lane has the numbers (g, 2 q), (g, 2 q + 1), (g + 8, 2 q), (g + 8, 2 q + 1) of a product of 16 x 8, with g = lane / 4 and q = lane % 4.
struct Sums {
    float4 large, middle, small;

    __device__ __forceinline__ void clear() { large = middle = small = zero4(); }

    __device__ __forceinline__ float4 total() const {
        float4 sum = middle;
        add(sum, small);
        add(sum, large);
        return sum;
    }
};

// The same for many tiles side by side.
template <int M>
struct TransposedSums {
    float4 large[M], small[M];

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int m = 0; m < M; m++) large[m] = small[m] = zero4();
    }

    __device__ __forceinline__ void add_to(float4 (&target)[M]) const {
#pragma unroll
        for (int m = 0; m < M; m++) {
            add(target[m], small[m]);
            add(target[m], large[m]);
        }
    }
};

struct Tile16 {
    unsigned part[4];
};
struct Tile8 {
    unsigned part[2];
};

// sums[m] = 16 rows times weights. `rows[m]` is the address in the first plane that the lane gives, `plane` the bytes from one plane to the next.
template <int K, int M>
__device__ __forceinline__ void multiply(Sums (&sums)[M], const unsigned (&rows)[M], unsigned plane, const Right<K>& weights) {
#pragma unroll
    for (int m = 0; m < M; m++) sums[m].clear();
#pragma unroll
    for (int k = 0; k < K / 2; k++) {
#pragma unroll
        for (int m = 0; m < M; m++) {
            Tile16 left[3];
#pragma unroll
            for (int part = 0; part < 3; part++) load_tiles(left[part].part, rows[m] + part * plane + 32 * k);
            add_products(sums[m].large, sums[m].middle, sums[m].small, left, [&](float4& sum, const Tile16& tile, int part) {
                multiply_add(sum, tile.part, weights.parts[part][2 * k], weights.parts[part][2 * k + 1]);
            });
        }
    }
    if (K % 2 == 0) return;
#pragma unroll
    for (int m = 0; m < M; m++) {
        Tile8 left[3];
#pragma unroll
        for (int part = 0; part < 3; part++) load_tiles(left[part].part, rows[m] + part * plane + 32 * (K / 2));
        add_products(sums[m].large, sums[m].middle, sums[m].small, left, [&](float4& sum, const Tile8& tile, int part) {
            multiply_add(sum, tile.part, weights.parts[part][K - 1]);
        });
    }
}

__host__ __device__ constexpr int tiles_of(int width) { return (width + 15) / 16; }

// sums[m] += 16 rows of the left planes, transposed, times a column tile of the same rows of the right ones; m counts tiles of 16 columns on the left.
template <int M>
__device__ __forceinline__ void multiply_transposed(TransposedSums<M>& sums, unsigned left_row, unsigned left_plane, unsigned right_row, unsigned right_plane) {
    Tile8 right[3];
#pragma unroll
    for (int part = 0; part < 3; part++) load_transposed(right[part].part, right_row + part * right_plane);
#pragma unroll
    for (int m = 0; m < M; m++) {
        Tile16 left[3];
#pragma unroll
        for (int part = 0; part < 3; part++) load_transposed(left[part].part, left_row + part * left_plane + 32 * m);
        add_products(sums.large[m], sums.small[m], sums.small[m], left, [&](float4& sum, const Tile16& tile, int part) {
            multiply_add(sum, tile.part, right[part].part[0], right[part].part[1]);
        });
    }
}

// Calls `visit(Count<M>, first)` for tiles one after the other, two at a time as long as there are two.
template <class Visit>
__device__ __forceinline__ void by_pairs(int tiles, Visit visit) {
    int tile = 0;
    for (; tile + 2 <= tiles; tile += 2) visit(Count<2>{}, tile);
    if (tile < tiles) visit(Count<1>{}, tile);
}

// Bytes from global to shared memory, in the background.
template <int BYTES>
__device__ __forceinline__ void copy_ahead(void* to, const void* from) {
#ifdef EMULATED
    emulate_copy(to, from, BYTES);
#else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(to)), "l"(from), "n"(BYTES) : "memory");
#endif
}

__device__ __forceinline__ void await_copies() {
#ifdef EMULATED
    emulate_arrival();
#else
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}
#endif
