// One step with maximum aggregation on tensor cores: every warp owns eight channels, of the activations (a slice of W1's columns) and of the messages and states (of W2's).
//
// A warp keeps its weights in registers over all steps, and reads and writes its own channels without waiting for others. What goes through a product is read by all warps: the
// node vectors, the activations of a tile of edges, and on the way back the gradients of messages and products. Two barriers separate their writing from their reading.

#if SLICED
constexpr int SLICES_J = JP / 8, SLICES_H = HP / 8;
static_assert(32 * SLICES_J <= T && 32 * SLICES_H <= T && LAYER == MAXIMUM && !USES_RECEIVER && !LARGE, "slices");

// The place of a thread: its warp's slice; g and q as in the products; for elementwise work one of 16 rows and half of the slice.
struct Lane {
    int slice, own, g, q, row, column;
    bool activates, receives;
};

__device__ __forceinline__ Lane lane_of() {
    const int lane = threadIdx.x % 32, slice = threadIdx.x / 32;
    return {slice, 8 * slice, lane / 4, lane % 4, lane / 2, 8 * slice + 4 * (lane % 2), slice < SLICES_J, slice < SLICES_H};
}

struct ForwardWeights {
    Right<KV / 8> first;
    Right<JP / 8> second;
    float4 edge[DE > 0 ? DE : 1];
    float2 bias;
};

__device__ __forceinline__ float parameter(const float* parameters, int place) { return place < 0 ? 0.f : parameters[place]; }

// Weights from where `place(row)` says, for a lane's pairs of rows.
template <int K, class Place>
__device__ __forceinline__ void load_right(Right<K>& right, const float* parameters, Place place) {
#pragma unroll
    for (int k = 0; k < K; k++) {
        const int row = 8 * k + 2 * (threadIdx.x % 4);
        unsigned parts[3];
        split(parameter(parameters, place(row)), parameter(parameters, place(row + 1)), parts);
#pragma unroll
        for (int part = 0; part < 3; part++) right.parts[part][k] = parts[part];
    }
}

__device__ __forceinline__ void load_edge_weights(float4 (&edge)[DE > 0 ? DE : 1], const float* parameters) {
    const Lane at = lane_of();
#pragma unroll
    for (int d = 0; d < DE; d++) {
        float part[4];
#pragma unroll
        for (int c = 0; c < 4; c++) part[c] = parameter(parameters, at.column + c < J ? AT_EDGE + d * J + at.column + c : -1);
        edge[d] = make_float4(part[0], part[1], part[2], part[3]);
    }
}

__device__ __forceinline__ void load_weights(ForwardWeights& weights, const float* parameters) {
    const Lane at = lane_of();
    const int column = at.own + at.g, c = at.own + 2 * at.q;
    load_right(weights.first, parameters, [=](int row) { return first_place(row, column); });
    load_right(weights.second, parameters, [=](int row) { return second_place(row, column); });
    weights.bias = make_float2(parameter(parameters, BIASED && c < H ? AT_BIAS_2 + c : -1), parameter(parameters, BIASED && c + 1 < H ? AT_BIAS_2 + c + 1 : -1));
    load_edge_weights(weights.edge, parameters);
}

// The address that a lane gives of a tile of 16 active rows; behind the last there are zeros.
__device__ __forceinline__ unsigned row_address(const Space& s, const Launch& launch, const Planes& planes, int tile, int row, int column) {
    const int i = 16 * tile + row;
    return shared_address(planes.parts + (i < s.pack->tiles * 4 ? (int)s.live_rows[i].x : launch.row_cap) * BS + column);
}

// Calls `visit(row, upper)` for the two rows of the tile of which a lane has numbers of a product; `upper` says whether it is the one further down.
template <class Visit>
__device__ __forceinline__ void each_product_row(const Space& s, const Lane& at, int tile, Visit visit) {
    const int i = 16 * tile + at.g, rows = s.pack->tiles * 4;
    if (i < rows) visit((int)s.live_rows[i].x, false);
    if (i + 8 < rows) visit((int)s.live_rows[i + 8].x, true);
}

__device__ __forceinline__ void put(float* row, float first, float second) { *reinterpret_cast<float2*>(row) = make_float2(first, second); }

// Calls `visit(row)` for the active rows that a lane has in elementwise work, as `live_rows` has them.
template <class Visit>
__device__ __forceinline__ void each_own_row(const Space& s, const Lane& at, Visit visit) {
    const int rows = s.pack->tiles * 4;
    for (int i = at.row; i < rows; i += 16) visit(s.live_rows[i]);
}

// The part of a row's edges that lies in a tile.
struct Range {
    int begin, first, last;
};

// A tile of positions in the list of active edges.
struct EdgeTile {
    int start, count, padded;

    __device__ __forceinline__ Range part_of(unsigned edges) const {
        const int begin = edges & 0xffff, end = edges >> 16;
        return {begin, max(begin, start), min(end, start + count)};
    }
};

__device__ __forceinline__ EdgeTile edge_tile(const Space& s, const Launch& launch, int start) {
    const int count = min(launch.edge_tile, s.pack->live_edges - start);
    return {start, count, (count + 15) / 16 * 16};
}

// The warp's channels of the products of the node vectors with W1; `keep` is where they are kept, if anywhere.
__device__ __forceinline__ void node_products(const Space& s, const Launch& launch, const Lane& at, const ForwardWeights& weights, float* keep) {
    by_pairs((s.pack->tiles + 3) / 4, [&](auto count, int tile) {
        constexpr int M = decltype(count)::value;
        Sums sums[M];
        unsigned rows[M];
#pragma unroll
        for (int m = 0; m < M; m++) rows[m] = row_address(s, launch, s.node_planes, tile + m, tile_row_of_lane(), tile_column_of_lane());
        multiply(sums, rows, 2 * s.node_planes.size, weights.first);
        const int column = at.own + 2 * at.q;
#pragma unroll
        for (int m = 0; m < M; m++) {
            const float4 sum = sums[m].total();
            each_product_row(s, at, tile + m, [&](int row, bool upper) {
                const float first = upper ? sum.z : sum.x, second = upper ? sum.w : sum.y;
                put(s.first + row * RS + column, first, second);
                if (keep) put(keep + row * PW + column, first, second);
            });
        }
    });
}

// The warp's channels of the activations of a tile of edges; `edge_at(p)` gives sender and edge of a position.
template <class EdgeAt>
__device__ __forceinline__ void activate_edges(const Space& s, const Lane& at, const EdgeTile& edges, const float4* weights, const float* features, EdgeAt edge_at) {
#pragma unroll 2
    for (int p = at.row; p < edges.padded; p += 16) {
        float4 value = zero4();
        if (p < edges.count) {
            const unsigned pair = edge_at(edges.start + p);
            value = at4(s.first + (pair & 0xffff) * RS + at.column);
#pragma unroll
            for (int d = 0; d < DE; d++) axpy(value, features[(pair >> 16) * DE + d], weights[d]);
            value = leaky(value);
        }
        put_split(s.activation_planes, p, at.column, value);
    }
}

// The warp's channels of the messages of a tile.
__device__ __forceinline__ void edge_messages(const Space& s, const Lane& at, const EdgeTile& edges, const ForwardWeights& weights) {
    const unsigned base = shared_address(s.activation_planes.parts + tile_row_of_lane() * BS + tile_column_of_lane());
    by_pairs(edges.padded / 16, [&](auto count, int tile) {
        constexpr int M = decltype(count)::value;
        Sums sums[M];
        unsigned rows[M];
#pragma unroll
        for (int m = 0; m < M; m++) rows[m] = base + 32 * BS * (tile + m);
        multiply(sums, rows, 2 * s.activation_planes.size, weights.second);
#pragma unroll
        for (int m = 0; m < M; m++) {
            const float4 sum = sums[m].total();
            float* row = s.messages + (16 * (tile + m) + at.g) * RS + at.own + 2 * at.q;
            put(row, leaky(sum.x + weights.bias.x), leaky(sum.y + weights.bias.y));
            put(row + 8 * RS, leaky(sum.z + weights.bias.x), leaky(sum.w + weights.bias.y));
        }
    });
}

__device__ __forceinline__ void challenge(float message, int number, float& best, int& winner) {
    winner = message > best ? number : winner;
    best = message > best ? message : best;
}

// A winner with its sign, which is that of the largest value if a message won.
__device__ __forceinline__ Winner signed_winner(float best, int winner) { return Winner(winner != SELF && !(best > 0.f) ? winner | NEGATIVE : winner); }

__device__ __forceinline__ Winner4& winners_at(Winner* place) { return *reinterpret_cast<Winner4*>(place); }
// Winners of a step in global memory lie by slice and row.
__device__ __forceinline__ long long winner_place(const Launch& launch, int slice, int row) { return ((long long)slice * launch.row_cap + row) * 8; }

// Splits the node vectors for the first step. There must be a barrier behind.
__device__ void split_vectors(const Space& s) {
    for (int i = threadIdx.x; i < s.pack->rows * KQ; i += T) put_split(s.node_planes, i / KQ, 4 * (i % KQ), at4(s.vectors + i / KQ * RS + 4 * (i % KQ)));
}

// From the states in `vectors` to the next ones, in place. `keep`, `after` and `winners` are where products, states and winners are kept, if anywhere. There must be a barrier behind.
__device__ void layer_forward(const Space& s, const Launch& launch, const ForwardWeights& weights, float* keep, float* after, Winner* winners) {
    const Lane at = lane_of();
    if (at.activates) node_products(s, launch, at, weights, keep);
    __syncwarp();
    for (int start = 0; start < s.pack->live_edges || start == 0; start += launch.edge_tile) {
        const EdgeTile edges = edge_tile(s, launch, start);
        const bool is_last = start + launch.edge_tile >= s.pack->live_edges;
        if (start > 0) __syncthreads();
        if (at.activates) activate_edges(s, at, edges, weights.edge, s.features, [&](int position) { return s.arrivals[position]; });
        __syncthreads();
        if (!at.receives) continue;
        edge_messages(s, at, edges, weights);
        __syncwarp();
        each_own_row(s, at, [&](const uint4& row) {
            const Range range = edges.part_of(row.y);
            float4 best = at4(s.vectors + row.x * RS + HX + at.column);
            Winner4& place = winners_at(s.winners + row.x * WS + at.column);
            int4 winner = make_int4(SELF, SELF, SELF, SELF);
            if (TRAIN && start > 0) winner = make_int4(place.x, place.y, place.z, place.w);
            for (int p = range.first; p < range.last; p++) {
                const float4 message = at4(s.messages + (p - start) * RS + at.column);
                const int number = p - range.begin;
                challenge(message.x, number, best.x, winner.x);
                challenge(message.y, number, best.y, winner.y);
                challenge(message.z, number, best.z, winner.z);
                challenge(message.w, number, best.w, winner.w);
            }
            if (range.first < range.last) at4(s.vectors + row.x * RS + HX + at.column) = best;
            if (!is_last) {
                if (TRAIN) place = {Winner(winner.x), Winner(winner.y), Winner(winner.z), Winner(winner.w)};
                return;
            }
            put_split(s.node_planes, row.x, HX + at.column, best);
            if (!TRAIN) return;
            at4(after + row.x * HP + at.column) = best;
            winners_at(winners + winner_place(launch, at.slice, row.x) + at.column - at.own) =
                Winner4{signed_winner(best.x, winner.x), signed_winner(best.y, winner.y), signed_winner(best.z, winner.z), signed_winner(best.w, winner.w)};
        });
        __syncwarp();
    }
}
#endif
