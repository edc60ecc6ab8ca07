// The way back through the iterative module.

#if TRAIN
// Weights of the steps of every unit, from the confidences; one warp per unit.
__device__ void finish_weights(const Space& s, const Launch& launch, const Recipe& recipe, const Record& record, const int* iterations) {
    const int units = launch.schedule_units, lane = threadIdx.x % 32;
    for (int unit = threadIdx.x / 32; unit < unit_count(s); unit += T / 32) {
        const int steps = iterations[unit];
        float total = 0.f;
        for (int step = lane; step < steps; step += 32) {
            const int place = step * units + unit;
            const bool settles = recipe.settle && step + 1 == recipe.cap;
            const float mass = record.left[place];
            const float weight = settles ? mass : powf(recipe.decay, float(steps - 1 - step)) * mass * record.confidence[place];
            record.weight[place] = weight;
            total += weight;
        }
        total = warp_sum(total);
        if (!recipe.normalised || !(total > 0.f)) total = 1.f;
        if (total != 1.f)
            for (int step = lane; step < steps; step += 32) record.weight[step * units + unit] /= total;
        if (lane == 0) s.spent[unit] = total;
    }
    __syncthreads();
}

// Whether the gradient of a block's output is that of single rows, in `chosen`, one for each channel of a graph.
__device__ __forceinline__ bool picks_rows(const Launch& launch, int block) { return (READOUT == 0 || READOUT == 1 || READOUT == 4) && block + 1 == launch.blocks; }

// Gradients of the logits (in `scale`, `pull`), of the confidence's weights, and of what is left over, from the gradient of the output. Ends with a barrier.
__device__ void confide_backward(const Space& s, const Launch& launch, const Recipe& recipe, const Step& now, const Record& record, const int* iterations,
                                 const float* states, const float* output_gradient, bool picked, float* target) {
    const Pack& pack = *s.pack;
    const int units = launch.schedule_units, steps = launch.iteration_cap, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const long long state_size = (long long)launch.row_cap * HP;
    // The gradient of a step's weight: the product of the step's states with the gradient of the output. The blocks of a cluster do it for each other.
    for (int i = warp * CLUSTER + cluster_rank(); i < steps * unit_count(s); i += T / 32 * CLUSTER) {
        const int step = i / unit_count(s), unit = i % unit_count(s);
        if (step >= iterations[unit]) continue;
        const int row = NODE_WISE ? unit : pack.row[unit], rows = NODE_WISE ? 1 : pack.nodes[unit];
        const float *state = states + (step + 1) * state_size + row * HP, *gradient = output_gradient + row * HP;
        float sum = 0.f;
        if (picked && !NODE_WISE) {
            for (int c = lane; c < H; c += 32) {
                sum += states[(step + 1) * state_size + s.chosen[unit * HP + c] * HP + c] * s.picked[unit * HP + c];
            }
        } else {
#pragma unroll 4
            for (int i = 4 * lane; i < rows * HP; i += 128) {
                const float4 a = at4(state + i), b = at4(gradient + i);
                sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
            }
        }
        sum = warp_sum(sum);
        if (lane < CLUSTER) record.scale[step * units + unit + (lane - cluster_rank()) * launch.float_stride] = sum;
    }
    sync_cluster();
    // From the last step to the first: what is left over at a step depends on the steps behind it. A lane holds every 32nd step.
    for (int unit = warp; unit < unit_count(s); unit += T / 32) {
        const int count = iterations[unit];
        const bool at_cap = count == recipe.cap, settles = recipe.settle && at_cap;
        const double unspent = settles ? (double)recipe.price * now.inverse_units : 0.0, total = s.spent[unit], decay = recipe.decay;
        double shared = 0.0, left = 0.0;
        if (recipe.normalised) {
            for (int step = lane; step < count; step += 32) shared += (double)record.weight[step * units + unit] * record.scale[step * units + unit];
#pragma unroll
            for (int offset = 16; offset; offset >>= 1) shared += __shfl_xor_sync(~0u, shared, offset);
        }
        for (int base = (count - 1) / 32 * 32; base >= 0 && count > 0; base -= 32) {
            const int own = base + lane, place = own * units + unit;
            double confidence = 0.0, mass = 0.0, product = 0.0, logit = 0.0;
            if (own < count) {
                confidence = record.confidence[place];
                mass = record.left[place];
                product = pow(decay, double(count - 1 - own)) * (record.scale[place] - shared) / total;
            }
            for (int step = min(count, base + 32) - 1; step >= base; step--) {
                const double c = __shfl_sync(~0u, confidence, step - base), m = __shfl_sync(~0u, mass, step - base), p = __shfl_sync(~0u, product, step - base);
                double gradient = 0.0;
                if (step + 1 == count && settles) {
                    left = p + unspent;
                } else {
                    gradient = (p * m - left * decay * m) * c * (1.0 - c);
                    left = p * c + left * decay * (1.0 - c);
                }
                if (own == step) logit = gradient;
            }
            if (own < count) record.scale[place] = (float)logit;
        }
    }
    __syncthreads();
    if (CONFIDENCE_BIAS) {
        float sum = 0.f;
        if (warp == 0) {
            for (int unit = lane; unit < unit_count(s); unit += 32)
                for (int step = 0; step < iterations[unit]; step++) sum += record.scale[step * units + unit];
            sum = warp_sum(sum);
            if (lane == 0) target[H] = sum;
        }
        __syncthreads();
    }
    if (SCALE_FREE) {
        for (int i = warp; i < steps * unit_count(s); i += T / 32) {
            const int step = i / unit_count(s), unit = i % unit_count(s), place = step * units + unit;
            if (step >= iterations[unit]) continue;
            const float* vector = NODE_WISE ? states + (step + 1) * state_size + unit * HP : record.pooled + (step * G + unit) * HP;
            float norm = 0.f, product = 0.f;
            for (int c = lane; c < H; c += 32) norm += fabsf(vector[c]), product += vector[c] * s.cw[c];
            norm = warp_sum(norm);
            product = warp_sum(product);
            if (lane == 0) {
                const float scale = norm > 0.f ? record.scale[place] / norm : record.scale[place];
                record.scale[place] = scale;
                record.pull[place] = norm > 0.f ? scale * product / norm : 0.f;
            }
        }
        __syncthreads();
    }
    const int column = 4 * (threadIdx.x % HQ);
    float4 sum = zero4();
    for (int i = threadIdx.x / HQ; i < steps * unit_count(s); i += LANES_H) {
        const int step = i / unit_count(s), unit = i % unit_count(s);
        if (step >= iterations[unit] || threadIdx.x / HQ >= LANES_H) continue;
        const float* vector = NODE_WISE ? states + (step + 1) * state_size + unit * HP : record.pooled + (step * G + unit) * HP;
        axpy(sum, record.scale[step * units + unit], at4(vector + column));
    }
    write_columns(s, sum, HQ, LANES_H, target, [](int c) { return c < H ? c : -1; });
    __syncthreads();
}

// Readout and confidence both read single rows, so that each channel of a graph contributes to two of them.
constexpr bool SINGLE_ROWS = ITERATIVE && !NODE_WISE && CONFIDENCE_READOUT == 0 && (READOUT == 0 || READOUT == 1 || READOUT == 4);

// What a channel of a graph contributes to the gradient of a step's states, by itself and through the confidence.
struct Contribution {
    int row;
    float weight, part;
};

// Channel `i % HP` of graph `i / HP`; what does not exist contributes nothing.
__device__ __forceinline__ Contribution contribution_of(const Space& s, const Launch& launch, const Record& record, int step, int i) {
    const Pack& pack = *s.pack;
    const int g = i / HP, c = i % HP, place = step * launch.schedule_units + g;
    if (g >= pack.graphs || c >= H || !(pack.active >> g & 1)) return {-1, 0.f, 0.f};
    const int pooled = (step * G + g) * HP + c;
    float part = record.scale[place] * s.cw[c];
    if (SCALE_FREE) {
        const float value = record.pooled[pooled], pull = record.pull[place];
        part -= value > 0.f ? pull : value < 0.f ? -pull : 0.f;
    }
    return {record.rows[pooled], record.weight[place], part};
}

// Adds them to the gradients, in `states`; the thread's first one is known.
__device__ __forceinline__ void add_to_single_rows(const Space& s, const Launch& launch, const Record& record, int step, const Contribution& first) {
    for (int i = threadIdx.x; i < s.pack->graphs * HP; i += T) {
        const Contribution own = i == threadIdx.x ? first : contribution_of(s, launch, record, step, i);
        if (own.row < 0) continue;
        s.states[s.chosen[i] * HP + i % HP] += own.weight * s.picked[i];
        s.states[own.row * HP + i % HP] += own.part;
    }
}

// Adds to the gradient of a step's states what the output and the confidence contribute.
__device__ __forceinline__ void add_contributions(const Space& s, const Launch& launch, const Record& record, const int* iterations, const float* state,
                                                  const float* output_gradient, bool picked, int step, int row, int column, float4& gradient) {
    const int units = launch.schedule_units, unit = unit_of(s, row), place = step * units + unit;
    // Graphs that are done are not active.
    if (NODE_WISE && step >= iterations[unit]) return;
    if (picked) {
        const int first = s.graph_of[row] * HP + column;
        const int4 chosen = *reinterpret_cast<const int4*>(s.chosen + first);
        const float4 picked = at4(s.picked + first);
        const float weight = record.weight[place];
        gradient.x += chosen.x == row ? weight * picked.x : 0.f;
        gradient.y += chosen.y == row ? weight * picked.y : 0.f;
        gradient.z += chosen.z == row ? weight * picked.z : 0.f;
        gradient.w += chosen.w == row ? weight * picked.w : 0.f;
    } else {
        axpy(gradient, record.weight[place], at4(output_gradient + row * HP + column));
    }
    const float scale = record.scale[place], pull = SCALE_FREE ? record.pull[place] : 0.f;
    const int base = (step * G + s.graph_of[row]) * HP + column;
    int from[4];
    if (!NODE_WISE && CONFIDENCE_READOUT == 0) *reinterpret_cast<int4*>(from) = *reinterpret_cast<const int4*>(record.rows + base);
    float parts[4];
#pragma unroll
    for (int c = 0; c < 4; c++) {
        const int pooled = base + c;
        parts[c] = scale * s.cw[column + c];
        if (SCALE_FREE) {
            const float value = NODE_WISE ? state[row * HP + column + c] : record.pooled[pooled];
            parts[c] -= (value > 0.f ? pull : value < 0.f ? -pull : 0.f);
        }
        if (NODE_WISE) continue;
        if (CONFIDENCE_READOUT == 0) {
            if (from[c] != row) parts[c] = 0.f;
        } else if (!is_node(s, row)) {
            parts[c] = 0.f;
        } else if (CONFIDENCE_READOUT == 1) {
            parts[c] /= s.pack->nodes[s.graph_of[row]];
        }
    }
    gradient.x += parts[0];
    gradient.y += parts[1];
    gradient.z += parts[2];
    gradient.w += parts[3];
}
#endif
