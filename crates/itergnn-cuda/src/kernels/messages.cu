// Messages of path-sim, path and mpnn-max: leaky(leaky(v_s W_s + v_r W_r + e W_e) W_2 + b_2), a tile of edges at a time.

#if LAYER < GCN
// The first-layer activation of four channels of an edge; `elsewhere` is where the products of rows are that other blocks of a cluster have.
__device__ __forceinline__ float4 activation(const Space& s, int sender, int receiver, const float* features, int q, const float* elsewhere) {
    float4 value = at4((sender & ELSEWHERE ? elsewhere : s.first) + (sender & ~ELSEWHERE) * RS + 4 * q);
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
    return {start, count, (count + 15) / 16 * 16};
}

// `messages` from `activations` and a weight that is not transposed.
__device__ void second_products(const Space& s, const EdgeTile& edges, const float* weight) {
    const auto row = [&](int i) { return s.activations + i * ACTIVATION_STRIDE; };
    multiply_rows<JP, HP>(edges.padded, 0, weight, row, [&](int i, int column, float first, float second) {
        const float2 bias = at2(s.b2 + column);
        put2(s.messages + i * MESSAGE_STRIDE + column, leaky(first + bias.x), leaky(second + bias.y));
    });
}

// The messages of a tile, by receiver. Ends with a barrier.
__device__ void edge_messages(const Space& s, const EdgeTile& edges, const float* elsewhere) {
    for (int i = threadIdx.x; i < edges.padded * JQ; i += T) {
        const int p = i / JQ, q = i % JQ;
        float4 value = zero4();
        if (p < edges.count) {
            const int edge = s.position[edges.start + p];
            value = activation(s, s.senders[edge], s.receivers[edge], s.features + edge * DE, q, elsewhere);
        }
        at4(s.activations + p * ACTIVATION_STRIDE + 4 * q) = value;
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
        if (!is_active(s, row) || !is_own(s, row)) continue;
        const int shift = s.pack->shift[s.graph_of[row]], begin = s.in_begin[row] - shift;
        const int first = max(begin, edges.start), last = min(s.in_end[row] - shift, edges.start + edges.count);
        if (first < last) visit(row, begin, first, last, column);
    }
}

#if TRAIN
// What reaches a state directly: the gradient of the next one where it was kept.
__device__ __forceinline__ float2 kept(const Space& s, int row, int column) {
    const float2 g = at2(s.states + row * HP + column);
    const Winner* winner = s.winners + row * HP + column;
    return make_float2(winner[0] == SELF ? g.x : 0.f, winner[1] == SELF ? g.y : 0.f);
}

// No gradient of the products yet. Ends with a barrier.
__device__ void clear_products(const Space& s) {
    const LiveRows live(s);
    for (int i = threadIdx.x; i < s.pack->tiles * 4 * PQ; i += T) {
        const int row = live(i / PQ);
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
            value = activation(s, s.out_senders[edge], s.out_receivers[edge], s.out_features + edge * DE, q, s.first);
        }
        at4(s.activations + p * ACTIVATION_STRIDE + 4 * q) = value;
    }
}

// Activations become their own gradients, once everyone has read them for those of the weights. A warp that has several units would need more registers than there are, so units go by
// rounds. There is a barrier inside.
template <int N>
__device__ __forceinline__ void pull_activations(const Space& s, const EdgeTile& edges) {
    const int units = units_of(edges.padded, JP, N), g = threadIdx.x % 32 / 4;
    for (int base = 0; base < units; base += WARPS) {
        const int u = base + threadIdx.x / 32;
        Unit<N> unit;
        unit.template choose<JP>(u < units ? u : 0);
        const float* row = s.messages + (unit.first_row + g) * MESSAGE_STRIDE;
        if (u < units) unit.template multiply<HP, JP>(row, row + 8 * MESSAGE_STRIDE, s.w2);
        if (base == 0) __syncthreads();
        if (u >= units) continue;
        unit.each([&](int i, int column, float first, float second) {
            float* place = s.activations + i * ACTIVATION_STRIDE + column;
            const float2 a = at2(place);
            put2(place, first * slope(a.x), second * slope(a.y));
        });
    }
}

// From the gradient of the messages before their LeakyReLU, in `messages`, to those of both maps and of the products, which are in `vectors`. Begins and ends with a barrier. Behind the
// first one nobody reads the first-layer products any more, so `meanwhile` may order other things to be copied there.
template <class Meanwhile>
__device__ __forceinline__ void edge_messages_backward(const Space& s, const EdgeTile& edges, LayerGradient& gradient, Meanwhile meanwhile) {
    const Pack& pack = *s.pack;
    float* products = s.vectors;
    __syncthreads();
    meanwhile();
#pragma unroll
    for (int held = 0; held < Second::COUNT; held++)
        multiply_columns<Second, HP, true>(gradient.second[held], held, edges.padded, s.activations, ACTIVATION_STRIDE, s.messages, MESSAGE_STRIDE, [](int i) { return i; });
    if (BIASED && threadIdx.x / HQ < LANES_H)
        for (int p = threadIdx.x / HQ; p < edges.count; p += LANES_H) add(gradient.bias, at4(s.messages + p * MESSAGE_STRIDE + 4 * (threadIdx.x % HQ)));
    typedef Shapes<JP> Shape;
    Shape::choose(edges.padded, [&] { pull_activations<Shape::WIDE>(s, edges); }, [&] { pull_activations<Shape::MIDDLE>(s, edges); }, [&] { pull_activations<1>(s, edges); });
    __syncthreads();
    const int lane = threadIdx.x / JQ, column = 4 * (threadIdx.x % JQ);
    const int from = s.out_senders[s.position[edges.start]], to = s.out_senders[s.position[edges.start + edges.count - 1]];
    for (int row = from + lane; row <= to && lane < LANES_J; row += LANES_J) {
        if (!is_active(s, row) || !is_own(s, row)) continue;
        const int shift = pack.shift[s.graph_of[row]];
        const int first = max(s.out_begin[row] - shift, edges.start), last = min(s.out_end[row] - shift, edges.start + edges.count);
        if (first >= last) continue;
        float4 sum = zero4();
        for (int p = first; p < last; p++) {
            const float4 value = at4(s.activations + (p - edges.start) * ACTIVATION_STRIDE + column);
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
                if (p >= 0 && p < edges.count) add(sum, at4(s.activations + p * ACTIVATION_STRIDE + column));
            }
            add(at4(products + row * RS + JP + column), sum);
        }
    }
    wait_for_copies();
    __syncthreads();
}
#endif
#endif
