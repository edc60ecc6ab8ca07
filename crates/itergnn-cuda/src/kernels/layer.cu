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
    const int half = column / JP, j = column % JP, state = row - XP;
    if (j >= J) return -1;
    if (row < INPUT) return (half * (INPUT + H) + row) * J + j;
    if (FIRST_BIAS && row == INPUT) return half == 0 ? AT_BIAS_1 + j : -1;
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

// Gradients of the weights, of which each warp holds units in registers.
typedef Held<KV, PW> First;
typedef Held<JP, HP> Second;
struct LayerGradient {
    HeldUnit first[First::COUNT], second[CONVOLUTION ? 1 : Second::COUNT];
    float4 edge[DE > 0 ? DE : 1], bias;
};

// Where entry k of a padded node vector lies in a vector without padding and constant, or -1.
__device__ __forceinline__ int vector_place(int k) {
    if (k < INPUT) return k;
    return k >= XP && k - XP < H ? INPUT + k - XP : -1;
}

// Entry i of the first weight as products need it; transposed it has the columns of the states only.
__device__ __forceinline__ float first_entry(const float* parameters, int i, bool transposed) {
    const Place at = transposed ? weight_at<HP>(i) : weight_at<PW>(i);
    const int place = transposed ? first_place(XP + at.column, at.row) : first_place(at.row, at.column);
    return place < 0 ? 0.f : parameters[place];
}

__device__ __forceinline__ int first_entries(bool transposed) { return PW * (transposed ? HP : KV); }

__device__ void load_score(const Space& s, const float* parameters);
__device__ void write_score(const Space& s, float* target);

__device__ void load_layer(const Space& s, const float* parameters, bool transposed) {
    for (int i = threadIdx.x; i < first_entries(transposed); i += T) s.w1[i] = first_entry(parameters, i, transposed);
    for (int i = threadIdx.x; i < HP; i += T) s.b2[i] = BIASED && i < H ? parameters[AT_BIAS_2 + i] : 0.f;
    if (!CONVOLUTION) {
        for (int i = threadIdx.x; i < JP * HP; i += T) {
            const auto entry = [&](int place) { return place < 0 ? 0.f : parameters[place]; };
            const Place at = weight_at<HP>(i), across = weight_at<JP>(i);
            const float value = entry(second_place(at.row, at.column));
            s.w2[i] = transposed ? entry(second_place(across.column, across.row)) : value;
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

__device__ __forceinline__ void fetch_layer(NextLayer& next, const float* parameters, bool transposed) {
#pragma unroll
    for (int n = 0; n < AHEAD; n++) {
        const int i = threadIdx.x + n * T;
        next.weight[n] = i < first_entries(transposed) ? first_entry(parameters, i, transposed) : 0.f;
    }
    next.bias = BIASED && threadIdx.x < H ? parameters[AT_BIAS_2 + threadIdx.x] : 0.f;
}

__device__ __forceinline__ void place_layer(const Space& s, const NextLayer& next, bool transposed) {
#pragma unroll
    for (int n = 0; n < AHEAD; n++)
        if (threadIdx.x + n * T < first_entries(transposed)) s.w1[threadIdx.x + n * T] = next.weight[n];
    if (threadIdx.x < HP) s.b2[threadIdx.x] = next.bias;
}

// Where the products of rows that other blocks of a cluster have come to in a step: what they had in the step before may still be read when these come. Vectors of such rows are not
// needed.
__device__ __forceinline__ float* products_elsewhere(const Space& s, int step) { return CLUSTER > 1 && step % 2 ? s.vectors : s.first; }

// The products of the node vectors with the first map.
__device__ void node_products(const Space& s, int step) {
    const int rows = s.pack->tiles * 4;
    const LiveRows live(s);
    multiply_rows<KV, PW>(rows, 0, s.w1, [&](int i) { return s.vectors + live(i) * RS; }, [&](int i, int column, float first, float second) {
        if (i >= rows) return;
        const int row = live(i);
        put2(s.first + row * RS + column, first, second);
        put2_elsewhere(products_elsewhere(s, step) + row * RS + column, first, second);
    });
}

// Keeps the products in global memory.
__device__ void keep_products(const Space& s, float* keep) {
    const LiveRows live(s);
    for (int i = threadIdx.x; i < s.pack->tiles * 4 * PQ; i += T) {
        const int row = live(i / PQ), column = 4 * (i % PQ);
        at4(keep + row * PW + column) = at4(s.first + row * RS + column);
    }
}

#if TRAIN
__device__ __forceinline__ void clear_gradient(const Space& s, LayerGradient& gradient) {
#pragma unroll
    for (int n = 0; n < HELD; n++) {
#pragma unroll
        for (int held = 0; held < First::COUNT; held++) gradient.first[held][n] = zero4();
#pragma unroll
        for (int held = 0; held < Second::COUNT && !CONVOLUTION; held++) gradient.second[held][n] = zero4();
    }
#pragma unroll
    for (int d = 0; d < DE; d++) gradient.edge[d] = zero4();
    gradient.bias = zero4();
    for (int i = threadIdx.x; i < SCORE_SIZE; i += T) s.score_gradient[i] = 0.f;
}

// Orders the node vectors of the live rows with the states `before`: they are there behind `wait_for_copies` and a barrier.
__device__ void fetch_vectors(const Space& s, const Launch& launch, const float* before, float* to) {
    const Pack& pack = *s.pack;
    const float* inputs = s.floats + launch.at_inputs;
    const LiveRows live(s);
    for (int i = threadIdx.x; i < pack.tiles * 4 * KQ; i += T) {
        const int row = live(i / KQ), k = 4 * (i % KQ);
        if (k >= XP) {
            copy_16(to + row * RS + k, before + row * HP + k - XP);
        } else {
            float part[4];
#pragma unroll
            for (int d = 0; d < 4; d++) {
                const int input = k + d;
                part[d] = input < INPUT ? inputs[row * launch.node_width + input] : FIRST_BIAS && input == INPUT && is_node(s, row) ? 1.f : 0.f;
            }
            at4(to + row * RS + k) = make_float4(part[0], part[1], part[2], part[3]);
        }
    }
}

// Their states only; the rest stays.
__device__ __forceinline__ void fetch_states(const Space& s, const float* before, float* to) {
    const LiveRows live(s);
    for (int i = threadIdx.x; i < s.pack->tiles * 4 * HQ; i += T) {
        const int row = live(i / HQ), column = 4 * (i % HQ);
        copy_16(to + row * RS + XP + column, before + row * HP + column);
    }
}

// The node vectors before the step take the place of the first-layer products. Ends with a barrier.
__device__ void load_vectors(const Space& s, const Launch& launch, const float* before) {
    fetch_vectors(s, launch, before, s.first);
    wait_for_copies();
    __syncthreads();
}

// From the gradient of the products, in `vectors`, to those of the first map and of the states, `own(row, column)` being what reaches a state directly; `before` are the vectors before
// the step. Ends with a barrier.
template <class Own>
__device__ void node_products_backward(const Space& s, LayerGradient& gradient, const float* before, Own own) {
    const int rows = s.pack->tiles * 4;
    const LiveRows live(s);
    const float* products = s.vectors;
#pragma unroll
    for (int held = 0; held < First::COUNT; held++) multiply_columns<First, PW, false>(gradient.first[held], held, rows, before, RS, products, RS, live);
    multiply_rows<PW, HP>(rows, First::UNITS % WARPS, s.w1, [&](int i) { return products + live(i) * RS; }, [&](int i, int column, float first, float second) {
        if (i >= rows) return;
        const int row = live(i);
        const float2 direct = own(row, column);
        put2(s.states + row * HP + column, direct.x + first, direct.y + second);
    });
    __syncthreads();
}

// Writes the gradient of a layer's parameters.
__device__ void write_layer(const Space& s, const LayerGradient& gradient, float* target) {
#pragma unroll
    for (int held = 0; held < First::COUNT; held++) write_held<First, PW>(gradient.first[held], held, s.activations, target, first_place);
#pragma unroll
    for (int held = 0; held < Second::COUNT && !CONVOLUTION; held++) write_held<Second, HP>(gradient.second[held], held, s.activations, target, second_place);
    if (!CONVOLUTION) {
#pragma unroll
        for (int d = 0; d < DE; d++) write_columns(s, gradient.edge[d], JQ, LANES_J, target, [=](int j) { return j < J ? AT_EDGE + d * J + j : -1; });
    }
    if (BIASED) write_columns(s, gradient.bias, HQ, LANES_H, target, [](int c) { return c < H ? AT_BIAS_2 + c : -1; });
    write_score(s, target);
    // Without a bias GCN has nothing in shared memory here.
    if (LAYER != GCN || BIASED || First::SHARES > 1) __syncthreads();
}
#endif
