// Inference on one graph of any size with maximum aggregation: all thread blocks share its nodes and edges, through global memory. Every launch does one thing; after the last
// step of a graph the launches that were already ordered return at once.

constexpr int TILE = 64;
constexpr int NODE_THREADS = 288, EDGE_THREADS = 256;
constexpr int EDGE_LANES = EDGE_THREADS / HQ;
static_assert(EDGE_THREADS >= HQ, "threads");

// How far the graph is.
struct Progress {
    float remaining, before, spent, weight;
    int steps, running, capped;
};

struct LargeLaunch {
    // Of the layer of this step, and of the confidence.
    const float *layer, *confidence;
    const float *nodes, *features;
    const unsigned *incoming, *senders, *receivers;
    // Receivers of each chunk of edges: [chunks + 1].
    const unsigned* chunks;
    // [nodes, HP]: states and output; [nodes, PW]: products of the first map; [blocks, HP]: parts of the pooled vector.
    float *states, *output, *first, *parts;
    Progress* progress;
    Recipe recipe;
    int node_count, node_width, chunk_count, part_count, iterative;
};

// Positions of a layer's parameters; see `layer.cu`.
constexpr int LARGE_EDGE = (INPUT + H) * (1 + USES_RECEIVER) * J;
constexpr int LARGE_BIAS_1 = LARGE_EDGE + DE * J, LARGE_WEIGHT_2 = LARGE_BIAS_1 + BIASED * J, LARGE_BIAS_2 = LARGE_WEIGHT_2 + J * H;

__device__ __forceinline__ int large_first_place(int row, int column) {
    const int half = column / JP, j = column % JP;
    if (j >= J) return -1;
    if (row < INPUT) return (half * (INPUT + H) + row) * J + j;
    if (BIASED && row == INPUT) return half == 0 ? LARGE_BIAS_1 + j : -1;
    if (row < XP || row - XP >= H) return -1;
    return (half * (INPUT + H) + INPUT + row - XP) * J + j;
}

// One map of a perceptron on all rows; a thread for every number of the output, whose rows are `stride` apart and end with zeros.
extern "C" __global__ void large_map(const float* input, int input_stride, const float* weight, float* output, int rows, int inputs, int outputs, int stride, int biased, int active) {
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < (long long)rows * stride; i += (long long)gridDim.x * blockDim.x) {
        const long long row = i / stride;
        const int column = i % stride;
        float sum = 0.f;
        if (column < outputs) {
            sum = biased ? weight[inputs * outputs + column] : 0.f;
            for (int k = 0; k < inputs; k++) sum += input[row * input_stride + k] * weight[k * outputs + column];
            if (active) sum = leaky(sum);
        }
        output[i] = sum;
    }
}

// Output <- decay output + weight h, with the weight of the step before.
__device__ __forceinline__ float4 grown(const float4& output, const float4& state, float decay, float weight) {
    float4 sum = make_float4(decay * output.x, decay * output.y, decay * output.z, decay * output.w);
    axpy(sum, weight, state);
    return sum;
}

// The products of the node vectors with the first map; the output takes in what the step before left to it.
extern "C" __global__ void __launch_bounds__(NODE_THREADS) large_products(const __grid_constant__ LargeLaunch launch) {
    extern __shared__ __align__(16) float memory[];
    float *weight = memory, *vectors = memory + KV * PW;
    const Progress now = *launch.progress;
    if (!now.running) return;
    for (int i = threadIdx.x; i < KV * PW; i += NODE_THREADS) {
        const int place = large_first_place(i / PW, i % PW);
        weight[i] = place < 0 ? 0.f : launch.layer[place];
    }
    const bool grows = launch.iterative && now.steps > 0;
    for (long long start = (long long)blockIdx.x * TILE; start < launch.node_count; start += (long long)gridDim.x * TILE) {
        const int count = (int)min((long long)TILE, launch.node_count - start);
        __syncthreads();
        for (int i = threadIdx.x; i < TILE * KQ; i += NODE_THREADS) {
            const int row = i / KQ, k = 4 * (i % KQ);
            const long long node = start + row;
            float4 value = zero4();
            if (row < count && k >= XP) {
                value = at4(launch.states + node * HP + k - XP);
                if (grows) {
                    float4& output = at4(launch.output + node * HP + k - XP);
                    output = grown(output, value, launch.recipe.decay, now.weight);
                }
            } else if (row < count) {
                float part[4];
#pragma unroll
                for (int d = 0; d < 4; d++) part[d] = k + d < INPUT ? launch.nodes[node * launch.node_width + k + d] : BIASED && k + d == INPUT ? 1.f : 0.f;
                value = make_float4(part[0], part[1], part[2], part[3]);
            }
            at4(vectors + row * KV + k) = value;
        }
        __syncthreads();
        for (int t = threadIdx.x; t < TILE / 4 * PQ; t += NODE_THREADS) {
            const Tile tile = tile_at<PQ>(t, TILE / 4);
            const int column = 4 * tile.column;
            int rows[4];
            rows_of(tile, [](int r) { return 4 * r; }, rows);
            float4 sum[4] = {zero4(), zero4(), zero4(), zero4()};
            multiply<KV>(sum, vectors, KV, rows, weight + column, PW);
#pragma unroll
            for (int i = 0; i < 4; i++)
                if (rows[i] < count) at4(launch.first + (start + rows[i]) * PW + column) = sum[i];
        }
    }
}

__device__ __forceinline__ float4 larger(const float4& a, const float4& b) {
    return make_float4(b.x > a.x ? b.x : a.x, b.y > a.y ? b.y : a.y, b.z > a.z ? b.z : a.z, b.w > a.w ? b.w : a.w);
}

// The start of a pooled vector, and one more row of it.
__device__ __forceinline__ float4 nothing_pooled(int kind) {
    const float start = kind == 0 ? __int_as_float(0xff800000) : kind == 1 ? __int_as_float(0x7f800000) : 0.f;
    return make_float4(start, start, start, start);
}

__device__ __forceinline__ void pool(float4& pooled, const float4& row, int kind) {
    if (kind == 0) pooled = larger(pooled, row);
    else if (kind == 1) pooled = make_float4(fminf(pooled.x, row.x), fminf(pooled.y, row.y), fminf(pooled.z, row.z), fminf(pooled.w, row.w));
    else add(pooled, row);
}

// The lanes of a column become one row of `parts`, through shared memory.
__device__ void write_part(float4 pooled, int kind, float* memory, float* part) {
    const int lane = threadIdx.x / HQ, column = 4 * (threadIdx.x % HQ);
    __syncthreads();
    if (lane < EDGE_LANES) at4(memory + lane * HP + column) = pooled;
    __syncthreads();
    if (lane == 0) {
        for (int other = 1; other < EDGE_LANES; other++) pool(pooled, at4(memory + other * HP + column), kind);
        at4(part + column) = pooled;
    }
}

// Kinds of pooling: 0 maximum, 1 minimum, 2 sum. Those of a confidence are numbered 0 maximum, 1 mean, 2 sum.
constexpr int CONFIDENCE_POOLS = CONFIDENCE_READOUT == 0 ? 0 : 2;

// The messages of all edges, the next states, and a part of the vector that the confidence reads.
extern "C" __global__ void __launch_bounds__(EDGE_THREADS, 3) large_messages(const __grid_constant__ LargeLaunch launch) {
    extern __shared__ __align__(16) float memory[];
    float *weight = memory, *edge_weight = weight + JP * HP, *bias = edge_weight + DE * JP, *activations = bias + HP, *messages = activations + TILE * JP;
    __shared__ unsigned offsets[TILE + 1];
    if (!launch.progress->running) return;
    for (int i = threadIdx.x; i < JP * HP; i += EDGE_THREADS) weight[i] = i / HP < J && i % HP < H ? launch.layer[LARGE_WEIGHT_2 + i / HP * H + i % HP] : 0.f;
    for (int i = threadIdx.x; i < DE * JP; i += EDGE_THREADS) edge_weight[i] = i % JP < J ? launch.layer[LARGE_EDGE + i / JP * J + i % JP] : 0.f;
    for (int i = threadIdx.x; i < HP; i += EDGE_THREADS) bias[i] = BIASED && i < H ? launch.layer[LARGE_BIAS_2 + i] : 0.f;
    const int lane = threadIdx.x / HQ, own_column = 4 * (threadIdx.x % HQ);
    float4 pooled = nothing_pooled(CONFIDENCE_POOLS);
    for (int chunk = blockIdx.x; chunk < launch.chunk_count; chunk += gridDim.x) {
        const unsigned first_row = launch.chunks[chunk];
        const int rows = launch.chunks[chunk + 1] - first_row;
        __syncthreads();
        for (int i = threadIdx.x; i <= rows; i += EDGE_THREADS) offsets[i] = launch.incoming[first_row + i];
        __syncthreads();
        const unsigned end = offsets[rows];
        for (unsigned start = offsets[0]; start < end; start += TILE) {
            const int count = min((unsigned)TILE, end - start), padded = pad4(count);
            for (int i = threadIdx.x; i < padded * JQ; i += EDGE_THREADS) {
                const int p = i / JQ, q = i % JQ;
                float4 value = zero4();
                if (p < count) {
                    const long long edge = start + p;
                    value = at4(launch.first + launch.senders[edge] * (long long)PW + 4 * q);
                    if (USES_RECEIVER) add(value, at4(launch.first + launch.receivers[edge] * (long long)PW + JP + 4 * q));
#pragma unroll
                    for (int d = 0; d < DE; d++) axpy(value, launch.features[edge * DE + d], at4(edge_weight + d * JP + 4 * q));
                }
                at4(activations + p * JP + 4 * q) = leaky(value);
            }
            __syncthreads();
            for (int t = threadIdx.x; t < padded / 4 * HQ; t += EDGE_THREADS) {
                const Tile tile = tile_at<HQ>(t, padded / 4);
                const int column = 4 * tile.column;
                int places[4];
                rows_of(tile, [](int r) { return 4 * r; }, places);
                float4 sum[4];
#pragma unroll
                for (int i = 0; i < 4; i++) sum[i] = at4(bias + column);
                multiply<JP>(sum, activations, JP, places, weight + column, HP);
#pragma unroll
                for (int i = 0; i < 4; i++) at4(messages + places[i] * HP + column) = leaky(sum[i]);
            }
            __syncthreads();
            for (int row = lane; row < rows && lane < EDGE_LANES; row += EDGE_LANES) {
                const unsigned from = max(offsets[row], start), to = min(offsets[row + 1], start + count);
                if (from >= to) continue;
                float4& state = at4(launch.states + (first_row + row) * (long long)HP + own_column);
                float4 best = state;
                for (unsigned p = from; p < to; p++) best = larger(best, at4(messages + (p - start) * HP + own_column));
                state = best;
            }
        }
        // A thread has the same rows and channels here as in the passes before.
        if (launch.iterative)
            for (int row = lane; row < rows && lane < EDGE_LANES; row += EDGE_LANES)
                pool(pooled, at4(launch.states + (first_row + row) * (long long)HP + own_column), CONFIDENCE_POOLS);
    }
    if (launch.iterative) write_part(pooled, CONFIDENCE_POOLS, activations, launch.parts + blockIdx.x * (long long)HP);
}

// The parts become one vector, in `memory`, in a fixed order; the whole block. Ends with a barrier.
__device__ void gather_parts(const LargeLaunch& launch, int kind, float* memory) {
    const int lane = threadIdx.x / HQ, column = 4 * (threadIdx.x % HQ);
    float4 pooled = nothing_pooled(kind);
    for (int part = lane; part < launch.part_count && lane < EDGE_LANES; part += EDGE_LANES) pool(pooled, at4(launch.parts + part * (long long)HP + column), kind);
    write_part(pooled, kind, memory, memory);
    __syncthreads();
}

// The confidence of a step, one thread block.
extern "C" __global__ void __launch_bounds__(EDGE_THREADS) large_confide(const __grid_constant__ LargeLaunch launch) {
    __shared__ __align__(16) float memory[EDGE_LANES * HP];
    Progress& now = *launch.progress;
    if (!now.running) return;
    const Recipe& recipe = launch.recipe;
    if (launch.iterative) gather_parts(launch, CONFIDENCE_POOLS, memory);
    if (threadIdx.x >= 32) return;
    float product = 0.f, norm = 0.f;
    if (launch.iterative) {
        for (int c = threadIdx.x; c < H; c += 32) {
            const float value = CONFIDENCE_READOUT == 1 ? memory[c] / launch.node_count : memory[c];
            product += value * launch.confidence[c];
            norm += fabsf(value);
        }
        product = warp_sum(product);
        norm = warp_sum(norm);
        if (SCALE_FREE && norm > 0.f) product /= norm;
        if (CONFIDENCE_BIAS) product += launch.confidence[H];
    }
    if (threadIdx.x != 0) return;
    now.steps += 1;
    const bool at_cap = now.steps >= recipe.cap;
    if (launch.iterative) {
        const float confidence = 1.f / (1.f + expf(-product)), before = now.remaining;
        now.before = before;
        now.remaining = recipe.decay * (1.f - confidence) * before;
        now.weight = recipe.settle && at_cap ? before : before * confidence;
        now.spent = recipe.decay * now.spent + now.weight;
        now.running = now.remaining > recipe.epsilon && !at_cap;
        now.capped = at_cap && now.remaining > recipe.epsilon;
    } else {
        now.running = !at_cap;
    }
}

// What the last step left to the output, and what all of it is divided by. Without an iterative module the states are the output.
extern "C" __global__ void large_finish(const __grid_constant__ LargeLaunch launch) {
    const Progress now = *launch.progress;
    const float divisor = launch.recipe.normalised && now.spent > 0.f ? now.spent : 1.f;
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < (long long)launch.node_count * HQ; i += (long long)gridDim.x * blockDim.x) {
        const float4 state = at4(launch.states + 4 * i);
        float4& output = at4(launch.output + 4 * i);
        if (!launch.iterative) {
            output = state;
        } else {
            const float4 sum = grown(output, state, launch.recipe.decay, now.weight);
            output = make_float4(sum.x / divisor, sum.y / divisor, sum.z / divisor, sum.w / divisor);
        }
    }
}

// Kinds of the readout: maximum, minimum, sums.
constexpr int READOUT_POOLS = READOUT == 0 ? 0 : READOUT == 1 ? 1 : 2;

// A part of what is read out of the output.
extern "C" __global__ void __launch_bounds__(EDGE_THREADS) large_read(const __grid_constant__ LargeLaunch launch) {
    __shared__ __align__(16) float memory[EDGE_LANES * HP];
    const int lane = threadIdx.x / HQ, column = 4 * (threadIdx.x % HQ);
    float4 pooled = nothing_pooled(READOUT_POOLS);
    for (long long row = (long long)blockIdx.x * EDGE_LANES + lane; row < launch.node_count && lane < EDGE_LANES; row += (long long)gridDim.x * EDGE_LANES)
        pool(pooled, at4(launch.output + row * HP + column), READOUT_POOLS);
    write_part(pooled, READOUT_POOLS, memory, launch.parts + blockIdx.x * (long long)HP);
}

// What is read out, in the first row of `parts`; one thread block.
extern "C" __global__ void __launch_bounds__(EDGE_THREADS) large_gather(const __grid_constant__ LargeLaunch launch) {
    __shared__ __align__(16) float memory[EDGE_LANES * HP];
    gather_parts(launch, READOUT_POOLS, memory);
    for (int c = threadIdx.x; c < HP; c += EDGE_THREADS) launch.parts[c] = READOUT == 2 ? memory[c] / launch.node_count : memory[c];
}
