// The iterative module: confidences, the weights that follow from them, and the way back through both.
//
// A unit is what has its own confidence: a graph, or a node (a row of the pack).

// What a block remembers of every step, in the floats of the pack: [iterations, units] each.
struct Record {
    float *confidence, *left, *weight, *scale, *pull;
    // [iterations, G, HP]: the pooled vectors, and the rows that their maxima come from.
    float* pooled;
    int* rows;
};

__device__ Record record_of(const Space& s, const Launch& launch, int block) {
    const int steps = launch.iteration_cap, units = launch.schedule_units;
    float* schedule = s.floats + launch.at_schedule + (long long)block * 5 * steps * units;
    float* pooled = s.floats + launch.at_pooled + (long long)block * 2 * steps * G * HP;
    const int n = steps * units;
    return {schedule, schedule + n, schedule + 2 * n, schedule + 3 * n, schedule + 4 * n, pooled, reinterpret_cast<int*>(pooled + steps * G * HP)};
}

// Units of the pack: graphs, or rows of which the padding counts as done.
__device__ __forceinline__ int unit_count(const Space& s) { return NODE_WISE ? s.pack->rows : s.pack->graphs; }

__device__ void start_units(const Space& s) {
    for (int unit = threadIdx.x; unit < unit_count(s); unit += T) {
        const bool real = !NODE_WISE || is_node(s, unit);
        s.remaining[unit] = real ? 1.f : 0.f;
        s.spent[unit] = 0.f;
        s.before[unit] = 1.f;
        s.done[unit] = 0;
    }
}

__device__ __forceinline__ bool is_running(const Space& s, int unit, const Recipe& recipe) {
    return s.remaining[unit] > recipe.epsilon && s.done[unit] < recipe.cap;
}

// Notes the confidence of one more iteration of a unit that runs; one thread.
__device__ void push(const Space& s, int unit, float logit, const Recipe& recipe, const Record& record, int step, int units) {
    const float confidence = 1.f / (1.f + expf(-logit)), before = s.remaining[unit];
    s.before[unit] = before;
    s.done[unit] += 1;
    s.remaining[unit] = recipe.decay * (1.f - confidence) * before;
    const float weight = recipe.settle && s.done[unit] == recipe.cap ? before : before * confidence;
    s.spent[unit] = recipe.decay * s.spent[unit] + weight;
    s.weight[unit] = weight;
    if (TRAIN) {
        record.confidence[step * units + unit] = confidence;
        record.left[step * units + unit] = before;
    }
}

// w . p, or w . p / |p|_1, and the bias; one warp, the sum in every lane.
template <class Value>
__device__ float logit_of(const Space& s, Value value) {
    const int lane = threadIdx.x % 32;
    float product = 0.f, norm = 0.f;
    for (int c = lane; c < H; c += 32) {
        product += value(c) * s.cw[c];
        if (SCALE_FREE) norm += fabsf(value(c));
    }
    product = warp_sum(product);
    if (SCALE_FREE) {
        norm = warp_sum(norm);
        if (norm > 0.f) product /= norm;
    }
    return product + s.cw[HP];
}

#if NODE_WISE
// Predicts the confidences of the nodes from their states and notes which graphs are done. Ends with a barrier.
__device__ void confide(const Space& s, const Launch& launch, const Recipe& recipe, const Record& record, int step) {
    Pack& pack = *s.pack;
    const int units = launch.schedule_units, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int row = warp; row < pack.rows; row += T / 32) {
        const bool running = is_active(s, row) && is_running(s, row, recipe);
        if (!running) {
            if (lane == 0) s.weight[row] = 0.f;
            continue;
        }
        const float logit = logit_of(s, [&](int c) { return s.vectors[row * RS + XP + c]; });
        if (lane == 0) push(s, row, logit, recipe, record, step, units);
    }
    __syncthreads();
    if (threadIdx.x < pack.graphs && pack.active >> threadIdx.x & 1) {
        const int g = threadIdx.x;
        bool running = false;
        for (int row = pack.row[g]; row < pack.row[g] + pack.nodes[g]; row++) running |= is_running(s, row, recipe);
        pack.finished_at[g] = running ? -1 : step + 1;
    }
    __syncthreads();
}
#else
// Lanes of a column that share a graph.
__device__ __forceinline__ int pool_lanes(const Space& s) { return CLUSTER > 1 ? min(LANES_H / s.pack->graphs, 8) : LANES_H / s.pack->graphs; }

// A part of the pooled states of every graph for each lane of a column, which looks at every so many-th row.
__device__ void pool_parts(const Space& s) {
    const Pack& pack = *s.pack;
    const int part = pool_lanes(s), place = threadIdx.x / HQ, column = 4 * (threadIdx.x % HQ), g = place / part;
    if (g >= pack.graphs || !(pack.active >> g & 1)) return;
    float best[4];
    int from[4];
    const float start = CONFIDENCE_READOUT == 0 ? __int_as_float(0xff800000) : 0.f;
#pragma unroll
    for (int c = 0; c < 4; c++) best[c] = start, from[c] = pack.row[g];
    const int behind = min(pack.own_row[g] + 4 * pack.own_tiles[g], pack.row[g] + pack.nodes[g]);
    for (int row = pack.own_row[g] + place % part; row < behind; row += part) {
        const float4 v = at4(s.vectors + row * RS + XP + column);
        const float values[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int c = 0; c < 4; c++) {
            if (CONFIDENCE_READOUT != 0) best[c] += values[c];
            else if (values[c] > best[c]) best[c] = values[c], from[c] = row;
        }
    }
#pragma unroll
    for (int c = 0; c < 4; c++) s.partial[place * HP + column + c] = best[c], s.partial_row[place * HP + column + c] = from[c];
}

// The confidence of each graph after a step, by a warp; `pooled(g, c, from)` is channel c of its pooled states and the row that it comes from.
template <class Pooled>
__device__ void confide(const Space& s, const Launch& launch, const Recipe& recipe, const Record& record, int step, Pooled pooled) {
    Pack& pack = *s.pack;
    const int lane = threadIdx.x % 32;
    for (int g = WARPS - 1 - threadIdx.x / 32; g < pack.graphs; g += WARPS) {
        if (!(pack.active >> g & 1)) continue;
        float* vector = s.partial + g * pool_lanes(s) * HP;
        for (int c = lane; c < HP; c += 32) {
            int from;
            float value = pooled(g, c, from);
            if (CONFIDENCE_READOUT == 1) value /= pack.nodes[g];
            vector[c] = value;
            if (TRAIN) {
                record.pooled[(step * G + g) * HP + c] = value;
                record.rows[(step * G + g) * HP + c] = from;
            }
        }
        __syncwarp();
        const float logit = logit_of(s, [&](int c) { return vector[c]; });
        if (lane == 0) {
            push(s, g, logit, recipe, record, step, launch.schedule_units);
            pack.finished_at[g] = is_running(s, g, recipe) ? -1 : step + 1;
        }
    }
}

// Channel c of a graph from the parts of the block.
__device__ __forceinline__ float pool(const Space& s, int g, int c, int& from) {
    const int part = pool_lanes(s);
    float best = s.partial[g * part * HP + c];
    from = s.partial_row[g * part * HP + c];
    for (int other = g * part + 1; other < (g + 1) * part; other++) {
        const float value = s.partial[other * HP + c];
        const int row = s.partial_row[other * HP + c];
        if (CONFIDENCE_READOUT != 0) best += value;
        else if (value > best || (value == best && row < from)) best = value, from = row;
    }
    return best;
}

// Where a block of a cluster leaves what it pooled after a step.
__device__ __forceinline__ float* exchange_at(const Space& s, int step, int rank, int g, int c) { return s.exchange + 2 * (((step % 2 * CLUSTER + rank) * G + g) * HP + c); }

// Pools the states after a step from their parts: the confidences follow, or in a cluster what the others need for them, behind a barrier of the cluster.
__device__ void pool_graphs(const Space& s, const Launch& launch, const Recipe& recipe, const Record& record, int step) {
#if CLUSTER > 1
    for (int g = WARPS - 1 - threadIdx.x / 32; g < s.pack->graphs; g += WARPS) {
        if (!(s.pack->active >> g & 1)) continue;
        for (int c = threadIdx.x % 32; c < HP; c += 32) {
            int from;
            const float value = pool(s, g, c, from);
            float* place = exchange_at(s, step, cluster_rank(), g, c);
            put2(place, value, __int_as_float(from));
            put2_elsewhere(place, value, __int_as_float(from));
        }
    }
#else
    confide(s, launch, recipe, record, step, [&](int g, int c, int& from) { return pool(s, g, c, from); });
#endif
}

// The confidences from what the blocks of a cluster pooled. Ends with a barrier.
__device__ void confide_together(const Space& s, const Launch& launch, const Recipe& recipe, const Record& record, int step) {
#if CLUSTER > 1
    confide(s, launch, recipe, record, step, [&](int g, int c, int& from) {
        float2 best = at2(exchange_at(s, step, 0, g, c));
#pragma unroll
        for (int rank = 1; rank < CLUSTER; rank++) {
            const float2 other = at2(exchange_at(s, step, rank, g, c));
            // Rows come in the order of the blocks, so that the first of equals stays.
            if (CONFIDENCE_READOUT != 0) best.x += other.x;
            else if (other.x > best.x) best = other;
        }
        from = __float_as_int(best.y);
        return best.x;
    });
    __syncthreads();
#endif
}
#endif

// output <- decay output + weight h, for the units that ran in this step.
__device__ void accumulate(const Space& s, const Recipe& recipe, int step) {
    const Pack& pack = *s.pack;
    const LiveRows live(s);
    for (int i = threadIdx.x; i < pack.tiles * 4 * HQ; i += T) {
        const int row = live(i / HQ), column = 4 * (i % HQ), unit = unit_of(s, row);
        if (s.done[unit] != step + 1) continue;
        float4& output = at4(s.states + row * HP + column);
        float4 sum = make_float4(recipe.decay * output.x, recipe.decay * output.y, recipe.decay * output.z, recipe.decay * output.w);
        axpy(sum, s.weight[unit], at4(s.vectors + row * RS + XP + column));
        output = sum;
    }
}
