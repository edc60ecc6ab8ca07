// What all layers have in common: where their parameters lie, how they are loaded, and the way back through the map of the nodes.
//
// With v = [x ; 1 ; h], the first map is made once per node: v W_s, and v W_r where messages read the receiver.

// Lanes that share a column of four floats in passes over rows.
constexpr int LANES_H = T / HQ, LANES_J = T / JQ;

// Positions of a layer's parameters, as the kernels' ParameterLayout has them.
constexpr int MESSAGE_INPUTS = CONVOLUTION ? INPUT + H : (INPUT + H) * (1 + USES_RECEIVER) + DE;
constexpr int AT_EDGE = (INPUT + H) * (1 + USES_RECEIVER) * J;
constexpr int AT_BIAS_1 = MESSAGE_INPUTS * J;
#if LAYER < GCN
constexpr int AT_WEIGHT_2 = AT_BIAS_1 + BIASED * J, AT_BIAS_2 = AT_WEIGHT_2 + J * H;
// [v_s ; v_r ; e], then the bias.
constexpr int AT_SCORE = AT_BIAS_2 + BIASED * H;
constexpr int LAYER_PARAMETERS = AT_SCORE + (LAYER == ATTENTION ? 2 * (INPUT + H) + DE + BIASED : 0);
#else
// GAT: vectors of sender and receiver, map and vector of the edges. The bias of the output comes last.
constexpr int AT_WEIGHT_2 = AT_BIAS_1, AT_SCORE = AT_BIAS_1;
constexpr int AT_EDGE_MAP = AT_SCORE + 2 * H, AT_EDGE_VECTOR = AT_EDGE_MAP + DE * H;
constexpr int AT_BIAS_2 = LAYER == GCN ? AT_SCORE : DE > 0 ? AT_EDGE_VECTOR + H : AT_EDGE_MAP;
constexpr int LAYER_PARAMETERS = AT_BIAS_2 + BIASED * H;
#endif

// Where the entry (row, column) of the padded first weight lies among the parameters, or -1.
__device__ __forceinline__ int first_place(int row, int column) {
    const int half = column / JP, j = column % JP, input = row - XX, state = row - HX;
    if (j >= J) return -1;
    if (input >= 0 && input < INPUT) return (half * (INPUT + H) + input) * J + j;
    if (FIRST_BIAS && input == INPUT) return half == 0 ? AT_BIAS_1 + j : -1;
    if (state < 0 || state >= H) return -1;
    return (half * (INPUT + H) + INPUT + state) * J + j;
}

__device__ __forceinline__ int second_place(int row, int column) {
    return row < J && column < H ? AT_WEIGHT_2 + row * H + column : -1;
}

#if TRAIN
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

#endif

#if !SLICED
constexpr int TILES_1 = KQ * PQ, TILES_2 = CONVOLUTION ? 0 : JQ * HQ;
constexpr int HELD_1 = (TILES_1 + T - 1) / T, HELD_2 = (TILES_2 + T - 1) / T;
// Gradients of the weights; each thread holds tiles of them in registers.
struct LayerGradient {
    float4 first[HELD_1][4], second[HELD_2 > 0 ? HELD_2 : 1][4];
    float4 edge[DE > 0 ? DE : 1], bias;
};

// Where entry k of a padded node vector lies in a vector without padding and constant, or -1.
__device__ __forceinline__ int vector_place(int k) {
    if (k < INPUT) return k;
    return k >= XP && k - XP < H ? INPUT + k - XP : -1;
}

// Puts entry i of the padded first weight into shared memory. Transposed rows lie KV apart, which spreads them over the banks.
__device__ __forceinline__ void place_first(const Space& s, int i, float value, bool transposed) {
    const int row = i / PW, column = i % PW;
    if (!transposed) s.w1[i] = value;
    else if (row >= XP) s.w1[column * KV + row - XP] = value;
}

__device__ void load_score(const Space& s, const float* parameters);
__device__ void write_score(const Space& s, float* target);

__device__ void load_layer(const Space& s, const float* parameters, bool transposed) {
    for (int i = threadIdx.x; i < KV * PW; i += T) {
        const int place = first_place(i / PW, i % PW);
        const float value = place < 0 ? 0.f : parameters[place];
        place_first(s, i, value, transposed);
    }
    for (int i = threadIdx.x; i < HP; i += T) s.b2[i] = BIASED && i < H ? parameters[AT_BIAS_2 + i] : 0.f;
    if (!CONVOLUTION) {
        for (int i = threadIdx.x; i < JP * HP; i += T) {
            const int row = i / HP, column = i % HP, place = second_place(row, column);
            const float value = place < 0 ? 0.f : parameters[place];
            s.w2[transposed ? column * JP + row : i] = value;
            if (LAYER == ATTENTION && TRAIN) s.w2_again[i] = value;
        }
        for (int i = threadIdx.x; i < DE * JP; i += T) s.we[i] = i % JP < J ? parameters[AT_EDGE + i / JP * J + i % JP] : 0.f;
    }
    load_score(s, parameters);
}

// The weights of the next layer of a stack on their way into registers while a step runs; only a GCN has so few that they fit.
constexpr bool FETCHES_AHEAD = STACK && LAYER == GCN;
constexpr int AHEAD = FETCHES_AHEAD ? (KV * PW + T - 1) / T : 1;
struct NextLayer {
    float weight[AHEAD], bias;
};

__device__ __forceinline__ void fetch_layer(NextLayer& next, const float* parameters) {
#pragma unroll
    for (int n = 0; n < AHEAD; n++) {
        const int i = threadIdx.x + n * T, place = i < KV * PW ? first_place(i / PW, i % PW) : -1;
        next.weight[n] = place < 0 ? 0.f : parameters[place];
    }
    next.bias = BIASED && threadIdx.x < H ? parameters[AT_BIAS_2 + threadIdx.x] : 0.f;
}

__device__ __forceinline__ void place_layer(const Space& s, const NextLayer& next, bool transposed) {
#pragma unroll
    for (int n = 0; n < AHEAD; n++)
        if (threadIdx.x + n * T < KV * PW) place_first(s, threadIdx.x + n * T, next.weight[n], transposed);
    if (threadIdx.x < HP) s.b2[threadIdx.x] = next.bias;
}

// The products of the node vectors with the first map; `keep` is where they are kept, if anywhere.
__device__ void node_products(const Space& s, float* keep) {
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
}

#if TRAIN
__device__ __forceinline__ void clear_gradient(const Space& s, LayerGradient& gradient) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
#pragma unroll
        for (int held = 0; held < HELD_1; held++) gradient.first[held][i] = zero4();
#pragma unroll
        for (int held = 0; held < HELD_2; held++) gradient.second[held][i] = zero4();
    }
#pragma unroll
    for (int d = 0; d < DE; d++) gradient.edge[d] = zero4();
    gradient.bias = zero4();
    for (int i = threadIdx.x; i < SCORE_SIZE; i += T) s.score_gradient[i] = 0.f;
}

// The node vectors before the step take the place of the first-layer products. Ends with a barrier.
__device__ void load_vectors(const Space& s, const Launch& launch, const float* before) {
    const Pack& pack = *s.pack;
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
                part[d] = input < INPUT ? inputs[row * launch.node_width + input] : FIRST_BIAS && input == INPUT && is_node(s, row) ? 1.f : 0.f;
            }
            value = make_float4(part[0], part[1], part[2], part[3]);
        }
        at4(s.first + row * RS + k) = value;
    }
    __syncthreads();
}

// From the gradient of the products, in `vectors`, to those of the first map and of the states, `own(row, column)` being what reaches a state directly. The vectors before the
// step are in `first`. Ends with a barrier.
template <class Own>
__device__ void node_products_backward(const Space& s, LayerGradient& gradient, Own own) {
    const Pack& pack = *s.pack;
    const float* products = s.vectors;
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
        for (int i = 0; i < 4; i++) sum[i] = own(rows[i], column);
        multiply<PW>(sum, products, RS, rows, s.w1 + column, KV);
#pragma unroll
        for (int i = 0; i < 4; i++) at4(s.states + rows[i] * HP + column) = sum[i];
    }
    __syncthreads();
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
    if (!CONVOLUTION) {
#pragma unroll
        for (int d = 0; d < DE; d++) write_columns(s, gradient.edge[d], JQ, LANES_J, target, [=](int j) { return j < J ? AT_EDGE + d * J + j : -1; });
    }
    if (BIASED) write_columns(s, gradient.bias, HQ, LANES_H, target, [](int c) { return c < H ? AT_BIAS_2 + c : -1; });
    write_score(s, target);
    __syncthreads();
}
#endif
#endif
