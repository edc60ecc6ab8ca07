// From node states to the head's input, and from its output to the loss; and back.

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
            if (ROW_LEVEL) value = gradient[row * H + c];
            else if (READOUT == 2) value = gradient[g * H + c] / pack.nodes[g];
            else if (READOUT == 3) value = gradient[g * H + c];
            else if (s.chosen[g * HP + c] == row) value = gradient[g * H + c];
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
#endif
