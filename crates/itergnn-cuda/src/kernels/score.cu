// Scores of edges and their softmax over the edges that reach a node, plain or scale-invariant, and back.
//
// A score is send[sender] + receive[receiver] + a product with the edge features: what depends on a node is computed once per node.

// Places in `score` and its gradient: vectors of sender and receiver, then the weights of the edge features, then the bias.
constexpr int SCORE_WIDTH = LAYER == GAT ? HP : KV;
constexpr int SCORE_EDGE = 2 * SCORE_WIDTH, SCORE_BIAS = SCORE_EDGE + DE;
// GAT: the vector and the map of the edges, whose product is what the features are multiplied with.
constexpr int SCORE_EDGE_VECTOR = pad4(SCORE_BIAS + 1), SCORE_EDGE_MAP = SCORE_EDGE_VECTOR + HP;

#if LAYER == ATTENTION || LAYER == GAT
__device__ void load_score(const Space& s, const float* parameters) {
    const float* given = parameters + AT_SCORE;
    for (int i = threadIdx.x; i < 2 * SCORE_WIDTH; i += T) {
        const int half = i / SCORE_WIDTH, k = i % SCORE_WIDTH;
        if (LAYER == GAT) {
            s.score[i] = k < H ? given[half * H + k] : 0.f;
        } else {
            const int place = vector_place(k);
            s.score[i] = place < 0 ? 0.f : given[half * (INPUT + H) + place];
        }
    }
#if LAYER == GAT
    for (int i = threadIdx.x; DE > 0 && i < HP; i += T) s.score[SCORE_EDGE_VECTOR + i] = i < H ? parameters[AT_EDGE_VECTOR + i] : 0.f;
    for (int i = threadIdx.x; i < DE * HP; i += T) s.score[SCORE_EDGE_MAP + i] = i % HP < H ? parameters[AT_EDGE_MAP + i / HP * H + i % HP] : 0.f;
    for (int d = threadIdx.x; d < DE; d += T) {
        float sum = 0.f;
        for (int c = 0; c < H; c++) sum += parameters[AT_EDGE_MAP + d * H + c] * parameters[AT_EDGE_VECTOR + c];
        s.score[SCORE_EDGE + d] = sum;
    }
    if (threadIdx.x == 0) s.score[SCORE_BIAS] = 0.f;
#else
    for (int d = threadIdx.x; d < DE; d += T) s.score[SCORE_EDGE + d] = given[2 * (INPUT + H) + d];
    if (threadIdx.x == 0) s.score[SCORE_BIAS] = BIASED ? given[2 * (INPUT + H) + DE] : 0.f;
#endif
}

__device__ __forceinline__ float warp_max(float value) {
#pragma unroll
    for (int offset = 16; offset; offset >>= 1) value = fmaxf(value, __shfl_xor_sync(~0u, value, offset));
    return value;
}

// Calls `visit(row)` for every active row, a warp for each.
template <class Visit>
__device__ __forceinline__ void each_row_by_warp(const Space& s, Visit visit) {
    for (int i = threadIdx.x / 32; i < s.pack->tiles * 4; i += T / 32) visit(s.tile_row[i / 4] + i % 4);
}

// A range of scores that counts as zero: then all weights are equal and no gradient reaches the scores.
__device__ __forceinline__ bool is_flat(float range, float largest) { return !(range > 1e-4f * largest); }

// Scores and weights of the active edges, from the vectors in `rows` of the width of a score. `keep` has room for both, by edge. Ends with a barrier.
__device__ void weigh(const Space& s, const Launch& launch, const Recipe& recipe, const float* rows, float* keep) {
    const int lane = threadIdx.x % 32;
    each_row_by_warp(s, [&](int row) {
        float send = 0.f, receive = 0.f;
        for (int k = lane; k < SCORE_WIDTH; k += 32) {
            const float value = rows[row * RS + k];
            send += value * s.score[k];
            receive += value * s.score[SCORE_WIDTH + k];
        }
        send = warp_sum(send);
        receive = warp_sum(receive);
        if (lane == 0) s.send[row] = send, s.receive[row] = receive;
    });
    __syncthreads();
    each_row_by_warp(s, [&](int row) {
        const int begin = s.in_begin[row], end = s.in_end[row];
        const float own = s.receive[row] + s.score[SCORE_BIAS], infinity = __int_as_float(0x7f800000);
        float top = -infinity, low = -infinity, largest = 0.f, sum = 0.f;
        for (int edge = begin + lane; edge < end; edge += 32) {
            float score = s.send[s.senders[edge]] + own;
#pragma unroll
            for (int d = 0; d < DE; d++) score += s.features[edge * DE + d] * s.score[SCORE_EDGE + d];
            if (LAYER == GAT && !(score > 0.f)) score *= recipe.slope;
            s.scores[edge] = score;
            top = fmaxf(top, score);
            low = fmaxf(low, -score);
            largest = fmaxf(largest, fabsf(score));
        }
        top = warp_max(top);
        float range = 1.f;
        bool flat = false;
        if (SCALE_INVARIANT) {
            range = top + warp_max(low);
            flat = is_flat(range, warp_max(largest));
        }
        for (int edge = begin + lane; edge < end; edge += 32) {
            const float power = flat ? 1.f : expf((s.scores[edge] - top) / range);
            s.shares[edge] = power;
            sum += power;
        }
        sum = warp_sum(sum);
        for (int edge = begin + lane; edge < end; edge += 32) {
            s.shares[edge] /= sum;
            if (keep) keep[edge] = s.scores[edge], keep[launch.edge_cap + edge] = s.shares[edge];
        }
    });
    __syncthreads();
}

#if TRAIN
// Scores and weights as a step kept them.
__device__ void load_shares(const Space& s, const Launch& launch, const float* keep) {
    for (int p = threadIdx.x; p < s.pack->live_edges; p += T) {
        const int edge = s.position[p];
        s.scores[edge] = keep[edge];
        s.shares[edge] = keep[launch.edge_cap + edge];
    }
}

// The first of the edges of a lane and of all others that has the largest value.
__device__ __forceinline__ int warp_first(float value, int edge) {
#pragma unroll
    for (int offset = 16; offset; offset >>= 1) {
        const float other = __shfl_xor_sync(~0u, value, offset);
        const int place = __shfl_xor_sync(~0u, edge, offset);
        if (other > value || (other == value && place < edge)) value = other, edge = place;
    }
    return edge;
}

// From the gradient of the weights, in `pulls`, to that of the scores, and from those to the nodes': `send` and `receive`. The gradients of the edges' weights and of the bias are
// added up. Begins and ends with a barrier.
__device__ void weigh_backward(const Space& s, const Recipe& recipe) {
    const int lane = threadIdx.x % 32;
    const float infinity = __int_as_float(0x7f800000);
    __syncthreads();
    each_row_by_warp(s, [&](int row) {
        const int begin = s.in_begin[row], end = s.in_end[row];
        float mean = 0.f, product = 0.f, received = 0.f, top = -infinity, low = -infinity, largest = 0.f;
        int top_edge = 0x7fffffff, low_edge = 0x7fffffff;
        for (int edge = begin + lane; edge < end; edge += 32) {
            const float score = s.scores[edge];
            mean += s.shares[edge] * s.pulls[edge];
            largest = fmaxf(largest, fabsf(score));
            if (score > top) top = score, top_edge = edge;
            if (-score > low) low = -score, low_edge = edge;
        }
        mean = warp_sum(mean);
        float range = 1.f, back = 0.f;
        bool flat = false;
        if (SCALE_INVARIANT) {
            top_edge = warp_first(top, top_edge);
            low_edge = warp_first(low, low_edge);
            top = warp_max(top);
            range = top + warp_max(low);
            flat = is_flat(range, warp_max(largest));
        }
        // The range gets minus the product of gradients and scores. The gradients sum to zero, so the scores may be counted from the largest, which is exact where they hardly differ.
        for (int edge = begin + lane; edge < end; edge += 32) {
            const float pull = s.shares[edge] * (s.pulls[edge] - mean);
            s.pulls[edge] = pull;
            product += pull * ((s.scores[edge] - top) / range);
        }
        if (SCALE_INVARIANT) back = warp_sum(product) / range;
        for (int edge = begin + lane; edge < end; edge += 32) {
            float pull = flat ? 0.f : s.pulls[edge] / range;
            if (SCALE_INVARIANT && !flat) pull += (edge == low_edge ? back : 0.f) - (edge == top_edge ? back : 0.f);
            if (LAYER == GAT && !(s.scores[edge] > 0.f)) pull *= recipe.slope;
            s.pulls[edge] = pull;
            received += pull;
        }
        received = warp_sum(received);
        if (lane == 0) s.receive[row] = received;
    });
    __syncthreads();
    each_row_by_warp(s, [&](int row) {
        float sent = 0.f;
        for (int edge = s.out_begin[row] + lane; edge < s.out_end[row]; edge += 32) sent += s.pulls[s.in_begin[s.out_receivers[edge]] + s.out_numbers[edge]];
        sent = warp_sum(sent);
        if (lane == 0) s.send[row] = sent;
    });
    for (int d = threadIdx.x / 32; d <= DE; d += T / 32) {
        float sum = 0.f;
        for (int p = lane; p < s.pack->live_edges; p += 32) {
            const int edge = s.position[p];
            sum += s.pulls[edge] * (d < DE ? s.features[edge * DE + d] : 1.f);
        }
        sum = warp_sum(sum);
        if (lane == 0) s.score_gradient[SCORE_EDGE + d] += sum;
    }
    __syncthreads();
}

// Adds to the gradient of the vectors of sender and receiver; `rows` as in `weigh`.
__device__ void score_vectors_backward(const Space& s, const float* rows) {
    for (int i = threadIdx.x; i < 2 * SCORE_WIDTH; i += T) {
        const float *factor = i < SCORE_WIDTH ? s.send : s.receive, *column = rows + i % SCORE_WIDTH;
        float sum = 0.f;
        for (int t = 0; t < s.pack->tiles; t++) {
            const int row = s.tile_row[t];
#pragma unroll
            for (int r = 0; r < 4; r++) sum += factor[row + r] * column[(row + r) * RS];
        }
        s.score_gradient[i] += sum;
    }
}

__device__ void write_score(const Space& s, float* target) {
    float* given = target + AT_SCORE;
    for (int i = threadIdx.x; i < 2 * SCORE_WIDTH; i += T) {
        const int half = i / SCORE_WIDTH, k = i % SCORE_WIDTH;
        const int place = LAYER == GAT ? (k < H ? half * H + k : -1) : vector_place(k) < 0 ? -1 : half * (INPUT + H) + vector_place(k);
        if (place >= 0) given[place] = s.score_gradient[i];
    }
#if LAYER == GAT
    for (int c = threadIdx.x; DE > 0 && c < H; c += T) {
        float sum = 0.f;
        for (int d = 0; d < DE; d++) {
            const float gradient = s.score_gradient[SCORE_EDGE + d];
            sum += gradient * s.score[SCORE_EDGE_MAP + d * HP + c];
            target[AT_EDGE_MAP + d * H + c] = gradient * s.score[SCORE_EDGE_VECTOR + c];
        }
        target[AT_EDGE_VECTOR + c] = sum;
    }
#else
    for (int d = threadIdx.x; d < DE + BIASED; d += T) given[2 * (INPUT + H) + d] = s.score_gradient[SCORE_EDGE + d];
#endif
}
#endif
#else
__device__ __forceinline__ void load_score(const Space&, const float*) {}
__device__ __forceinline__ void write_score(const Space&, float*) {}
#endif
