// From node states to the head's input, and from its output to the loss; and back.

// The head's row of a graph; behind the last graph: of all graphs, at edge level of all edges.
__device__ __forceinline__ int first_head_row(const Space& s, const Launch& launch, int graph) {
    if (!EDGE_LEVEL) return !NODE_LEVEL ? graph : graph < s.pack->graphs ? s.pack->row[graph] : s.pack->rows;
    int count = 0;
    for (int g = 0; g < graph; g++) count += launch.samples.asked.offsets[s.pack->sample[g] + 1] - launch.samples.asked.offsets[s.pack->sample[g]];
    return count;
}

// The rows of the pack that the head has: graphs, nodes, edges, or edges and then nodes.
__device__ __forceinline__ int head_rows(const Space& s, const Launch& launch) {
    return first_head_row(s, launch, s.pack->graphs) + (POINTER ? s.pack->rows : 0);
}

// Node states, in `states`, to the rows that the head reads: one per graph, or one per node.
__device__ void read_out(const Space& s, float* input) {
    const Pack& pack = *s.pack;
    if (NODE_LEVEL) {
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
            s.chosen[g * HP + c] = chosen;
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
            if (NODE_LEVEL) value = gradient[row * H + c];
            else if (READOUT == 2) value = gradient[g * H + c] / pack.nodes[g];
            else if (READOUT == 3) value = gradient[g * H + c];
            else if (s.chosen[g * HP + c] == row) value = gradient[g * H + c];
        }
        states[i] = value;
    }
    __syncthreads();
}

// The cross-entropy of one choice among `count` scores, of which score i is at `place(i)`, and its gradient.
template <class Place>
__device__ __forceinline__ float cross_entropy(const float* scores, int count, int chosen, float share, float* gradient, Place place) {
    float top = scores[place(0)], sum = 0.f;
    for (int i = 1; i < count; i++) top = fmaxf(top, scores[place(i)]);
    for (int i = 0; i < count; i++) sum += expf(scores[place(i)] - top);
    for (int i = 0; i < count; i++) gradient[place(i)] = (expf(scores[place(i)] - top) / sum - (i == chosen ? 1.f : 0.f)) * share;
    return -(scores[place(chosen)] - top - logf(sum)) * share;
}

// The loss of the pack's predictions, which the first thread is given, and its gradient.
__device__ float loss_and_gradient(const Space& s, const Launch& launch, const Recipe& recipe, const Step& now, const float* predictions, float* gradient) {
    const Pack& pack = *s.pack;
    const bool classes = POINTER || recipe.loss == 2;
    const int width = launch.outputs, numbers = classes ? 1 : width;
    for (int i = threadIdx.x; i < head_rows(s, launch) * width; i += T) gradient[i] = 0.f;
    __syncthreads();
    float loss = 0.f;
    for (int g = 0; g < pack.graphs; g++) {
        const int sample = pack.sample[g], first = first_head_row(s, launch, g);
        const unsigned from = launch.samples.target_offsets[sample], count = (launch.samples.target_offsets[sample + 1] - from) / numbers;
        const float* targets = launch.samples.targets + from;
        // Every graph begins with another warp.
        for (unsigned i = (threadIdx.x + T - 32 * g % T) % T; i < count; i += T) {
#if READOUT == 8
            const unsigned* incoming = launch.samples.asked.incoming + launch.samples.node_offsets[sample] + sample + i;
            const int edge = first + incoming[0], edges = incoming[1] - incoming[0], own = first_head_row(s, launch, pack.graphs) + pack.row[g] + i;
            loss += cross_entropy(predictions, edges + 1, (int)targets[i], now.inverse_targets, gradient, [=](int c) { return c < edges ? edge + c : own; });
#else
            const int row = first + (NODE_LEVEL ? launch.samples.target_rows[from / numbers + i] : i);
            if (classes) {
                loss += cross_entropy(predictions, width, (int)targets[i], now.inverse_targets, gradient, [=](int c) { return row * width + c; });
                continue;
            }
            for (int c = 0; c < width; c++) {
                const int place = row * width + c;
                const float target = targets[i * width + c], unit = recipe.loss == 1 ? 1.f / target : 1.f, difference = (predictions[place] - target) * unit;
                loss += difference * difference * now.inverse_targets;
                gradient[place] = 2.f * difference * unit * now.inverse_targets;
            }
#endif
        }
    }
    loss = warp_sum(loss);
    if (threadIdx.x % 32 == 0) s.activations[threadIdx.x / 32] = loss;
    __syncthreads();
    for (int warp = 1; warp < T / 32 && threadIdx.x == 0; warp++) loss += s.activations[warp];
    __syncthreads();
    return loss;
}
#endif
