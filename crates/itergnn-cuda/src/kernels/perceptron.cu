// Embedding and head: perceptrons on the rows of a pack, a small part of a step, in global memory.

// Rows that a thread works on together, and inputs of a weight's gradient: what it reads of the other side it uses as often.
constexpr int TOGETHER = 4, INPUTS_TOGETHER = 5;

// The outputs of all maps, one after the other; returns those of the last. `row(i)` is the number of row i.
template <class Row>
__device__ const float* perceptron_forward(const Perceptron& net, const float* parameters, const float* input, float* space, int rows, Row row) {
    for (int layer = 0; layer < net.layers; layer++) {
        const int inputs = net.widths[layer], outputs = net.widths[layer + 1];
        const float *weight = parameters + net.parameters[layer], *bias = weight + inputs * outputs;
        const bool active = layer + 1 < net.layers || net.final_activation;
        float* output = space + net.outputs[layer];
        // A warp for each of a few numbers.
        const bool few = rows * outputs <= 2 * WARPS;
        for (int i = threadIdx.x / 32; few && i < rows * outputs; i += WARPS) {
            const int at = row(i / outputs), column = i % outputs;
            float sum = 0.f;
            for (int k = threadIdx.x % 32; k < inputs; k += 32) sum += input[at * inputs + k] * weight[k * outputs + column];
            sum = warp_sum(sum) + (net.biased ? bias[column] : 0.f);
            if (threadIdx.x % 32 == 0) output[at * outputs + column] = active ? leaky(sum) : sum;
        }
        for (int i = threadIdx.x; !few && i < (rows + TOGETHER - 1) / TOGETHER * outputs; i += T) {
            const int first = i / outputs * TOGETHER, column = i % outputs;
            int at[TOGETHER];
            float sums[TOGETHER];
#pragma unroll
            for (int r = 0; r < TOGETHER; r++) at[r] = row(min(first + r, rows - 1)), sums[r] = net.biased ? bias[column] : 0.f;
#pragma unroll 8
            for (int k = 0; k < inputs; k++) {
                const float factor = weight[k * outputs + column];
#pragma unroll
                for (int r = 0; r < TOGETHER; r++) sums[r] += input[at[r] * inputs + k] * factor;
            }
#pragma unroll
            for (int r = 0; r < TOGETHER; r++)
                if (first + r < rows) output[at[r] * outputs + column] = active ? leaky(sums[r]) : sums[r];
        }
        __syncthreads();
        input = output;
    }
    return input;
}

// From the gradient of the output (overwritten) to those of the parameters and, in the returned place, of the input if `wanted`. `hidden` are the outputs of the first map, `scratch` has
// room for two gradients, `stage`, in shared memory, for `room` weights.
template <class Row>
__device__ float* perceptron_backward(const Perceptron& net, const float* parameters, const float* input, const float* space, const float* hidden, float* gradient,
                                      int rows, Row row, float* target, float* scratch, int scratch_size, bool wanted, float* stage, int room) {
    float* spare = scratch;
    for (int layer = net.layers - 1; layer >= 0; layer--) {
        const int inputs = net.widths[layer], outputs = net.widths[layer + 1];
        const float* weight = parameters + net.parameters[layer];
        const float *before = layer == 0 ? input : layer == 1 ? hidden : space + net.outputs[layer - 1], *after = layer == 0 ? hidden : space + net.outputs[layer];
        float *weight_target = target + net.parameters[layer], *bias_target = weight_target + inputs * outputs;
        if (layer + 1 < net.layers || net.final_activation) {
            for (int i = threadIdx.x; i < rows * outputs; i += T) {
                const int place = row(i / outputs) * outputs + i % outputs;
                gradient[place] *= slope(after[place]);
            }
            __syncthreads();
        }
        // Lanes that share the rows of a sum, where there are few sums.
        const int items = (inputs + INPUTS_TOGETHER - 1) / INPUTS_TOGETHER * outputs, lanes = 16 * items <= T ? 16 : 4 * items <= T ? 4 : 1;
        for (int i = threadIdx.x / lanes; i < (lanes == 1 ? items : T / lanes); i += T / lanes) {
            const int first = i / outputs * INPUTS_TOGETHER, column = i % outputs;
            float sums[INPUTS_TOGETHER];
#pragma unroll
            for (int k = 0; k < INPUTS_TOGETHER; k++) sums[k] = 0.f;
#pragma unroll 4
            for (int r = threadIdx.x % lanes; r < rows && i < items; r += lanes) {
                const int at = row(r);
                const float factor = gradient[at * outputs + column];
#pragma unroll
                for (int k = 0; k < INPUTS_TOGETHER; k++) sums[k] += before[at * inputs + min(first + k, inputs - 1)] * factor;
            }
            for (int offset = lanes / 2; offset; offset >>= 1) {
#pragma unroll
                for (int k = 0; k < INPUTS_TOGETHER; k++) sums[k] += __shfl_xor_sync(~0u, sums[k], offset);
            }
#pragma unroll
            for (int k = 0; k < INPUTS_TOGETHER; k++)
                if (i < items && threadIdx.x % lanes == 0 && first + k < inputs) weight_target[(first + k) * outputs + column] = sums[k];
        }
        if (net.biased)
            for (int column = threadIdx.x; column < outputs; column += T) {
                float sum = 0.f;
#pragma unroll 4
                for (int r = 0; r < rows; r++) sum += gradient[row(r) * outputs + column];
                bias_target[column] = sum;
            }
        if (layer > 0 || wanted) {
            // Neighbours read weights of different rows: transposed they lie together.
            const bool staged = inputs * outputs <= room;
            for (int i = threadIdx.x; staged && i < inputs * outputs; i += T) stage[i % outputs * inputs + i / outputs] = weight[i];
            __syncthreads();
            for (int i = threadIdx.x; i < (rows + TOGETHER - 1) / TOGETHER * inputs; i += T) {
                const int first = i / inputs * TOGETHER, k = i % inputs;
                int at[TOGETHER];
                float sums[TOGETHER];
#pragma unroll
                for (int r = 0; r < TOGETHER; r++) at[r] = row(min(first + r, rows - 1)), sums[r] = 0.f;
#pragma unroll 4
                for (int column = 0; column < outputs; column++) {
                    const float factor = staged ? stage[column * inputs + k] : weight[k * outputs + column];
#pragma unroll
                    for (int r = 0; r < TOGETHER; r++) sums[r] += gradient[at[r] * outputs + column] * factor;
                }
#pragma unroll
                for (int r = 0; r < TOGETHER; r++)
                    if (first + r < rows) spare[at[r] * inputs + k] = sums[r];
            }
            gradient = spare;
            spare = spare == scratch ? scratch + scratch_size : scratch;
        }
        __syncthreads();
    }
    return gradient;
}
