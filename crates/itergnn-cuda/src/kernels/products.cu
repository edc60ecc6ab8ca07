// Products on tensor cores in single precision, a warp for 16 rows: every number is split into its first 11 bits and the rest, and three of the four products of such parts are added
// up; the fourth is below the last bit.

constexpr int WARPS = T / 32;

struct Parts {
    unsigned high, low;
};

// The tensor cores do not look at the last 13 bits, so that a number is its own first part.
__device__ __forceinline__ Parts parts_of(float value) {
    const unsigned bits = __float_as_uint(value);
    return {bits, __float_as_uint(value - __uint_as_float(bits & 0xffffe000u))};
}

// Parts of a lane's numbers of 16 rows and eight terms: of its two rows, g and g + 8, for one term and for another, with g = lane / 4.
struct LeftParts {
    unsigned high[4], low[4];
};

__device__ __forceinline__ LeftParts left_parts(float low_0, float high_0, float low_1, float high_1) {
    const Parts parts[4] = {parts_of(low_0), parts_of(high_0), parts_of(low_1), parts_of(high_1)};
    LeftParts result;
#pragma unroll
    for (int i = 0; i < 4; i++) result.high[i] = parts[i].high, result.low[i] = parts[i].low;
    return result;
}

__device__ __forceinline__ void multiply_add(float4& sum, const unsigned (&a)[4], unsigned b0, unsigned b1) {
#ifdef EMULATED
    emulate_tf32_product(sum, a, b0, b1);
#else
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum.x), "+f"(sum.y), "+f"(sum.z), "+f"(sum.w)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

// A lane has the numbers (g, 2 q), (g, 2 q + 1), (g + 8, 2 q), (g + 8, 2 q + 1) of a product of 16 x 8, with q = lane % 4. Tensor cores cut off what does not fit into a sum, so large
// and small products are added up apart, with few tiles also the two kinds of small ones: an instruction waits for the one before that adds to the same sum.
template <int KINDS>
struct Sums {
    float4 large, small[KINDS];

    __device__ __forceinline__ void clear() {
        large = zero4();
#pragma unroll
        for (int kind = 0; kind < KINDS; kind++) small[kind] = zero4();
    }

    __device__ __forceinline__ float4 total() const {
        float4 sum = small[0];
        if (KINDS > 1) add(sum, small[KINDS - 1]);
        add(sum, large);
        return sum;
    }
};

// Adds the products of eight terms to the sums of N tiles of columns, of which the first `count` exist; `right(n)` is what the lane has of tile n, for the two terms.
template <int N, int KINDS, class Right>
__device__ __forceinline__ void add_terms(Sums<KINDS> (&sums)[N], int count, const LeftParts& left, Right right) {
    Parts first[N], second[N];
#pragma unroll
    for (int n = 0; n < N; n++) {
        const float2 pair = n < count ? right(n) : make_float2(0.f, 0.f);
        first[n] = parts_of(pair.x), second[n] = parts_of(pair.y);
    }
    // Neighbours in this order do not wait for each other.
#pragma unroll
    for (int n = 0; n < N; n++) multiply_add(sums[n].small[0], left.low, first[n].high, second[n].high);
#pragma unroll
    for (int n = 0; n < N; n++) multiply_add(sums[n].large, left.high, first[n].high, second[n].high);
#pragma unroll
    for (int n = 0; n < N; n++) multiply_add(sums[n].small[KINDS - 1], left.high, first[n].low, second[n].low);
}

// Weights lie as the lanes need them: of every eight rows and eight columns, for each lane the numbers (q, g) and (q + 4, g).
struct Place {
    int row, column;
};

// The row and column of entry i of weights with that many columns.
template <int COLUMNS>
__device__ __forceinline__ Place weight_at(int i) {
    const int lane = i / 2 % 32, tile = i / 64;
    return {tile / (COLUMNS / 8) * 8 + lane % 4 + i % 2 * 4, tile % (COLUMNS / 8) * 8 + lane / 4};
}

// What a warp has of a product: 16 rows, and of the columns N tiles of eight, of which `count` exist.
template <int N>
struct Unit {
    int first_row, tile, count;
    Sums<N <= 2 ? 2 : 1> sums[N];

    // The unit of a product with so many columns.
    template <int COLUMNS>
    __device__ __forceinline__ void choose(int unit) {
        constexpr int TILES = COLUMNS / 8, GROUPS = (TILES + N - 1) / N;
        first_row = unit / GROUPS * 16;
        tile = unit % GROUPS * N;
        count = TILES % N == 0 ? N : min(N, TILES - tile);
#pragma unroll
        for (int n = 0; n < N; n++) sums[n].clear();
    }

    // Multiplies two rows, those of the lane, with weights.
    template <int K, int COLUMNS>
    __device__ __forceinline__ void multiply(const float* low, const float* high, const float* weights) {
        const int lane = threadIdx.x % 32, q = lane % 4;
        weights += tile * 64 + 2 * lane;
#pragma unroll
        for (int k = 0; k < K; k += 8) {
            add_terms(sums, count, left_parts(low[k + q], high[k + q], low[k + q + 4], high[k + q + 4]), [&](int n) { return at2(weights + (k / 8 * (COLUMNS / 8) + n) * 64); });
        }
    }

    // Calls `use(row, column, first, second)` for the pairs of neighbours that the lane has.
    template <class Use>
    __device__ __forceinline__ void each(Use use) const {
        const int g = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
#pragma unroll
        for (int n = 0; n < N; n++) {
            if (n >= count) break;
            const float4 sum = sums[n].total();
            use(first_row + g, 8 * (tile + n) + 2 * q, sum.x, sum.y);
            use(first_row + g + 8, 8 * (tile + n) + 2 * q, sum.z, sum.w);
        }
    }
};

__host__ __device__ constexpr int units_of(int rows, int columns, int tiles) { return (rows + 15) / 16 * ((columns / 8 + tiles - 1) / tiles); }

// How many column tiles a unit may have: a half of them, a third, or one.
template <int COLUMNS>
struct Shapes {
    static constexpr int TILES = COLUMNS / 8, WIDE = TILES <= 10 ? (TILES + 1) / 2 : 4, MIDDLE = TILES < 6 ? WIDE : TILES % 3 == 0 || TILES > 10 ? 3 : 2;

    // Time of a product with units of n tiles: that of the warp with the most units.
    static __device__ __forceinline__ int time(int rows, int n) { return (units_of(rows, COLUMNS, n) + WARPS - 1) / WARPS * (n + 1); }

    // Calls `wide`, `middle` or `narrow`, whichever is done first.
    template <class Wide, class Middle, class Narrow>
    static __device__ __forceinline__ void choose(int rows, Wide wide, Middle middle, Narrow narrow) {
        const int by_wide = time(rows, WIDE), by_middle = time(rows, MIDDLE), by_narrow = time(rows, 1);
        if (by_narrow < by_middle && by_narrow < by_wide) narrow();
        else if (MIDDLE != WIDE && by_middle < by_wide) middle();
        else wide();
    }
};

// Multiplies `rows` rows with weights: `row(i)` says where row i lies, `use` as above; the first `skipped` warps come last.
template <int N, int K, int COLUMNS, class Row, class Use>
__device__ __forceinline__ void multiply_units(int rows, int skipped, const float* weights, Row row, Use use) {
    const int units = units_of(rows, COLUMNS, N), g = threadIdx.x % 32 / 4;
    for (int u = (threadIdx.x / 32 + WARPS - skipped) % WARPS; u < units; u += WARPS) {
        Unit<N> unit;
        unit.template choose<COLUMNS>(u);
        unit.template multiply<K, COLUMNS>(row(unit.first_row + g), row(unit.first_row + g + 8), weights);
        unit.each(use);
    }
}

template <int K, int COLUMNS, class Row, class Use>
__device__ __forceinline__ void multiply_rows(int rows, int skipped, const float* weights, Row row, Use use) {
    typedef Shapes<COLUMNS> Shape;
    Shape::choose(rows, [&] { multiply_units<Shape::WIDE, K, COLUMNS>(rows, skipped, weights, row, use); },
                  [&] { multiply_units<Shape::MIDDLE, K, COLUMNS>(rows, skipped, weights, row, use); },
                  [&] { multiply_units<1, K, COLUMNS>(rows, skipped, weights, row, use); });
}

// Gradients of weights: a warp holds units of 16 rows and HELD column tiles over all steps. Threes leave few warps without work at the usual widths.
constexpr int HELD = 3;
typedef float4 HeldUnit[HELD];

// How the units of a gradient are shared: by two warps each if there are enough, which have every second eight of the rows that are added up.
template <int ROWS, int COLUMNS>
struct Held {
    static constexpr int UNITS = units_of(ROWS, COLUMNS, HELD), SHARES = 2 * UNITS <= WARPS ? 2 : 1, COUNT = (UNITS + WARPS - 1) / WARPS;

    // The n-th unit of the warp, and its share.
    static __device__ __forceinline__ int unit(int n) { return SHARES == 1 ? threadIdx.x / 32 + n * WARPS : threadIdx.x / 32 % UNITS; }
    static __device__ __forceinline__ int share() { return SHARES == 1 ? 0 : threadIdx.x / 32 / UNITS; }
    static __device__ __forceinline__ bool exists(int n) { return SHARES == 1 ? unit(n) < UNITS : share() < SHARES; }
};

// Adds the product of `left`, transposed, with `right`, both of `rows` rows, to what a warp holds: `row(i)` is the number of row i, or of any other behind the last; rows lie so far
// apart. There are fours of rows, or `EIGHTS`.
template <class Sharing, int COLUMNS, bool EIGHTS, class Row>
__device__ __forceinline__ void multiply_columns(HeldUnit& held, int n, int rows, const float* left, int left_stride, const float* right, int right_stride, Row row) {
    if (!Sharing::exists(n)) return;
    const int g = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
    Unit<HELD> sums;
    sums.choose<COLUMNS>(Sharing::unit(n));
    left += sums.first_row + g;
    right += 8 * sums.tile + g;
#pragma unroll 2
    for (int p = 8 * Sharing::share(); p < rows; p += 8 * Sharing::SHARES) {
        const int first = row(p + 2 * q), second = row(p + 2 * q + 1);
        const bool real = EIGHTS || p + 2 * q < rows;
        const float *from = left + first * left_stride, *also = left + second * left_stride;
        const LeftParts parts = left_parts(real ? from[0] : 0.f, real ? from[8] : 0.f, real ? also[0] : 0.f, real ? also[8] : 0.f);
        add_terms(sums.sums, sums.count, parts, [&](int n) { return make_float2(right[first * right_stride + 8 * n], right[second * right_stride + 8 * n]); });
    }
#pragma unroll
    for (int n = 0; n < HELD; n++) add(held[n], sums.sums[n].total());
}

// Writes what warps hold of the gradient of a weight; `place(row, column)` says where, or -1. `room`, in shared memory, is where shares meet.
template <class Sharing, int COLUMNS, class Where>
__device__ __forceinline__ void write_held(const HeldUnit& held, int n, float* room, float* target, Where place) {
    const int lane = threadIdx.x % 32;
    const auto meeting = [&](int n) -> float4& { return at4(room + ((Sharing::unit(0) * HELD + n) * 32 + lane) * 4); };
    if (Sharing::SHARES > 1) {
        __syncthreads();
#pragma unroll
        for (int n = 0; n < HELD; n++)
            if (Sharing::exists(0) && Sharing::share() == 1) meeting(n) = held[n];
        __syncthreads();
    }
    if (!Sharing::exists(n) || Sharing::share() > 0) return;
    Unit<HELD> unit;
    unit.choose<COLUMNS>(Sharing::unit(n));
#pragma unroll
    for (int n = 0; n < HELD; n++) {
        unit.sums[n].large = held[n];
        if (Sharing::SHARES > 1) unit.sums[n].small[0] = meeting(n);
    }
    unit.each([&](int row, int column, float first, float second) {
        if (place(row, column) >= 0) target[place(row, column)] = first;
        if (place(row, column + 1) >= 0) target[place(row, column + 1)] = second;
    });
}
