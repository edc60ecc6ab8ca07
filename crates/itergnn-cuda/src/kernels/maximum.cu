// One step of path-sim, path or mpnn-max with maximum aggregation, forward and backward.
//
// With v = [x ; 1 ; h], message = leaky(leaky(v_s W_s + v_r W_r + e W_e) W_2 + b_2). The products with W_s and W_r are made once per node.

constexpr int TILES_1 = KQ * PQ, TILES_2 = JQ * HQ;
constexpr int HELD_1 = (TILES_1 + T - 1) / T, HELD_2 = (TILES_2 + T - 1) / T;
// Lanes that share a column of four floats in passes over rows.
constexpr int LANES_H = T / HQ, LANES_J = T / JQ;

// Gradients of the weights; each thread holds tiles of them in registers.
struct LayerGradient {
    float4 first[HELD_1][4], second[HELD_2][4];
    float4 edge[DE > 0 ? DE : 1], bias;

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int i = 0; i < 4; i++) {
#pragma unroll
            for (int held = 0; held < HELD_1; held++) first[held][i] = zero4();
#pragma unroll
            for (int held = 0; held < HELD_2; held++) second[held][i] = zero4();
        }
#pragma unroll
        for (int d = 0; d < DE; d++) edge[d] = zero4();
        bias = zero4();
    }
};

// Positions of a layer's parameters, as the kernels' ParameterLayout has them.
constexpr int MESSAGE_INPUTS = (INPUT + H) * (1 + USES_RECEIVER) + DE;
constexpr int AT_BIAS_1 = MESSAGE_INPUTS * J, AT_WEIGHT_2 = AT_BIAS_1 + BIASED * J, AT_BIAS_2 = AT_WEIGHT_2 + J * H;
constexpr int LAYER_PARAMETERS = AT_BIAS_2 + BIASED * H;
constexpr int AT_EDGE = (INPUT + H) * (1 + USES_RECEIVER) * J;

// Where the entry (row, column) of the padded first weight lies among the parameters, or -1.
__device__ __forceinline__ int first_place(int row, int column) {
    const int half = column / JP, j = column % JP;
    if (j >= J) return -1;
    if (row < INPUT) return (half * (INPUT + H) + row) * J + j;
    if (BIASED && row == INPUT) return half == 0 ? AT_BIAS_1 + j : -1;
    if (row < XP || row - XP >= H) return -1;
    return (half * (INPUT + H) + INPUT + row - XP) * J + j;
}

__device__ __forceinline__ int second_place(int row, int column) {
    return row < J && column < H ? AT_WEIGHT_2 + row * H + column : -1;
}

__device__ void load_layer(const Space& s, const float* parameters, bool transposed) {
    for (int i = threadIdx.x; i < KV * PW; i += T) {
        const int row = i / PW, column = i % PW, place = first_place(row, column);
        const float value = place < 0 ? 0.f : parameters[place];
        if (!transposed) s.w1[i] = value;
        else if (row >= XP) s.w1[column * HP + row - XP] = value;
    }
    for (int i = threadIdx.x; i < JP * HP; i += T) {
        const int row = i / HP, column = i % HP, place = second_place(row, column);
        s.w2[transposed ? column * JP + row : i] = place < 0 ? 0.f : parameters[place];
    }
    for (int i = threadIdx.x; i < DE * JP; i += T) s.we[i] = i % JP < J ? parameters[AT_EDGE + i / JP * J + i % JP] : 0.f;
    for (int i = threadIdx.x; i < HP; i += T) s.b2[i] = BIASED && i < H ? parameters[AT_BIAS_2 + i] : 0.f;
}

// The first-layer activation of four channels of an edge.
__device__ __forceinline__ float4 activation(const Space& s, int sender, int receiver, const float* features, int q) {
    float4 value = at4(s.first + sender * RS + 4 * q);
    if (USES_RECEIVER) add(value, at4(s.first + receiver * RS + JP + 4 * q));
#pragma unroll
    for (int d = 0; d < DE; d++) axpy(value, features[d], at4(s.we + d * JP + 4 * q));
    return leaky(value);
}

__device__ __forceinline__ void challenge(float message, int number, float& best, Winner& winner) {
    if (message > best) {
        best = message;
        winner = Winner(number | (message > 0.f ? 0 : NEGATIVE));
    }
}

// From the states in `vectors` to the next ones, in place; the winners go to `winners`. `keep` is where the first-layer products are kept, if anywhere.
__device__ void layer_forward(const Space& s, const Launch& launch, float* keep) {
    const Pack& pack = *s.pack;
    for (int t = threadIdx.x; t < pack.tiles * PQ; t += T) {
        const Tile tile = tile_at<PQ>(t, pack.tiles);
        const int column = 4 * tile.column;
        int rows[4];
        rows_of(tile, [&](int r) { return (int)s.tile_row[r]; }, rows);
        float4 sum[4] = {zero4(), zero4(), zero4(), zero4()};
        multiply<KV>(sum, s.vectors, RS, rows, s.w1 + column, PW);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            at4(s.first + rows[i] * RS + column) = sum[i];
            if (keep) at4(keep + rows[i] * PW + column) = sum[i];
        }
    }
    __syncthreads();
    for (int start = 0; start < pack.live_edges; start += launch.edge_tile) {
        const int count = min(launch.edge_tile, pack.live_edges - start), padded = pad4(count);
        for (int i = threadIdx.x; i < padded * JQ; i += T) {
            const int p = i / JQ, q = i % JQ;
            float4 value = zero4();
            if (p < count) {
                const int edge = s.position[start + p];
                value = activation(s, s.senders[edge], s.receivers[edge], s.features + edge * DE, q);
            }
            at4(s.activations + p * JP + 4 * q) = value;
        }
        __syncthreads();
        for (int t = threadIdx.x; t < padded / 4 * HQ; t += T) {
            const Tile tile = tile_at<HQ>(t, padded / 4);
            const int column = 4 * tile.column;
            int rows[4];
            rows_of(tile, [](int r) { return 4 * r; }, rows);
            float4 sum[4];
#pragma unroll
            for (int i = 0; i < 4; i++) sum[i] = at4(s.b2 + column);
            multiply<JP>(sum, s.activations, JP, rows, s.w2 + column, HP);
#pragma unroll
            for (int i = 0; i < 4; i++) at4(s.messages + rows[i] * HP + column) = leaky(sum[i]);
        }
        __syncthreads();
        const int from = s.receivers[s.position[start]], to = s.receivers[s.position[start + count - 1]];
        const int lane = threadIdx.x / HQ, column = 4 * (threadIdx.x % HQ);
        for (int row = from + lane; row <= to && lane < LANES_H; row += LANES_H) {
            if (!is_active(s, row)) continue;
            const int shift = pack.shift[s.graph_of[row]], begin = s.in_begin[row] - shift;
            const int first = max(begin, start), last = min(s.in_end[row] - shift, start + count);
            if (first >= last) continue;
            float4 best = at4(s.vectors + row * RS + XP + column);
            Winner4& winners = *reinterpret_cast<Winner4*>(s.winners + row * HP + column);
            Winner4 winner = winners;
            for (int p = first; p < last; p++) {
                const float4 message = at4(s.messages + (p - start) * HP + column);
                challenge(message.x, p - begin, best.x, winner.x);
                challenge(message.y, p - begin, best.y, winner.y);
                challenge(message.z, p - begin, best.z, winner.z);
                challenge(message.w, p - begin, best.w, winner.w);
            }
            at4(s.vectors + row * RS + XP + column) = best;
            winners = winner;
        }
        // The next tile's activations do not touch what is read here, and its messages wait for a barrier.
    }
    __syncthreads();
}

// The gradient that reaches a message from its receiver.
__device__ __forceinline__ float share(float gradient, int winner, int number) {
    return (winner & ~NEGATIVE) != number ? 0.f : winner & NEGATIVE ? 0.01f * gradient : gradient;
}

__device__ __forceinline__ float keep_own(float gradient, int winner) { return winner == SELF ? gradient : 0.f; }

// From the gradient of the states after a step, in `states`, to that of the states before. `first` holds the first-layer products of the step, `winners` its
// winners; `before` are the states before it.
__device__ void layer_backward(const Space& s, const Launch& launch, const float* before, LayerGradient& gradient) {
    const Pack& pack = *s.pack;
    float* products = s.vectors;  // the gradient of `first`
    for (int i = threadIdx.x; i < pack.tiles * 4 * PQ; i += T) {
        const int row = s.tile_row[i / (4 * PQ)] + i / PQ % 4;
        at4(products + row * RS + 4 * (i % PQ)) = zero4();
    }
    __syncthreads();
    for (int start = 0; start < pack.live_edges; start += launch.edge_tile) {
        const int count = min(launch.edge_tile, pack.live_edges - start), padded = pad4(count);
        // Edges in the order of their senders, so that what goes back to a sender lies together.
        for (int i = threadIdx.x; i < padded * JQ; i += T) {
            const int p = i / JQ, q = i % JQ;
            float4 value = zero4();
            if (p < count) {
                const int edge = s.position[start + p];
                value = activation(s, s.out_senders[edge], s.out_receivers[edge], s.out_features + edge * DE, q);
            }
            at4(s.activations + p * JP + 4 * q) = value;
        }
        for (int i = threadIdx.x; i < padded * HQ; i += T) {
            const int p = i / HQ, column = 4 * (i % HQ);
            float4 value = zero4();
            if (p < count) {
                const int edge = s.position[start + p], row = s.out_receivers[edge], number = s.out_numbers[edge];
                const float4 g = at4(s.states + row * HP + column);
                const Winner4 winner = *reinterpret_cast<const Winner4*>(s.winners + row * HP + column);
                value = make_float4(share(g.x, winner.x, number), share(g.y, winner.y, number), share(g.z, winner.z, number), share(g.w, winner.w, number));
            }
            at4(s.messages + p * HP + column) = value;
        }
        __syncthreads();
#pragma unroll
        for (int held = 0; held < HELD_2; held++) {
            const int tile = threadIdx.x + held * T;
            if (tile < TILES_2) {
                const Tile place = tile_at<HQ>(tile, JQ);
                const float *left = s.activations + 4 * place.row, *right = s.messages + 4 * place.column;
                for (int p = 0; p < count; p++) outer(gradient.second[held], at4(left + p * JP), at4(right + p * HP));
            }
        }
        if (BIASED && threadIdx.x / HQ < LANES_H)
            for (int p = threadIdx.x / HQ; p < count; p += LANES_H) add(gradient.bias, at4(s.messages + p * HP + 4 * (threadIdx.x % HQ)));
        // Activations become their own gradients; a thread that has several tiles would need more registers than there are, so tiles go by rounds.
        const int tiles = padded / 4 * JQ;
        for (int base = 0; base < tiles; base += T) {
            const int t = base + threadIdx.x;
            const bool on = t < tiles;
            const Tile tile = tile_at<JQ>(on ? t : 0, padded / 4);
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
        const int from = s.out_senders[s.position[start]], to = s.out_senders[s.position[start + count - 1]];
        for (int row = from + lane; row <= to && lane < LANES_J; row += LANES_J) {
            if (!is_active(s, row)) continue;
            const int shift = pack.shift[s.graph_of[row]];
            const int first = max(s.out_begin[row] - shift, start), last = min(s.out_end[row] - shift, start + count);
            if (first >= last) continue;
            float4 sum = zero4();
            for (int p = first; p < last; p++) {
                const float4 value = at4(s.activations + (p - start) * JP + column);
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
                    const int p = s.arrival[edge] - shift - start;
                    if (p >= 0 && p < count) add(sum, at4(s.activations + p * JP + column));
                }
                add(at4(products + row * RS + JP + column), sum);
            }
        }
        __syncthreads();
    }
    // The node vectors before the step take the place of the first-layer products.
    const float* inputs = s.floats + launch.at_inputs;
    for (int i = threadIdx.x; i < pack.tiles * 4 * KQ; i += T) {
        const int row = s.tile_row[i / (4 * KQ)] + i / KQ % 4, k = 4 * (i % KQ);
        float4 value;
        if (k >= XP) {
            value = at4(before + row * HP + k - XP);
        } else {
            float part[4];
#pragma unroll
            for (int d = 0; d < 4; d++) {
                const int input = k + d;
                part[d] = input < INPUT ? inputs[row * launch.node_width + input] : BIASED && input == INPUT && is_node(s, row) ? 1.f : 0.f;
            }
            value = make_float4(part[0], part[1], part[2], part[3]);
        }
        at4(s.first + row * RS + k) = value;
    }
    __syncthreads();
#pragma unroll
    for (int held = 0; held < HELD_1; held++) {
        const int tile = threadIdx.x + held * T;
        if (tile < TILES_1) {
            const Tile place = tile_at<PQ>(tile, KQ);
            const float *left = s.first + 4 * place.row, *right = products + 4 * place.column;
            for (int t = 0; t < pack.tiles; t++) {
                const int row = s.tile_row[t];
#pragma unroll
                for (int i = 0; i < 4; i++) outer(gradient.first[held], at4(left + (row + i) * RS), at4(right + (row + i) * RS));
            }
        }
    }
    for (int t = threadIdx.x; t < pack.tiles * HQ; t += T) {
        const Tile tile = tile_at<HQ>(t, pack.tiles);
        const int column = 4 * tile.column;
        int rows[4];
        rows_of(tile, [&](int r) { return (int)s.tile_row[r]; }, rows);
        float4 sum[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float4 g = at4(s.states + rows[i] * HP + column);
            const Winner4 winner = *reinterpret_cast<const Winner4*>(s.winners + rows[i] * HP + column);
            sum[i] = make_float4(keep_own(g.x, winner.x), keep_own(g.y, winner.y), keep_own(g.z, winner.z), keep_own(g.w, winner.w));
        }
        multiply<PW>(sum, products, RS, rows, s.w1 + column, HP);
#pragma unroll
        for (int i = 0; i < 4; i++) at4(s.states + rows[i] * HP + column) = sum[i];
    }
    __syncthreads();
}

// Adds up what the lanes of a column hold, in order, through shared memory, and writes it.
template <class Place>
__device__ void write_columns(const Space& s, float4 value, int quads, int lanes, float* target, Place place) {
    __syncthreads();
    const int lane = threadIdx.x / quads, column = 4 * (threadIdx.x % quads);
    if (lane < lanes) at4(s.activations + lane * 4 * quads + column) = value;
    __syncthreads();
    for (int i = threadIdx.x; i < 4 * quads; i += T) {
        float sum = 0.f;
        for (int l = 0; l < lanes; l++) sum += s.activations[l * 4 * quads + i];
        if (place(i) >= 0) target[place(i)] = sum;
    }
}

// Writes the gradient of a layer's parameters.
__device__ void write_layer(const Space& s, const LayerGradient& gradient, float* target) {
#pragma unroll
    for (int held = 0; held < HELD_1; held++) {
        const int tile = threadIdx.x + held * T;
        if (tile < TILES_1) {
            const Tile at = tile_at<PQ>(tile, KQ);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const float4 v = gradient.first[held][i];
                const float values[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
                for (int c = 0; c < 4; c++) {
                    const int place = first_place(4 * at.row + i, 4 * at.column + c);
                    if (place >= 0) target[place] = values[c];
                }
            }
        }
    }
#pragma unroll
    for (int held = 0; held < HELD_2; held++) {
        const int tile = threadIdx.x + held * T;
        if (tile < TILES_2) {
            const Tile at = tile_at<HQ>(tile, JQ);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const float4 v = gradient.second[held][i];
                const float values[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
                for (int c = 0; c < 4; c++) {
                    const int place = second_place(4 * at.row + i, 4 * at.column + c);
                    if (place >= 0) target[place] = values[c];
                }
            }
        }
    }
#pragma unroll
    for (int d = 0; d < DE; d++) write_columns(s, gradient.edge[d], JQ, LANES_J, target, [=](int j) { return j < J ? AT_EDGE + d * J + j : -1; });
    if (BIASED) write_columns(s, gradient.bias, HQ, LANES_H, target, [](int c) { return c < H ? AT_BIAS_2 + c : -1; });
    __syncthreads();
}
