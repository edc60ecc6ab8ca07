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

// Keeps the states of the step, predicts the confidences from them and notes which graphs are done. Ends with a barrier.
__device__ void confide(const Space& s, const Launch& launch, const Recipe& recipe, const Record& record, int step) {
    Pack& pack = *s.pack;
    const int units = launch.schedule_units, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (NODE_WISE) {
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
        return;
    }
    // Lanes of a column share the graphs evenly; each looks at every so many-th row of its graph.
    const int part = CLUSTER > 1 ? min(LANES_H / pack.graphs, 8) : LANES_H / pack.graphs, place = threadIdx.x / HQ, column = 4 * (threadIdx.x % HQ);
    const int g = place / part;
    if (g < pack.graphs && pack.active >> g & 1) {
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
    __syncthreads();
    const auto decide = [&](int g) {
        __syncwarp();
        const float logit = logit_of(s, [&](int c) { return s.partial[g * part * HP + c]; });
        if (lane == 0) {
            push(s, g, logit, recipe, record, step, units);
            pack.finished_at[g] = is_running(s, g, recipe) ? -1 : step + 1;
        }
    };
    for (int g = warp; g < pack.graphs; g += T / 32) {
        if (!(pack.active >> g & 1)) continue;
        for (int c = lane; c < HP; c += 32) {
            float best = s.partial[g * part * HP + c];
            int from = s.partial_row[g * part * HP + c];
            for (int other = g * part + 1; other < (g + 1) * part; other++) {
                const float value = s.partial[other * HP + c];
                const int row = s.partial_row[other * HP + c];
                if (CONFIDENCE_READOUT != 0) best += value;
                else if (value > best || (value == best && row < from)) best = value, from = row;
            }
            if (CLUSTER > 1) {
                float* place = s.exchange + 2 * ((cluster_rank() * G + g) * HP + c);
                put2(place, best, __int_as_float(from));
                put2_elsewhere(place, best, __int_as_float(from));
                continue;
            }
            if (CONFIDENCE_READOUT == 1) best /= pack.nodes[g];
            s.partial[g * part * HP + c] = best;
            if (TRAIN) {
                record.pooled[(step * G + g) * HP + c] = best;
                record.rows[(step * G + g) * HP + c] = from;
            }
        }
        if (CLUSTER == 1) decide(g);
    }
    if (CLUSTER > 1) {
        sync_cluster();
        for (int g = warp; g < pack.graphs; g += T / 32) {
            if (!(pack.active >> g & 1)) continue;
            for (int c = lane; c < HP; c += 32) {
                float best = at2(s.exchange + 2 * (g * HP + c)).x;
                int from = __float_as_int(at2(s.exchange + 2 * (g * HP + c)).y);
#pragma unroll
                for (int rank = 1; rank < CLUSTER; rank++) {
                    const float2 other = at2(s.exchange + 2 * ((rank * G + g) * HP + c));
                    // Rows come in the order of the blocks, so that the first of equals stays.
                    if (CONFIDENCE_READOUT != 0) best += other.x;
                    else if (other.x > best) best = other.x, from = __float_as_int(other.y);
                }
                if (CONFIDENCE_READOUT == 1) best /= pack.nodes[g];
                s.partial[g * part * HP + c] = best;
                if (TRAIN) {
                    record.pooled[(step * G + g) * HP + c] = best;
                    record.rows[(step * G + g) * HP + c] = from;
                }
            }
            decide(g);
        }
    }
    __syncthreads();
}

// output <- decay output + weight h, for the units that ran in this step.
__device__ void accumulate(const Space& s, const Recipe& recipe, int step) {
    const Pack& pack = *s.pack;
    for (int i = threadIdx.x; i < pack.tiles * 4 * HQ; i += T) {
        const int row = s.tile_row[i / (4 * HQ)] + i / HQ % 4, column = 4 * (i % HQ), unit = unit_of(s, row);
        if (s.done[unit] != step + 1) continue;
        float4& output = at4(s.states + row * HP + column);
        float4 sum = make_float4(recipe.decay * output.x, recipe.decay * output.y, recipe.decay * output.z, recipe.decay * output.w);
        axpy(sum, s.weight[unit], at4(s.vectors + row * RS + XP + column));
        output = sum;
    }
}
