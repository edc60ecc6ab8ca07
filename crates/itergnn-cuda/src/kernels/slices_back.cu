// The way back through a step of the sliced kernels.

#if SLICED && TRAIN
// W1 and W2 transposed; only states, not inputs, have gradients.
struct BackwardWeights {
    Right<JP / 8> first;
    Right<HP / 8> second;
    float4 edge[DE > 0 ? DE : 1];
};

__device__ __forceinline__ void load_weights(BackwardWeights& weights, const float* parameters) {
    const Lane at = lane_of();
    const int column = at.own + at.g;
    load_right(weights.first, parameters, [=](int row) { return column < HP ? first_place(HX + column, row) : -1; });
    load_right(weights.second, parameters, [=](int row) { return second_place(column, row); });
    load_edge_weights(weights.edge, parameters);
}

// Gradients of a layer's parameters for the warp's slice of the activations, as a lane has them: of W1's columns and of W2's rows.
struct LayerGradient {
    float4 first[tiles_of(KV)], second[tiles_of(HP)];
    float4 edge[DE > 0 ? DE : 1], bias;
};

__device__ __forceinline__ void clear_gradient(LayerGradient& gradient) {
#pragma unroll
    for (int i = 0; i < tiles_of(KV); i++) gradient.first[i] = zero4();
#pragma unroll
    for (int i = 0; i < tiles_of(HP); i++) gradient.second[i] = zero4();
#pragma unroll
    for (int d = 0; d < DE; d++) gradient.edge[d] = zero4();
    gradient.bias = zero4();
}

// The gradient that reaches a message from its receiver.
__device__ __forceinline__ float share(float gradient, int winner, int number) {
    return (winner & ~NEGATIVE) != number ? 0.f : winner & NEGATIVE ? 0.01f * gradient : gradient;
}

// The gradients of the messages before their LeakyReLU, by sender, from those of the states.
__device__ __forceinline__ void pull_messages(const Space& s, const Lane& at, const EdgeTile& edges, Winner* winners, float4& bias) {
#pragma unroll 2
    for (int p = at.row; p < edges.padded; p += 16) {
        float4 value = zero4();
        if (p < edges.count) {
            const unsigned pair = s.departures[edges.start + p].y;
            const int row = pair & 0xffff, number = pair >> 16;
            const float4 g = at4(s.states + row * SS + at.column);
            const Winner4 winner = winners_at(winners + row * WS + at.column);
            value = make_float4(share(g.x, winner.x, number), share(g.y, winner.y, number), share(g.z, winner.z, number), share(g.w, winner.w, number));
            if (BIASED) add(bias, value);
        }
        put_split(s.message_planes, p, at.column, value);
    }
}

// The warp's channels of the gradients of a tile's activations, before their LeakyReLU; their signs are those of the first parts.
__device__ __forceinline__ void pull_activations(const Space& s, const Lane& at, const EdgeTile& edges, const BackwardWeights& weights) {
    const unsigned base = shared_address(s.message_planes.parts + tile_row_of_lane() * BS + tile_column_of_lane());
    by_pairs(edges.padded / 16, [&](auto count, int tile) {
        constexpr int M = decltype(count)::value;
        Sums sums[M];
        unsigned rows[M];
#pragma unroll
        for (int m = 0; m < M; m++) rows[m] = base + 32 * BS * (tile + m);
        multiply(sums, rows, 2 * s.message_planes.size, weights.second);
#pragma unroll
        for (int m = 0; m < M; m++) {
            const float4 sum = sums[m].total();
            const int row = 16 * (tile + m) + at.g, column = at.own + 2 * at.q;
            const unsigned *low = reinterpret_cast<const unsigned*>(s.activation_planes.parts + row * BS + column), *high = low + 4 * BS;
            float* target = s.messages + row * RS + column;
            put(target, sum.x * slope(lower(*low)), sum.y * slope(upper(*low)));
            put(target + 8 * RS, sum.z * slope(lower(*high)), sum.w * slope(upper(*high)));
        }
    });
}

// The gradient of W2's rows of the warp's activations: messages' gradients, transposed, times activations.
__device__ __forceinline__ void second_gradient(const Space& s, const Lane& at, const EdgeTile& edges, LayerGradient& gradient) {
    TransposedSums<tiles_of(HP)> sums;
    sums.clear();
    const unsigned left = shared_address(s.message_planes.parts + transposed_row_of_lane() * BS + transposed_column_of_lane());
    const unsigned right = shared_address(s.activation_planes.parts + tile_row_of_lane() * BS + at.own);
    for (int p = 0; p < edges.padded; p += 16) multiply_transposed(sums, left + 2 * BS * p, 2 * s.message_planes.size, right + 2 * BS * p, 2 * s.activation_planes.size);
    sums.add_to(gradient.second);
}

// The same for W1: node vectors, transposed, times the products' gradients.
__device__ __forceinline__ void first_gradient(const Space& s, const Launch& launch, const Lane& at, LayerGradient& gradient) {
    TransposedSums<tiles_of(KV)> sums;
    sums.clear();
    for (int tile = 0; tile < (s.pack->tiles + 3) / 4; tile++) {
        const unsigned left = row_address(s, launch, s.node_planes, tile, transposed_row_of_lane(), transposed_column_of_lane());
        const unsigned right = row_address(s, launch, s.product_planes, tile, tile_row_of_lane(), at.own);
        multiply_transposed(sums, left, 2 * s.node_planes.size, right, 2 * s.product_planes.size);
    }
    sums.add_to(gradient.first);
}

// The gradients of the products: what comes back along the edges of each sender.
__device__ __forceinline__ void pull_products(const Space& s, const Lane& at, const EdgeTile& edges, LayerGradient& gradient) {
    each_own_row(s, at, [&](const uint4& row) {
        const Range range = edges.part_of(row.z);
        if (edges.start > 0 && range.first >= range.last) return;
        float4 sum = edges.start > 0 ? get_split(s.product_planes, row.x, at.column) : zero4();
        for (int p = range.first; p < range.last; p++) {
            const float4 value = at4(s.messages + (p - edges.start) * RS + at.column);
            add(sum, value);
#pragma unroll
            for (int d = 0; d < DE; d++) axpy(gradient.edge[d], s.out_features[(s.departures[p].x >> 16) * DE + d], value);
        }
        put_split(s.product_planes, row.x, at.column, sum);
    });
}

// The gradients of the states before the step: what comes through the products, and what was kept.
__device__ __forceinline__ void pull_states(const Space& s, const Launch& launch, const Lane& at, const BackwardWeights& weights, const Winner* winners) {
    by_pairs((s.pack->tiles + 3) / 4, [&](auto count, int tile) {
        constexpr int M = decltype(count)::value;
        Sums sums[M];
        unsigned rows[M];
#pragma unroll
        for (int m = 0; m < M; m++) rows[m] = row_address(s, launch, s.product_planes, tile + m, tile_row_of_lane(), tile_column_of_lane());
        multiply(sums, rows, 2 * s.product_planes.size, weights.first);
        const int column = at.own + 2 * at.q;
#pragma unroll
        for (int m = 0; m < M; m++) {
            const float4 sum = sums[m].total();
            each_product_row(s, at, tile + m, [&](int row, bool upper) {
                float* state = s.states + row * SS + column;
                const Winner* winner = winners + row * WS + column;
                const float2 before = *reinterpret_cast<const float2*>(state);
                put(state, (upper ? sum.z : sum.x) + (winner[0] == SELF ? before.x : 0.f), (upper ? sum.w : sum.y) + (winner[1] == SELF ? before.y : 0.f));
            });
        }
    });
}

// Where a step left what the way back needs.
struct Kept {
    const float *products, *states;
    const Winner* winners;
};

// Has products, states and winners of a step brought to shared memory; `await_copies` waits for them.
__device__ __forceinline__ void fetch_step(const Space& s, const Launch& launch, const Lane& at, const Kept& kept, Winner* winners) {
    const int rows = s.pack->rows;
    for (int row = at.row; row < rows; row += 16) {
        if (at.activates) copy_ahead<16>(s.first + row * RS + at.column, kept.products + row * PW + at.column);
        if (at.receives) copy_ahead<16>(s.vectors + row * RS + HX + at.column, kept.states + row * HP + at.column);
    }
    if (at.receives)
        for (int row = threadIdx.x % 32; row < rows; row += 32) copy_ahead<8 * sizeof(Winner)>(winners + row * WS + at.own, kept.winners + winner_place(launch, at.slice, row));
}

// From the gradient of the states after a step, in `states`, to that of the states before. What the step left has been fetched; `next` has that of the step before fetched.
template <class Next>
__device__ void layer_backward(const Space& s, const Launch& launch, const BackwardWeights& weights, Winner* winners, LayerGradient& gradient, Next next) {
    const Lane at = lane_of();
    for (int start = 0; start < s.pack->live_edges || start == 0; start += launch.edge_tile) {
        const EdgeTile edges = edge_tile(s, launch, start);
        if (start > 0) __syncthreads();
        if (at.activates) activate_edges(s, at, edges, weights.edge, s.out_features, [&](int position) { return s.departures[position].x; });
        if (at.receives) pull_messages(s, at, edges, winners, gradient.bias);
        __syncthreads();
        if (start == 0 && at.receives)
            each_own_row(s, at, [&](const uint4& row) { put_split(s.node_planes, row.x, HX + at.column, at4(s.vectors + row.x * RS + HX + at.column)); });
        __syncwarp();
        if (start + launch.edge_tile >= s.pack->live_edges) next();
        if (!at.activates) continue;
        pull_activations(s, at, edges, weights);
        second_gradient(s, at, edges, gradient);
        __syncwarp();
        pull_products(s, at, edges, gradient);
    }
    await_copies();
    __syncthreads();
    if (at.activates) first_gradient(s, launch, at, gradient);
    if (at.receives) pull_states(s, launch, at, weights, winners);
    __syncwarp();
}

// Writes the gradient of a layer's parameters.
__device__ void write_layer(const LayerGradient& gradient, float* target) {
    const Lane at = lane_of();
    const auto write = [&](int place, float value) {
        if (place >= 0) target[place] = value;
    };
    const int own = at.own + 2 * at.q;
#pragma unroll
    for (int i = 0; i < tiles_of(KV); i++) {
        const float values[4] = {gradient.first[i].x, gradient.first[i].y, gradient.first[i].z, gradient.first[i].w};
#pragma unroll
        for (int c = 0; c < 4; c++) {
            const int row = 16 * i + at.g + 8 * (c / 2), j = own + c % 2;
            write(row < KV && j < J ? first_place(row, j) : -1, values[c]);
        }
    }
#pragma unroll
    for (int i = 0; i < tiles_of(HP); i++) {
        const float values[4] = {gradient.second[i].x, gradient.second[i].y, gradient.second[i].z, gradient.second[i].w};
#pragma unroll
        for (int c = 0; c < 4; c++) write(second_place(own + c % 2, 16 * i + at.g + 8 * (c / 2)), values[c]);
    }
    // The sixteen lanes of half a slice hold a part of each sum.
    const auto write_sum = [&](float4 sum, auto place) {
        float parts[4] = {sum.x, sum.y, sum.z, sum.w};
#pragma unroll
        for (int c = 0; c < 4; c++) {
#pragma unroll
            for (int offset = 2; offset < 32; offset *= 2) parts[c] += __shfl_xor_sync(~0u, parts[c], offset);
            if (at.row == 0) write(place(at.column + c), parts[c]);
        }
    };
#pragma unroll
    for (int d = 0; d < DE; d++) write_sum(gradient.edge[d], [=](int j) { return j < J ? AT_EDGE + d * J + j : -1; });
    if (BIASED) write_sum(gradient.bias, [](int c) { return c < H ? AT_BIAS_2 + c : -1; });
}
#endif
