// One step of GCN or GAT: h' = f(sum of weight v_s W + b), the weights being given with the edges (GCN) or a softmax of scores (GAT). Loops are edges like others.

#if LAYER >= GCN
__device__ __forceinline__ float4 rectify(float4 v, float factor) {
    return make_float4(v.x > 0.f ? v.x : factor * v.x, v.y > 0.f ? v.y : factor * v.y, v.z > 0.f ? v.z : factor * v.z, v.w > 0.f ? v.w : factor * v.w);
}

__device__ void layer_forward(const Space& s, const Launch& launch, const Recipe& recipe, int, float* keep_shares) {
    const Pack& pack = *s.pack;
#if LAYER == GAT
    weigh(s, launch, recipe, s.first, keep_shares);
    const float* weights = s.shares;
#else
    const float* weights = s.features;
#endif
    const LiveRows live(s);
    for (int i = threadIdx.x; i < pack.tiles * 4 * HQ; i += T) {
        const int row = live(i / HQ), column = 4 * (i % HQ);
        float4 sum = at4(s.b2 + column);
        for (int edge = s.in_begin[row]; edge < s.in_end[row]; edge++) axpy(sum, weights[edge], at4(s.first + s.senders[edge] * RS + column));
        at4(s.vectors + row * RS + XP + column) = is_node(s, row) ? rectify(sum, recipe.output_slope) : zero4();
    }
    __syncthreads();
}

#if TRAIN
// GCN: `before` and `after` are the node vectors before and after the step; behind it those with the states `earlier` are on their way to `after`. GAT: they are states.
#if LAYER == GCN
__device__ void layer_backward(const Space& s, const Recipe& recipe, const float* earlier, const float* before, float* after, LayerGradient& gradient) {
    constexpr int AFTER = XP, AFTER_STRIDE = RS;
    // What was ordered in the step behind this one.
    wait_for_copies();
    if (ITERATIVE) __syncthreads();
#else
__device__ void layer_backward(const Space& s, const Launch& launch, const Recipe& recipe, const float* before, const float* after, LayerGradient& gradient) {
    constexpr int AFTER = 0, AFTER_STRIDE = HP;
    __syncthreads();
#endif
    const Pack& pack = *s.pack;
    float* products = s.vectors;
    const LiveRows live(s);
    const int lane = threadIdx.x / HQ, own_column = 4 * (threadIdx.x % HQ);
    // The gradient of the sums, row by row for each lane of a column.
    for (int i = lane; i < pack.tiles * 4 && lane < LANES_H; i += LANES_H) {
        const int row = live(i);
        float4& g = at4(s.states + row * HP + own_column);
        const float4 value = at4(after + row * AFTER_STRIDE + AFTER + own_column);
        const float factor = recipe.output_slope;
        g = make_float4(value.x > 0.f ? g.x : factor * g.x, value.y > 0.f ? g.y : factor * g.y, value.z > 0.f ? g.z : factor * g.z, value.w > 0.f ? g.w : factor * g.w);
        if (BIASED) add(gradient.bias, g);
    }
    __syncthreads();
#if LAYER == GCN
    if (earlier) fetch_states(s, earlier, after);
#else
    for (int p = threadIdx.x / 32; p < pack.live_edges; p += T / 32) {
        const int edge = s.position[p], from = s.senders[edge] * RS, to = s.receivers[edge] * HP;
        float product = 0.f;
        for (int c = threadIdx.x % 32; c < HP; c += 32) product += s.first[from + c] * s.states[to + c];
        product = warp_sum(product);
        if (threadIdx.x % 32 == 0) s.pulls[edge] = product;
    }
    weigh_backward(s, recipe);
    score_vectors_backward(s, s.first);
#endif
    for (int i = threadIdx.x; i < pack.tiles * 4 * HQ; i += T) {
        const int row = live(i / HQ), column = 4 * (i % HQ);
        float4 sum = zero4();
        for (int edge = s.out_begin[row]; edge < s.out_end[row]; edge++) {
            const int receiver = s.out_receivers[edge];
#if LAYER == GAT
            axpy(sum, s.shares[s.in_begin[receiver] + s.out_numbers[edge]], at4(s.states + receiver * HP + column));
#else
            axpy(sum, s.out_features[edge], at4(s.states + receiver * HP + column));
#endif
        }
#if LAYER == GAT
        axpy(sum, s.send[row], at4(s.score + column));
        axpy(sum, s.receive[row], at4(s.score + SCORE_WIDTH + column));
#endif
        at4(products + row * RS + column) = sum;
    }
    __syncthreads();
#if LAYER == GAT
    load_vectors(s, launch, before);
    before = s.first;
#endif
    node_products_backward(s, gradient, before, [](int, int) { return make_float2(0.f, 0.f); });
}
#endif
#endif
