// Messages of path-sim, path and mpnn-max: leaky(leaky(v_s W_s + v_r W_r + e W_e) W_2 + b_2), a tile of edges at a time.

#if LAYER < GCN && !SLICED
// The first-layer activation of four channels of an edge.
__device__ __forceinline__ float4 activation(const Space& s, int sender, int receiver, const float* features, int q) {
    float4 value = at4(s.first + sender * RS + 4 * q);
    if (USES_RECEIVER) add(value, at4(s.first + receiver * RS + JP + 4 * q));
#pragma unroll
    for (int d = 0; d < DE; d++) axpy(value, features[d], at4(s.we + d * JP + 4 * q));
    return leaky(value);
}

// A tile of positions in the list of active edges.
struct EdgeTile {
    int start, count, padded;
};

__device__ __forceinline__ EdgeTile edge_tile(const Space& s, const Launch& launch, int start) {
    const int count = min(launch.edge_tile, s.pack->live_edges - start);
    return {start, count, pad4(count)};
}

// `messages` from `activations` and a weight that is not transposed.
__device__ void second_products(const Space& s, const EdgeTile& edges, const float* weight) {
    for (int t = threadIdx.x; t < edges.padded / 4 * HQ; t += T) {
        const Tile tile = tile_at<HQ>(t, edges.padded / 4);
        const int column = 4 * tile.column;
        int rows[4];
        rows_of(tile, [](int r) { return 4 * r; }, rows);
        float4 sum[4];
#pragma unroll
        for (int i = 0; i < 4; i++) sum[i] = at4(s.b2 + column);
        multiply<JP>(sum, s.activations, JP, rows, weight + column, HP);
#pragma unroll
        for (int i = 0; i < 4; i++) at4(s.messages + rows[i] * HP + column) = leaky(sum[i]);
    }
}

// The messages of a tile, by receiver. Ends with a barrier.
__device__ void edge_messages(const Space& s, const EdgeTile& edges) {
    for (int i = threadIdx.x; i < edges.padded * JQ; i += T) {
        const int p = i / JQ, q = i % JQ;
        float4 value = zero4();
        if (p < edges.count) {
            const int edge = s.position[edges.start + p];
            value = activation(s, s.senders[edge], s.receivers[edge], s.features + edge * DE, q);
        }
        at4(s.activations + p * JP + 4 * q) = value;
    }
    __syncthreads();
    second_products(s, edges, s.w2);
    __syncthreads();
}

// Calls `visit(row, first, last, column)` for the active rows that positions of the tile reach, each thread for four channels.
template <class Visit>
__device__ __forceinline__ void each_receiver(const Space& s, const EdgeTile& edges, Visit visit) {
    const int from = s.receivers[s.position[edges.start]], to = s.receivers[s.position[edges.start + edges.count - 1]];
    const int lane = threadIdx.x / HQ, column = 4 * (threadIdx.x % HQ);
    for (int row = from + lane; row <= to && lane < LANES_H; row += LANES_H) {
        if (!is_active(s, row)) continue;
        const int shift = s.pack->shift[s.graph_of[row]], begin = s.in_begin[row] - shift;
        const int first = max(begin, edges.start), last = min(s.in_end[row] - shift, edges.start + edges.count);
        if (first < last) visit(row, begin, first, last, column);
    }
}

#if TRAIN
// What reaches a state directly: the gradient of the next one where it was kept.
__device__ __forceinline__ float4 kept(const Space& s, int row, int column) {
    const float4 g = at4(s.states + row * HP + column);
    const Winner4 winner = *reinterpret_cast<const Winner4*>(s.winners + row * HP + column);
    return make_float4(winner.x == SELF ? g.x : 0.f, winner.y == SELF ? g.y : 0.f, winner.z == SELF ? g.z : 0.f, winner.w == SELF ? g.w : 0.f);
}

// No gradient of the products yet. Ends with a barrier.
__device__ void clear_products(const Space& s) {
    for (int i = threadIdx.x; i < s.pack->tiles * 4 * PQ; i += T) {
        const int row = s.tile_row[i / (4 * PQ)] + i / PQ % 4;
        at4(s.vectors + row * RS + 4 * (i % PQ)) = zero4();
    }
    __syncthreads();
}

// The activations of a tile in the order of the senders, so that what goes back to a sender lies together.
__device__ void activations_again(const Space& s, const EdgeTile& edges) {
    for (int i = threadIdx.x; i < edges.padded * JQ; i += T) {
        const int p = i / JQ, q = i % JQ;
        float4 value = zero4();
        if (p < edges.count) {
            const int edge = s.position[edges.start + p];
            value = activation(s, s.out_senders[edge], s.out_receivers[edge], s.out_features + edge * DE, q);
        }
        at4(s.activations + p * JP + 4 * q) = value;
    }
}

// From the gradient of the messages before their LeakyReLU, in `messages`, to those of both maps and of the products, which are in `vectors`. Begins and ends with a barrier.
__device__ void edge_messages_backward(const Space& s, const EdgeTile& edges, LayerGradient& gradient) {
    const Pack& pack = *s.pack;
    float* products = s.vectors;
    __syncthreads();
#pragma unroll
    for (int held = 0; held < HELD_2; held++) {
        const int tile = threadIdx.x + held * T;
        if (tile < TILES_2) {
            const Tile place = tile_at<HQ>(tile, JQ);
            const float *left = s.activations + 4 * place.row, *right = s.messages + 4 * place.column;
            for (int p = 0; p < edges.count; p++) outer(gradient.second[held], at4(left + p * JP), at4(right + p * HP));
        }
    }
    if (BIASED && threadIdx.x / HQ < LANES_H)
        for (int p = threadIdx.x / HQ; p < edges.count; p += LANES_H) add(gradient.bias, at4(s.messages + p * HP + 4 * (threadIdx.x % HQ)));
    // Activations become their own gradients; a thread that has several tiles would need more registers than there are, so tiles go by rounds.
    const int tiles = edges.padded / 4 * JQ;
    for (int base = 0; base < tiles; base += T) {
        const int t = base + threadIdx.x;
        const bool on = t < tiles;
        const Tile tile = tile_at<JQ>(on ? t : 0, edges.padded / 4);
        const int column = 4 * tile.column;
        int rows[4];
        rows_of(tile, [](int r) { return 4 * r; }, rows);
        float4 sum[4] = {zero4(), zero4(), zero4(), zero4()};
        if (on) multiply<HP>(sum, s.messages, HP, rows, s.w2 + column, JP);
        if (base == 0) __syncthreads();  // everyone has read the activations for the weights' gradients
        if (on) {
#pragma unroll
            for (int i = 0; i < 4; i++) {
                float4& a = at4(s.activations + rows[i] * JP + column);
                a = make_float4(sum[i].x * slope(a.x), sum[i].y * slope(a.y), sum[i].z * slope(a.z), sum[i].w * slope(a.w));
            }
        }
    }
    __syncthreads();
    const int lane = threadIdx.x / JQ, column = 4 * (threadIdx.x % JQ);
    const int from = s.out_senders[s.position[edges.start]], to = s.out_senders[s.position[edges.start + edges.count - 1]];
    for (int row = from + lane; row <= to && lane < LANES_J; row += LANES_J) {
        if (!is_active(s, row)) continue;
        const int shift = pack.shift[s.graph_of[row]];
        const int first = max(s.out_begin[row] - shift, edges.start), last = min(s.out_end[row] - shift, edges.start + edges.count);
        if (first >= last) continue;
        float4 sum = zero4();
        for (int p = first; p < last; p++) {
            const float4 value = at4(s.activations + (p - edges.start) * JP + column);
            add(sum, value);
#pragma unroll
            for (int d = 0; d < DE; d++) axpy(gradient.edge[d], s.out_features[s.position[p] * DE + d], value);
        }
        add(at4(products + row * RS + column), sum);
    }
    if (USES_RECEIVER) {
        for (int i = lane; i < pack.tiles * 4 && lane < LANES_J; i += LANES_J) {
            const int row = s.tile_row[i / 4] + i % 4, shift = pack.shift[s.graph_of[row]];
            float4 sum = zero4();
            for (int edge = s.in_begin[row]; edge < s.in_end[row]; edge++) {
                const int p = s.arrival[edge] - shift - edges.start;
                if (p >= 0 && p < edges.count) add(sum, at4(s.activations + p * JP + column));
            }
            add(at4(products + row * RS + JP + column), sum);
        }
    }
    __syncthreads();
}
#endif
#endif
