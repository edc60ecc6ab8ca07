// Edges and pointers: the head reads MLP([h_s ; h_r ; e]) of every edge and, for pointers, behind them MLP'(h_v) of every node that may point at itself.
//
// Places of `scratch`: what the edges' maps read, gradients of the head (three), what the nodes' maps read, gradients of the edges' maps (two) and of the nodes' (two).

#if READOUT >= 7
// The edges of a graph that are asked about.
struct Asked {
    const unsigned *incoming, *outgoing, *senders, *departures;
    const float* features;
    int count;

    __device__ __forceinline__ Asked(const Launch& launch, int sample, int width) {
        const Edges& all = launch.samples.asked;
        const unsigned node = launch.samples.node_offsets[sample] + sample, edge = all.offsets[sample];
        incoming = all.incoming + node;
        outgoing = all.outgoing + node;
        senders = all.senders + edge;
        departures = all.departures + edge;
        features = all.features + (long long)edge * width;
        count = all.offsets[sample + 1] - edge;
    }
};

// What the head reads, from the node states in `states`.
__device__ const float* read_ends(const Space& s, const Launch& launch, const float* parameters, float* space, float* scratch) {
    const Pack& pack = *s.pack;
    const Perceptron& net = launch.ends[0];
    const int width = net.widths[0], features = width - 2 * H, edges = first_head_row(s, launch, pack.graphs);
    for (int g = 0; g < pack.graphs; g++) {
        const Asked asked(launch, pack.sample[g], features);
        const float* states = s.states + pack.row[g] * HP;
        float* rows = scratch + first_head_row(s, launch, g) * width;
        for (int i = threadIdx.x; i < pack.nodes[g] * H; i += T) {
            const int node = i / H, c = i % H;
            for (unsigned edge = asked.incoming[node]; edge < asked.incoming[node + 1]; edge++) {
                rows[edge * width + c] = states[asked.senders[edge] * HP + c];
                rows[edge * width + H + c] = states[node * HP + c];
            }
        }
        for (int i = threadIdx.x; i < asked.count * features; i += T) rows[i / features * width + 2 * H + i % features] = asked.features[i];
    }
    float* own = scratch + 4 * launch.scratch_size;
    for (int i = threadIdx.x; POINTER && i < pack.rows * H; i += T) own[edges * H + i] = s.states[i / H * HP + i % H];
    __syncthreads();
    perceptron_forward(net, parameters, scratch, space, edges, [](int i) { return i; });
    if (POINTER) perceptron_forward(launch.ends[1], parameters, own, space, pack.rows, [=](int i) { return edges + i; });
    return space + net.outputs[net.layers - 1];
}

#if TRAIN
// From the gradient of what the head reads (overwritten) to those of the maps' parameters and of the node states, in the pack's floats.
__device__ void read_ends_backward(const Space& s, const Launch& launch, const float* parameters, float* space, float* scratch, float* gradient, float* target, float* states) {
    const Pack& pack = *s.pack;
    const int size = launch.scratch_size, edges = first_head_row(s, launch, pack.graphs), width = launch.ends[0].widths[0];
    // Activations and messages of a tile lie together.
    const int room = launch.edge_tile * (ACTIVATION_STRIDE + MESSAGE_STRIDE);
    const float *ends = perceptron_backward(launch.ends[0], parameters, scratch, space, space + launch.ends[0].outputs[0], gradient, edges, [](int i) { return i; }, target, scratch + 5 * size,
                                            size, true, s.activations, room),
                *own = nullptr;
    if (POINTER)
        own = perceptron_backward(launch.ends[1], parameters, scratch + 4 * size, space, space + launch.ends[1].outputs[0], gradient, pack.rows, [=](int i) { return edges + i; }, target,
                                  scratch + 7 * size, size, true, s.activations, room);
    for (int i = threadIdx.x; i < pack.rows * HP; i += T) {
        const int row = i / HP, c = i % HP, g = s.graph_of[row], node = row - pack.row[g];
        float value = 0.f;
        if (c < H && is_node(s, row)) {
            const Asked asked(launch, pack.sample[g], width - 2 * H);
            const float* rows = ends + first_head_row(s, launch, g) * width + c;
            for (unsigned edge = asked.incoming[node]; edge < asked.incoming[node + 1]; edge++) value += rows[edge * width + H];
            for (unsigned n = asked.outgoing[node]; n < asked.outgoing[node + 1]; n++) value += rows[asked.departures[n] * width];
            if (POINTER) value += own[(edges + row) * H + c];
        }
        states[i] = value;
    }
    __syncthreads();
}
#endif
#endif
