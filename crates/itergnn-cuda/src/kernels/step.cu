// The whole step of a pack of graphs: embedding, blocks, readout, head, loss, and back.

__device__ __forceinline__ const float* block_parameters(const Launch& launch, const float* parameters, int block) {
    return parameters + launch.block_offset + (long long)block * launch.block_parameters;
}

__device__ __forceinline__ int layers_of(const Recipe& recipe) { return STACK ? recipe.cap : 1; }

// Iterations of every unit and graph in a block: [units] then [G].
__device__ __forceinline__ int* counts_of(const Space& s, const Launch& launch, int block) {
    return reinterpret_cast<int*>(s.floats + launch.at_counts) + block * (launch.schedule_units + G);
}

__device__ __forceinline__ float* states_of(const Space& s, const Launch& launch, int block) {
    return s.floats + launch.at_states + (long long)block * (launch.iteration_cap + 1) * launch.row_cap * HP;
}

__device__ __forceinline__ float* first_of(const Space& s, const Launch& launch, int block) {
    return s.floats + launch.at_first + (long long)block * launch.iteration_cap * launch.row_cap * PW;
}

// Scores and weights of the edges of every step.
__device__ __forceinline__ float* shares_of(const Space& s, const Launch& launch, int block, int step) {
    return s.floats + launch.at_shares + ((long long)block * launch.iteration_cap + step) * 2 * launch.edge_cap;
}

__device__ __forceinline__ Winner* winners_of(const Space& s, const Launch& launch, int block) {
    return s.winner_history + (long long)block * launch.iteration_cap * launch.row_cap * HP;
}

__device__ void load_confidence(const Space& s, const Recipe& recipe, const float* parameters) {
    const float* weight = parameters + layers_of(recipe) * LAYER_PARAMETERS;
    for (int c = threadIdx.x; c < HP; c += T) s.cw[c] = c < H ? weight[c] : 0.f;
    if (threadIdx.x == 0) s.cw[HP] = CONFIDENCE_BIAS ? weight[H] : 0.f;
}

// Fills the node vectors [x ; 1 ; h] with the embedded inputs.
__device__ void embed(const Space& s, const Launch& launch, const float* parameters) {
    const int rows = s.pack->rows;
    const float* inputs = s.floats + launch.at_inputs;
    const float* embedded = perceptron_forward(launch.embedding, parameters, inputs, s.floats + launch.at_perceptron, rows);
    for (int i = threadIdx.x; i < rows * KV; i += T) {
        const int row = i / KV, k = i % KV;
        float value = 0.f;
        if (is_node(s, row)) {
            if (k < INPUT) value = inputs[row * launch.node_width + k];
            else if (FIRST_BIAS && k == INPUT) value = 1.f;
            else if (k >= XP && k - XP < H) value = embedded[row * H + k - XP];
        }
        s.vectors[row * RS + k] = value;
    }
}

// Notes what a block did with its graphs.
__device__ void close_block(const Space& s, const Launch& launch, const Recipe& recipe, int block) {
    Pack& pack = *s.pack;
    int* counts = counts_of(s, launch, block);
    if (TRAIN && ITERATIVE)
        for (int unit = threadIdx.x; unit < unit_count(s); unit += T) counts[unit] = s.done[unit];
    if (threadIdx.x < pack.graphs) {
        const int g = threadIdx.x, steps = ITERATIVE ? pack.finished_at[g] : recipe.cap;
        if (TRAIN) counts[launch.schedule_units + g] = steps;
        pack.iterations[g] += steps;
        if (ITERATIVE) {
            const int from = NODE_WISE ? pack.row[g] : g, to = NODE_WISE ? from + pack.nodes[g] : g + 1;
            for (int unit = from; unit < to; unit++) {
                const bool at_cap = s.done[unit] == recipe.cap;
                pack.capped[g] |= at_cap && s.remaining[unit] > recipe.epsilon;
                if (at_cap && recipe.settle) pack.unspent[g] += s.before[unit];
            }
        }
    }
}

// Runs a block from the states in `vectors`; its output is in `states`. Ends with a barrier.
__device__ void block_forward(const Space& s, const Launch& launch, const Recipe& recipe, const float* parameters, int block) {
    Pack& pack = *s.pack;
    const Record record = record_of(s, launch, block);
    const long long row_size = (long long)launch.row_cap * HP;
    float *history = states_of(s, launch, block), *first = first_of(s, launch, block);
    Winner* winners = winners_of(s, launch, block);
    if (!STACK) load_layer(s, parameters, false);
    if (ITERATIVE) {
        load_confidence(s, recipe, parameters);
        start_units(s);
    }
    for (int i = threadIdx.x; i < pack.rows * HQ; i += T) {
        const int row = i / HQ, column = 4 * (i % HQ);
        at4(s.states + row * HP + column) = zero4();
        if (TRAIN) at4(history + row * HP + column) = at4(s.vectors + row * RS + XP + column);
    }
    NextLayer next;
    if (FETCHES_AHEAD) fetch_layer(next, parameters);
    activate(s, (1u << pack.graphs) - 1);
    for (int step = 0; step < recipe.cap; step++) {
        if (STACK) {
            if (FETCHES_AHEAD) {
                place_layer(s, next, false);
                if (step + 1 < recipe.cap) fetch_layer(next, parameters + (step + 1) * LAYER_PARAMETERS);
            } else {
                load_layer(s, parameters + step * LAYER_PARAMETERS, false);
            }
            __syncthreads();
        }
        layer_forward(s, launch, recipe, TRAIN ? first + (long long)step * launch.row_cap * PW : nullptr, TRAIN ? shares_of(s, launch, block, step) : nullptr);
        if (TRAIN) {
            for (int i = threadIdx.x; i < pack.tiles * 4 * HQ; i += T) {
                const int row = s.tile_row[i / (4 * HQ)] + i / HQ % 4, place = row * HP + 4 * (i % HQ);
                at4(history + (step + 1) * row_size + place) = at4(s.vectors + row * RS + XP + 4 * (i % HQ));
                if (CONVOLUTION) continue;
                Winner4& winner = *reinterpret_cast<Winner4*>(s.winners + place);
                *reinterpret_cast<Winner4*>(winners + step * row_size + place) = winner;
                winner = {Winner(SELF), Winner(SELF), Winner(SELF), Winner(SELF)};
            }
        }
        if (ITERATIVE) {
            confide(s, launch, recipe, record, step);
            accumulate(s, recipe, step);
            unsigned running = 0;
            for (int g = 0; g < pack.graphs; g++) running |= unsigned((pack.active >> g & 1) && pack.finished_at[g] < 0) << g;
            if (running == 0) break;
            if (running != pack.active) activate(s, running);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < pack.rows * HQ; i += T) {
        const int row = i / HQ, column = 4 * (i % HQ);
        float4& output = at4(s.states + row * HP + column);
        if (!ITERATIVE) {
            output = at4(s.vectors + row * RS + XP + column);
        } else {
            const float spent = s.spent[unit_of(s, row)], divisor = recipe.normalised && spent > 0.f ? spent : 1.f;
            output = make_float4(output.x / divisor, output.y / divisor, output.z / divisor, output.w / divisor);
        }
    }
    close_block(s, launch, recipe, block);
    __syncthreads();
}

// Node states, in `states`, to the rows that the head reads: one per graph, or one per node.
__device__ void read_out(const Space& s, float* input) {
    const Pack& pack = *s.pack;
    if (ROW_LEVEL) {
        for (int i = threadIdx.x; i < pack.rows * H; i += T) input[i] = s.states[i / H * HP + i % H];
    } else {
        for (int i = threadIdx.x; i < pack.graphs * H; i += T) {
            const int g = i / H, c = i % H, from = pack.row[g];
            float value = s.states[from * HP + c];
            int chosen = from;
            for (int row = from + 1; READOUT != 4 && row < from + pack.nodes[g]; row++) {
                const float other = s.states[row * HP + c];
                if (READOUT == 0 ? other > value : READOUT == 1 ? other < value : false) value = other, chosen = row;
                if (READOUT == 2 || READOUT == 3) value += other;
            }
            if (READOUT == 2) value /= pack.nodes[g];
            input[i] = value;
            s.partial_row[g * HP + c] = chosen;
        }
    }
    __syncthreads();
}

#if TRAIN
// From the gradient of the head's input to that of the node states, in the pack's floats.
__device__ void read_out_backward(const Space& s, const float* gradient, float* states) {
    const Pack& pack = *s.pack;
    for (int i = threadIdx.x; i < pack.rows * HP; i += T) {
        const int row = i / HP, c = i % HP, g = s.graph_of[row];
        float value = 0.f;
        if (c < H && is_node(s, row)) {
            if (ROW_LEVEL) value = gradient[row * H + c];
            else if (READOUT == 2) value = gradient[g * H + c] / pack.nodes[g];
            else if (READOUT == 3) value = gradient[g * H + c];
            else if (s.partial_row[g * HP + c] == row) value = gradient[g * H + c];
        }
        states[i] = value;
    }
    __syncthreads();
}

// The loss of the pack's predictions, summed into `pack.loss`, and its gradient.
__device__ float loss_and_gradient(const Space& s, const Launch& launch, const Recipe& recipe, const Step& now, const float* predictions, float* gradient) {
    const Pack& pack = *s.pack;
    const int width = launch.outputs, rows = ROW_LEVEL ? pack.rows : pack.graphs, lane = threadIdx.x % 32;
    for (int i = threadIdx.x; i < rows * width; i += T) gradient[i] = 0.f;
    __syncthreads();
    float loss = 0.f;
    if (threadIdx.x < 32) {
        for (int g = 0; g < pack.graphs; g++) {
            const int sample = pack.sample[g];
            const unsigned from = launch.samples.target_offsets[sample], count = launch.samples.target_offsets[sample + 1] - from;
            const float* targets = launch.samples.targets + from;
            if (recipe.loss == 2) {
                // One class per graph.
                const float* scores = predictions + g * width;
                float top = scores[0];
                for (int o = 1; o < width; o++) top = fmaxf(top, scores[o]);
                float sum = 0.f;
                for (int o = 0; o < width; o++) sum += expf(scores[o] - top);
                const int chosen = (int)targets[0];
                if (lane == 0) loss -= (scores[chosen] - top - logf(sum)) * now.inverse_targets;
                for (int o = lane; o < width; o += 32)
                    gradient[g * width + o] = (expf(scores[o] - top) / sum - (o == chosen ? 1.f : 0.f)) * now.inverse_targets;
                continue;
            }
            for (unsigned i = lane; i < count; i += 32) {
                const int row = ROW_LEVEL ? pack.row[g] + launch.samples.target_rows[(from + i) / width] : g;
                const int place = row * width + i % width;
                const float target = targets[i], unit = recipe.loss == 1 ? 1.f / target : 1.f, difference = (predictions[place] - target) * unit;
                loss += difference * difference * now.inverse_targets;
                gradient[place] = 2.f * difference * unit * now.inverse_targets;
            }
        }
        loss = warp_sum(loss);
    }
    __syncthreads();
    return loss;
}

// From the gradient of a block's output (in the pack's floats) to that of its initial states, in `states`. Ends with a barrier.
__device__ void block_backward(const Space& s, const Launch& launch, const Recipe& recipe, const Step& now, const float* parameters, int block, float* target) {
    Pack& pack = *s.pack;
    const Record record = record_of(s, launch, block);
    const long long row_size = (long long)launch.row_cap * HP;
    const float *history = states_of(s, launch, block), *first = first_of(s, launch, block), *output_gradient = s.floats + launch.at_gradient;
    const Winner* winners = winners_of(s, launch, block);
    const int *iterations = counts_of(s, launch, block), *steps = iterations + launch.schedule_units;
    if (ITERATIVE) {
        load_confidence(s, recipe, parameters);
        finish_weights(s, launch, recipe, record, iterations);
        confide_backward(s, launch, recipe, now, record, iterations, history, output_gradient, target + layers_of(recipe) * LAYER_PARAMETERS);
    }
    for (int i = threadIdx.x; i < pack.rows * HQ; i += T) at4(s.states + 4 * i) = ITERATIVE ? zero4() : at4(output_gradient + 4 * i);
    if (!STACK) load_layer(s, parameters, true);
    LayerGradient gradient;
    clear_gradient(s, gradient);
    int last = 0;
    for (int g = 0; g < pack.graphs; g++) last = max(last, steps[g]);
    unsigned known = 0;
    NextLayer next;
    if (FETCHES_AHEAD && last > 0) fetch_layer(next, parameters + (last - 1) * LAYER_PARAMETERS);
    for (int step = last - 1; step >= 0; step--) {
        unsigned active = 0;
        for (int g = 0; g < pack.graphs; g++) active |= unsigned(steps[g] > step) << g;
        if (active != known) activate(s, active);
        known = active;
        if (STACK) {
            if (FETCHES_AHEAD) {
                place_layer(s, next, true);
                if (step > 0) fetch_layer(next, parameters + (step - 1) * LAYER_PARAMETERS);
            } else {
                load_layer(s, parameters + step * LAYER_PARAMETERS, true);
            }
            clear_gradient(s, gradient);
        }
        const float* products = first + (long long)step * launch.row_cap * PW;
        for (int i = threadIdx.x; LAYER != GCN && i < pack.tiles * 4 * PQ; i += T) {
            const int row = s.tile_row[i / (4 * PQ)] + i / PQ % 4, column = 4 * (i % PQ);
            at4(s.first + row * RS + column) = at4(products + row * PW + column);
        }
        for (int i = threadIdx.x; i < pack.tiles * 4 * HQ; i += T) {
            const int row = s.tile_row[i / (4 * HQ)] + i / HQ % 4, column = 4 * (i % HQ), place = row * HP + column;
            if (!CONVOLUTION) *reinterpret_cast<Winner4*>(s.winners + place) = *reinterpret_cast<const Winner4*>(winners + step * row_size + place);
            if (ITERATIVE)
                add_contributions(s, launch, record, iterations, history + (step + 1) * row_size, output_gradient, step, row, column, at4(s.states + place));
        }
#if LAYER == ATTENTION || LAYER == GAT
        load_shares(s, launch, shares_of(s, launch, block, step));
#endif
        layer_backward(s, launch, recipe, history + step * row_size, history + (step + 1) * row_size, gradient);
        if (STACK) write_layer(s, gradient, target + step * LAYER_PARAMETERS);
    }
    if (!STACK) write_layer(s, gradient, target);
}
#endif

extern "C" __global__ void __launch_bounds__(T, BLOCKS_PER_SM) graph_step(const __grid_constant__ Launch launch) {
    extern __shared__ __align__(16) char shared[];
    const int model = blockIdx.y, block = model * gridDim.x + blockIdx.x;
    Space s;
    lay_out(s, shared, launch, block);
    if (!load_pack(s, launch, model, blockIdx.x)) return;
    Pack& pack = *s.pack;
    const Recipe& recipe = launch.recipes[model];
    const float* parameters = launch.parameters + (long long)model * launch.parameter_count;
    if (threadIdx.x < G) {
        pack.iterations[threadIdx.x] = pack.capped[threadIdx.x] = 0;
        pack.unspent[threadIdx.x] = 0.f;
    }
    embed(s, launch, parameters);
    for (int b = 0; b < launch.blocks; b++) {
        if (b > 0)
            for (int i = threadIdx.x; i < pack.rows * HQ; i += T) at4(s.vectors + i / HQ * RS + XP + 4 * (i % HQ)) = at4(s.states + 4 * i);
        __syncthreads();
        block_forward(s, launch, recipe, block_parameters(launch, parameters, b), b);
    }
    const int head_rows = ROW_LEVEL ? pack.rows : pack.graphs;
    float *space = s.floats + launch.at_perceptron, *scratch = s.floats + launch.at_scratch;
    // The head's input lies in front of the room for two gradients.
    read_out(s, scratch);
    const float* predictions = perceptron_forward(launch.head, parameters, scratch, space, head_rows);
#if TRAIN
    const Step& now = launch.steps[model];
    float *target = launch.gradients + (long long)block * launch.parameter_count, *output_gradient = s.floats + launch.at_gradient;
    float* gradient = scratch + launch.scratch_size;
    const float loss = loss_and_gradient(s, launch, recipe, now, predictions, gradient);
    if (threadIdx.x == 0) {
        float unspent = 0.f, iterations = 0.f, capped = 0.f;
        for (int g = 0; g < pack.graphs; g++) unspent += pack.unspent[g], iterations += pack.iterations[g], capped += pack.capped[g];
        float* report = launch.reports + 4ll * block;
        report[0] = loss;
        report[1] = unspent * recipe.price * now.inverse_units;
        report[2] = iterations;
        report[3] = capped;
    }
    const float* back = perceptron_backward(launch.head, parameters, scratch, space, gradient, head_rows, target, scratch + 2 * launch.scratch_size, launch.scratch_size, true);
    read_out_backward(s, back, output_gradient);
    for (int b = launch.blocks - 1; b >= 0; b--) {
        block_backward(s, launch, recipe, now, block_parameters(launch, parameters, b), b, target + launch.block_offset + (long long)b * launch.block_parameters);
        if (b > 0)
            for (int i = threadIdx.x; i < pack.rows * HQ; i += T) at4(output_gradient + 4 * i) = at4(s.states + 4 * i);
        __syncthreads();
    }
    for (int i = threadIdx.x; i < pack.rows * H; i += T) gradient[i] = s.states[i / H * HP + i % H];
    __syncthreads();
    perceptron_backward(launch.embedding, parameters, s.floats + launch.at_inputs, space, gradient, pack.rows, target, scratch + 2 * launch.scratch_size,
                        launch.scratch_size, false);
#else
    const int width = launch.outputs;
    for (int g = 0; g < pack.graphs; g++) {
        const int sample = pack.sample[g], rows = ROW_LEVEL ? pack.nodes[g] : 1;
        const float* from = predictions + (ROW_LEVEL ? pack.row[g] : g) * width;
        float* to = launch.predictions + model * launch.prediction_stride + (ROW_LEVEL ? launch.samples.node_offsets[sample] : sample) * (long long)width;
        for (int i = threadIdx.x; i < rows * width; i += T) to[i] = from[i];
        if (threadIdx.x == 0) {
            launch.iterations[(long long)model * launch.samples_count + sample] = pack.iterations[g];
            launch.capped[(long long)model * launch.samples_count + sample] = pack.capped[g];
        }
    }
#endif
}
