// The kernel: the whole step of a pack of graphs for one model, by one thread block or a cluster of them.

#if CLUSTER > 1
#define IN_CLUSTERS __cluster_dims__(CLUSTER, 1, 1)
#else
#define IN_CLUSTERS
#endif

extern "C" __global__ void IN_CLUSTERS __launch_bounds__(T, BLOCKS_PER_SM) graph_step(const __grid_constant__ Launch launch) {
#ifdef EMULATED
    char* shared = emulated_shared();
#else
    extern __shared__ __align__(16) char shared[];
#endif
    const int model = blockIdx.y, block = model * gridDim.x + blockIdx.x;
    Space s;
    lay_out(s, shared, launch, block);
    if (!load_pack(s, launch, model, blockIdx.x / CLUSTER)) return;
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
            for (int i = threadIdx.x; i < pack.rows * HQ; i += T)
                if (is_own(s, i / HQ)) at4(s.vectors + i / HQ * RS + XP + 4 * (i % HQ)) = at4(s.states + i / HQ * HP + 4 * (i % HQ));
        __syncthreads();
        block_forward(s, launch, recipe, block_parameters(launch, parameters, b), b);
    }
    const int answers = head_rows(s, launch);
    float *space = s.floats + launch.at_perceptron, *scratch = s.floats + launch.at_scratch;
    if (CLUSTER > 1) {
        share_rows(s);
        sync_cluster();
    }
    // The head's input lies in front of the room for gradients.
#if READOUT >= 7
    const float* read = read_ends(s, launch, parameters, space, scratch);
#else
    const float* read = scratch;
    read_out(s, scratch);
#endif
    const float* predictions = perceptron_forward(launch.head, parameters, read, space, answers, [](int i) { return i; });
#if TRAIN
    const Step& now = launch.steps[model];
    float *target = launch.gradients + (long long)block * launch.parameter_count, *output_gradient = s.common + launch.at_gradient;
    float* gradient = scratch + launch.scratch_size;
    const float loss = loss_and_gradient(s, launch, recipe, now, predictions, gradient);
    if (threadIdx.x == 0) {
        float unspent = 0.f, iterations = 0.f, capped = 0.f;
        for (int g = 0; g < pack.graphs; g++) unspent += pack.unspent[g], iterations += pack.iterations[g], capped += pack.capped[g];
        const float counts = cluster_rank() == 0 ? 1.f : 0.f;
        float* report = launch.reports + 4ll * block;
        report[0] = counts * loss;
        report[1] = counts * unspent * recipe.price * now.inverse_units;
        report[2] = counts * iterations;
        report[3] = counts * capped;
    }
    float* back = perceptron_backward(launch.head, parameters, read, space, space + launch.head.outputs[0], gradient, answers, [](int i) { return i; }, target,
                                      scratch + 2 * launch.scratch_size, launch.scratch_size, true, s.activations, launch.edge_tile * ACTIVATION_STRIDE);
#if READOUT >= 7
    read_ends_backward(s, launch, parameters, space, scratch, back, target, output_gradient);
#else
    read_out_backward(s, back, output_gradient);
#endif
    for (int b = launch.blocks - 1; b >= 0; b--) {
        block_backward(s, launch, recipe, now, block_parameters(launch, parameters, b), b, target + launch.block_offset + (long long)b * launch.block_parameters);
        if (b > 0)
            for (int i = threadIdx.x; i < pack.rows * HQ; i += T)
                if (is_own(s, i / HQ)) at4(output_gradient + 4 * i) = at4(s.states + i / HQ * HP + 4 * (i % HQ));
        sync_cluster();
    }
    // All graphs were active in the first step, so that the live rows are all that the block has.
    const int rows = 4 * pack.tiles;
    const LiveRows live(s);
    // Rows of products and vectors are free, and wide enough for the gradients of two maps.
    const bool close = launch.embedding.layers <= 2;
    float *embedded = close ? s.first : gradient, *before = close ? s.vectors : scratch + 2 * launch.scratch_size;
    const float* hidden = space + launch.embedding.outputs[0];
    const int hidden_size = pack.rows * launch.embedding.widths[1];
    const bool hidden_close = hidden_size <= launch.edge_tile * MESSAGE_STRIDE;
    for (int i = threadIdx.x; hidden_close && i < hidden_size; i += T) s.messages[i] = hidden[i];
    for (int i = threadIdx.x; i < rows * H; i += T) embedded[live(i / H) * H + i % H] = s.states[live(i / H) * HP + i % H];
    __syncthreads();
    perceptron_backward(launch.embedding, parameters, s.floats + launch.at_inputs, space, hidden_close ? s.messages : hidden, embedded, rows, live, target,
                        before, launch.scratch_size, false, s.activations, launch.edge_tile * ACTIVATION_STRIDE);
    // Head and confidences are the same in all blocks of a cluster: the first one's gradients count.
    for (int i = launch.block_offset + threadIdx.x; i < launch.parameter_count && cluster_rank() > 0; i += T) {
        const int place = i - launch.block_offset, block = place / launch.block_parameters;
        if (block >= launch.blocks || place % launch.block_parameters >= layers_of(recipe) * LAYER_PARAMETERS) target[i] = 0.f;
    }
#else
    const int width = launch.outputs;
    for (int g = 0; g < pack.graphs && cluster_rank() == 0; g++) {
        const int sample = pack.sample[g], first = first_head_row(s, launch, g);
        const Samples& data = launch.samples;
        const long long nodes = data.node_offsets[sample], edges = EDGE_LEVEL ? data.asked.offsets[sample] : 0;
        float* to = launch.predictions + model * launch.prediction_stride + (POINTER ? nodes + edges : EDGE_LEVEL ? edges : NODE_LEVEL ? nodes : sample) * width;
#if READOUT == 8
        // The choices of a node lie together: the edges that reach it, then itself.
        const unsigned* incoming = data.asked.incoming + nodes + sample;
        for (int node = threadIdx.x; node < pack.nodes[g]; node += T) {
            for (unsigned edge = incoming[node]; edge < incoming[node + 1]; edge++) to[edge + node] = predictions[first + edge];
            to[incoming[node + 1] + node] = predictions[first_head_row(s, launch, pack.graphs) + pack.row[g] + node];
        }
#else
        const int rows = NODE_LEVEL ? pack.nodes[g] : EDGE_LEVEL ? data.asked.offsets[sample + 1] - edges : 1;
        for (int i = threadIdx.x; i < rows * width; i += T) to[i] = predictions[first * width + i];
#endif
        if (threadIdx.x == 0) {
            launch.iterations[(long long)model * launch.samples_count + sample] = pack.iterations[g];
            launch.capped[(long long)model * launch.samples_count + sample] = pack.capped[g];
        }
    }
#endif
}
