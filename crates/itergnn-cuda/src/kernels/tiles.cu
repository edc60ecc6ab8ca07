// Small dense products on rows in shared memory, one 4 x 4 tile per thread.

// Which 4 x 4 tile a thread takes. A warp takes 4 x 8 of them, so that its loads meet 4 and 8 places, one pass each through the banks of shared memory; what is left of rows and
// then of columns follows.
struct Tile {
    int row, column;
    bool wide;
};

template <int COLUMNS>
__device__ __forceinline__ Tile tile_at(int t, int rows) {
    constexpr int WIDE = COLUMNS / 8 * 8, NARROW = COLUMNS > WIDE ? COLUMNS - WIDE : 1;
    const int tall = rows / 4 * 4;
    if (WIDE > 0 && t < tall * WIDE) {
        const int warp = t / 32, lane = t % 32;
        return {warp / (WIDE / 8) * 4 + lane / 8, warp % (WIDE / 8) * 8 + lane % 8, true};
    }
    const int rest = t - tall * WIDE, last = rest - (rows - tall) * COLUMNS;
    if (last < 0) return {tall + rest / COLUMNS, rest % COLUMNS, false};
    return {last / NARROW, WIDE + last % NARROW, false};
}

// The rows of a tile, `first(r)` being the first row of tile row r. The four lanes of a warp take every fourth row, whose banks differ.
template <class First>
__device__ __forceinline__ void rows_of(const Tile& tile, First first, int (&rows)[4]) {
#pragma unroll
    for (int i = 0; i < 4; i++) rows[i] = tile.wide ? first((tile.row & ~3) + i) + (tile.row & 3) : first(tile.row) + i;
}

// sum[i] += left[rows[i], 0..K] right[0..K, 0..4]; rows of `left` and `right` lie `left_stride` and `right_stride` apart.
template <int K>
__device__ __forceinline__ void multiply(float4 (&sum)[4], const float* left, int left_stride, const int (&rows)[4], const float* right, int right_stride) {
#pragma unroll 4
    for (int k = 0; k < K; k += 4) {
        float4 a[4], b[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            a[i] = at4(left + rows[i] * left_stride + k);
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
