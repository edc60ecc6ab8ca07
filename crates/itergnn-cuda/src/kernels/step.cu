// The whole step of a pack of graphs: embedding, blocks, readout, head, loss, and back.

__device__ __forceinline__ const float* block_parameters(const Launch& launch, const float* parameters, int block) {
    return parameters + launch.block_offset + (long long)block * launch.block_parameters;
}

// Confidences belong to graphs, whose states are pooled.
constexpr int POOLED = ITERATIVE && !NODE_WISE ? 1 : 0;

__device__ __forceinline__ int layers_of(const Recipe& recipe) { return STACK ? recipe.cap : 1; }

// Iterations of every unit and graph in a block: [units] then [G].
__device__ __forceinline__ int* counts_of(const Space& s, const Launch& launch, int block) {
    return reinterpret_cast<int*>(s.floats + launch.at_counts) + block * (launch.schedule_units + G);
}

__device__ __forceinline__ float* states_of(const Space& s, const Launch& launch, int block) {
    return s.common + launch.at_states + (long long)block * (launch.iteration_cap + 1) * launch.row_cap * HP;
}

__device__ __forceinline__ float* first_of(const Space& s, const Launch& launch, int block) {
    return s.common + launch.at_first + (long long)block * launch.iteration_cap * launch.row_cap * PW;
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

// Fills the node vectors [x ; 1 ; h] of the block's rows with the embedded inputs.
__device__ void embed(const Space& s, const Launch& launch, const float* parameters) {
    activate(s, (1u << s.pack->graphs) - 1, false);
    const int rows = s.pack->tiles * 4;
    const LiveRows live(s);
    const float* inputs = s.floats + launch.at_inputs;
    const float* embedded = perceptron_forward(launch.embedding, parameters, inputs, s.floats + launch.at_perceptron, rows, live);
    for (int i = threadIdx.x; i < rows * KV; i += T) {
        const int row = live(i / KV), k = i % KV;
        float value = 0.f;
        if (is_node(s, row)) {
            const int state = k - XP;
            if (k < INPUT) value = inputs[row * launch.node_width + k];
            else if (FIRST_BIAS && k == INPUT) value = 1.f;
            else if (state >= 0 && state < H) value = embedded[row * H + state];
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

// Adds the states of a step to the output and leaves the graphs that are done; false if none is left.
__device__ __forceinline__ bool end_step(const Space& s, const Recipe& recipe, int step) {
    const Pack& pack = *s.pack;
    accumulate(s, recipe, step);
    unsigned running = 0;
    for (int g = 0; g < pack.graphs; g++) running |= unsigned((pack.active >> g & 1) && pack.finished_at[g] < 0) << g;
    if (running != 0 && running != pack.active) activate(s, running, false);
    return running != 0;
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
        if (TRAIN && is_own(s, row)) at4(history + row * HP + column) = at4(s.vectors + row * RS + XP + column);
    }
    NextLayer next;
    if (FETCHES_AHEAD) fetch_layer(next, parameters, false);
    // Without a bias nobody needs a layer any more once its products are made.
    constexpr bool PLACED_EARLY = FETCHES_AHEAD && !BIASED;
    if (PLACED_EARLY) {
        place_layer(s, next, false);
        if (recipe.cap > 1) fetch_layer(next, parameters + LAYER_PARAMETERS, false);
    }
    activate(s, (1u << pack.graphs) - 1, false);
    // Behind the last step only its confidences are left.
    for (int step = 0; step < recipe.cap + POOLED; step++) {
        const bool goes_on = step < recipe.cap;
        if (STACK && !PLACED_EARLY) {
            if (FETCHES_AHEAD) {
                place_layer(s, next, false);
                if (step + 1 < recipe.cap) fetch_layer(next, parameters + (step + 1) * LAYER_PARAMETERS, false);
            } else {
                load_layer(s, parameters + step * LAYER_PARAMETERS, false);
            }
            __syncthreads();
        }
        // Blocks of a cluster meet once in a step, with what they pooled of the states before it and with its products.
        const int number = block * recipe.cap + step;
        if (goes_on) node_products(s, number);
#if CONTROLLER == 2 && !NODE_WISE
        if (step > 0) pool_graphs(s, launch, recipe, record, step - 1);
        sync_cluster();
        if (step > 0) {
            confide_together(s, launch, recipe, record, step - 1);
            if (!end_step(s, recipe, step - 1) || !goes_on) break;
        }
#else
        sync_cluster();
#endif
        if (PLACED_EARLY && step + 1 < recipe.cap) {
            place_layer(s, next, false);
            if (step + 2 < recipe.cap) fetch_layer(next, parameters + (step + 2) * LAYER_PARAMETERS, false);
        }
        if (TRAIN && LAYER != GCN) keep_products(s, first + (long long)step * launch.row_cap * PW);
        layer_forward(s, launch, recipe, number, TRAIN ? shares_of(s, launch, block, step) : nullptr);
        if (TRAIN) {
            const LiveRows live(s);
            for (int i = threadIdx.x; i < pack.tiles * 4 * HQ; i += T) {
                const int row = live(i / HQ), place = row * HP + 4 * (i % HQ);
                at4(history + (step + 1) * row_size + place) = at4(s.vectors + row * RS + XP + 4 * (i % HQ));
                if (CONVOLUTION) continue;
                Winner4& winner = *reinterpret_cast<Winner4*>(s.winners + place);
                *reinterpret_cast<Winner4*>(winners + step * row_size + place) = winner;
                winner = {Winner(SELF), Winner(SELF), Winner(SELF), Winner(SELF)};
            }
        }
#if CONTROLLER == 2 && NODE_WISE
        confide(s, launch, recipe, record, step);
        if (!end_step(s, recipe, step)) break;
#elif CONTROLLER == 2
        pool_parts(s);
        __syncthreads();
#endif
    }
    __syncthreads();
    for (int i = threadIdx.x; i < pack.rows * HQ; i += T) {
        const int row = i / HQ, column = 4 * (i % HQ);
        if (!is_own(s, row)) continue;
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

// Gives the block's rows of `states` to the others of the cluster. There must be a barrier of the cluster behind.
__device__ __forceinline__ void share_rows(const Space& s) {
    for (int g = 0; g < s.pack->graphs && CLUSTER > 1; g++) {
        float* rows = s.states + s.pack->own_row[g] * HP;
        for (int i = 4 * threadIdx.x; i < s.pack->own_tiles[g] * 4 * HP; i += 4 * T) put_elsewhere(rows + i / HP * HP + i % HP, at4(rows + i / HP * HP + i % HP));
    }
}

#if TRAIN
// Brings global memory into the cache that all multiprocessors share.
__device__ __forceinline__ void prefetch(const void* from, int bytes) {
#ifndef EMULATED
    for (int i = 128 * threadIdx.x; i < bytes; i += 128 * T) asm volatile("prefetch.global.L2 [%0];" ::"l"((const char*)from + i));
#endif
}

// From the gradient of a block's output (in the pack's floats) to that of its initial states, in `states`. Ends with a barrier.
__device__ void block_backward(const Space& s, const Launch& launch, const Recipe& recipe, const Step& now, const float* parameters, int block, float* target) {
    Pack& pack = *s.pack;
    const Record record = record_of(s, launch, block);
    const long long row_size = (long long)launch.row_cap * HP;
    const float *history = states_of(s, launch, block), *first = first_of(s, launch, block), *output_gradient = s.common + launch.at_gradient;
    const Winner* winners = winners_of(s, launch, block);
    const int* iterations = counts_of(s, launch, block);
    if (threadIdx.x < pack.graphs) pack.finished_at[threadIdx.x] = iterations[launch.schedule_units + threadIdx.x];
    __syncthreads();
    if (ITERATIVE) {
        load_confidence(s, recipe, parameters);
        finish_weights(s, launch, recipe, record, iterations);
        if (picks_rows(launch, block))
            for (int i = threadIdx.x; i < pack.graphs * HP; i += T) s.picked[i] = i % HP < H ? output_gradient[s.chosen[i] * HP + i % HP] : 0.f;
        __syncthreads();
        confide_backward(s, launch, recipe, now, record, iterations, history, output_gradient, picks_rows(launch, block), target + layers_of(recipe) * LAYER_PARAMETERS);
    }
    for (int i = threadIdx.x; i < pack.rows * HQ; i += T) at4(s.states + i / HQ * HP + 4 * (i % HQ)) = ITERATIVE ? zero4() : at4(output_gradient + 4 * i);
    LayerGradient gradient;
    if (!STACK) load_layer(s, parameters, true);
    clear_gradient(s, gradient);
    int last = 0;
    for (int g = 0; g < pack.graphs; g++) last = max(last, pack.finished_at[g]);
    unsigned known = 0;
    cluster_arrive();
    NextLayer next;
    if (FETCHES_AHEAD && last > 0) fetch_layer(next, parameters + (last - 1) * LAYER_PARAMETERS, true);
#if LAYER == GCN
    float *vectors_before = s.first, *vectors_after = s.other;
#endif
    for (int step = last - 1; step >= 0; step--) {
        unsigned active = 0;
        for (int g = 0; g < pack.graphs; g++) active |= unsigned(pack.finished_at[g] > step) << g;
        if (active != known) {
            activate(s, active, true);
#if LAYER == GCN
            fetch_vectors(s, launch, history + step * row_size, vectors_before);
            fetch_vectors(s, launch, history + (step + 1) * row_size, vectors_after);
            wait_for_copies();
            __syncthreads();
#endif
        }
        known = active;
        if (STACK) {
            if (FETCHES_AHEAD) {
                place_layer(s, next, true);
                if (step > 0) fetch_layer(next, parameters + (step - 1) * LAYER_PARAMETERS, true);
            } else {
                load_layer(s, parameters + step * LAYER_PARAMETERS, true);
            }
            clear_gradient(s, gradient);
        }
        const float* products = first + (long long)step * launch.row_cap * PW;
        // What the step before left comes closer meanwhile.
        if (step > 0) {
            if (LAYER != GCN) prefetch(products - launch.row_cap * PW, pack.rows * PW * 4);
            if (!CONVOLUTION) prefetch(winners + (step - 1) * row_size, pack.rows * HP * (int)sizeof(Winner));
            // GCN itself is a step ahead.
            const int ahead = LAYER == GCN ? 2 : 1;
            if (step >= ahead) prefetch(history + (step - ahead) * row_size, pack.rows * HP * 4);
        }
        const bool single_rows = SINGLE_ROWS && picks_rows(launch, block);
        const Contribution contribution = single_rows ? contribution_of(s, launch, record, step, threadIdx.x) : Contribution{-1, 0.f, 0.f};
        const LiveRows live(s);
        for (int i = threadIdx.x; LAYER != GCN && i < pack.tiles * 4 * PQ; i += T) {
            const int row = live(i / PQ), column = 4 * (i % PQ);
            copy_16(s.first + row * RS + column, products + row * PW + column);
        }
        // Edges need the winners of all rows that they reach, of other blocks too. Four rows of them are a number of 16 bytes.
        constexpr int PIECES = 4 * HP * (int)sizeof(Winner) / 16;
        const Winner* won = winners + step * row_size;
        for (int i = threadIdx.x; !CONVOLUTION && i < (CLUSTER > 1 ? pack.rows / 4 : pack.tiles) * PIECES; i += T) {
            const int row = CLUSTER > 1 ? i / PIECES * 4 : live(i / PIECES * 4);
            const int place = row * HP + i % PIECES * 16 / (int)sizeof(Winner);
            copy_16(s.winners + place, won + place);
        }
        if (CLUSTER > 1) cluster_wait();
#pragma unroll 2
        for (int i = threadIdx.x; (CLUSTER > 1 || (ITERATIVE && !single_rows)) && i < pack.tiles * 4 * HQ; i += T) {
            const int row = live(i / HQ), column = 4 * (i % HQ), place = row * HP + column;
            if (ITERATIVE && !single_rows)
                add_contributions(s, launch, record, iterations, history + (step + 1) * row_size, output_gradient, picks_rows(launch, block), step, row, column,
                                  at4(s.states + place));
            put_elsewhere(s.states + place, at4(s.states + place));
        }
        if (CLUSTER > 1) sync_cluster();
        // Every block of a cluster adds them to its copy of all rows.
        if (single_rows) add_to_single_rows(s, launch, record, step, contribution);
        wait_for_copies();
#if LAYER == ATTENTION || LAYER == GAT
        load_shares(s, launch, shares_of(s, launch, block, step));
#endif
#if LAYER == GCN
        layer_backward(s, recipe, step > 0 ? history + (step - 1) * row_size : nullptr, vectors_before, vectors_after, gradient);
        float* const turned = vectors_before;
        vectors_before = vectors_after, vectors_after = turned;
#else
        layer_backward(s, launch, recipe, history + step * row_size, history + (step + 1) * row_size, gradient);
#endif
        if (STACK) write_layer(s, gradient, target + step * LAYER_PARAMETERS);
    }
    if (CLUSTER > 1) cluster_wait();
    if (!STACK) write_layer(s, gradient, target);
}
#endif
