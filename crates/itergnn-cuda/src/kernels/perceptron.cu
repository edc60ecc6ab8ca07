// Embedding and head: perceptrons on the rows of a pack, a small part of a step, in global memory.

// The outputs of all maps, one after the other; returns those of the last.
__device__ const float* perceptron_forward(const Perceptron& net, const float* parameters, const float* input, float* space, int rows) {
    for (int layer = 0; layer < net.layers; layer++) {
        const int inputs = net.widths[layer], outputs = net.widths[layer + 1];
        const float *weight = parameters + net.parameters[layer], *bias = weight + inputs * outputs;
        const bool active = layer + 1 < net.layers || net.final_activation;
        float* output = space + net.outputs[layer];
        for (int i = threadIdx.x; i < rows * outputs; i += T) {
            const int row = i / outputs, column = i % outputs;
            float sum = net.biased ? bias[column] : 0.f;
            for (int k = 0; k < inputs; k++) sum += input[row * inputs + k] * weight[k * outputs + column];
            output[i] = active ? leaky(sum) : sum;
        }
        __syncthreads();
        input = output;
    }
    return input;
}

// From the gradient of the output (overwritten) to those of the parameters and, in the returned place, of the input if `wanted`. `scratch` has room for two gradients,
// `stage`, in shared memory, for `room` weights.
__device__ const float* perceptron_backward(const Perceptron& net, const float* parameters, const float* input, const float* space, float* gradient, int rows,
                                            float* target, float* scratch, int scratch_size, bool wanted, float* stage, int room) {
    float* spare = scratch;
    for (int layer = net.layers - 1; layer >= 0; layer--) {
        const int inputs = net.widths[layer], outputs = net.widths[layer + 1];
        const float* weight = parameters + net.parameters[layer];
        const float *before = layer == 0 ? input : space + net.outputs[layer - 1], *after = space + net.outputs[layer];
        float *weight_target = target + net.parameters[layer], *bias_target = weight_target + inputs * outputs;
        if (layer + 1 < net.layers || net.final_activation) {
            for (int i = threadIdx.x; i < rows * outputs; i += T) gradient[i] *= slope(after[i]);
            __syncthreads();
        }
        for (int i = threadIdx.x; i < inputs * outputs; i += T) {
            float sum = 0.f;
            for (int row = 0; row < rows; row++) sum += before[row * inputs + i / outputs] * gradient[row * outputs + i % outputs];
            weight_target[i] = sum;
        }
        if (net.biased)
            for (int column = threadIdx.x; column < outputs; column += T) {
                float sum = 0.f;
                for (int row = 0; row < rows; row++) sum += gradient[row * outputs + column];
                bias_target[column] = sum;
            }
        if (layer > 0 || wanted) {
            // Neighbours read weights of different rows: transposed they lie together.
            const bool staged = inputs * outputs <= room;
            for (int i = threadIdx.x; staged && i < inputs * outputs; i += T) stage[i % outputs * inputs + i / outputs] = weight[i];
            __syncthreads();
            for (int i = threadIdx.x; i < rows * inputs; i += T) {
                float sum = 0.f;
                const float* row = gradient + i / inputs * outputs;
                if (staged)
                    for (int column = 0; column < outputs; column++) sum += row[column] * stage[column * inputs + i % inputs];
                else
                    for (int column = 0; column < outputs; column++) sum += row[column] * weight[i % inputs * outputs + column];
                spare[i] = sum;
            }
            gradient = spare;
            spare = spare == scratch ? scratch + scratch_size : scratch;
        }
        __syncthreads();
    }
    return gradient;
}
