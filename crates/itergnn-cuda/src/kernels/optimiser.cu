// Gradients of a batch from those of its packs, in a fixed order, and Adam.

struct Update {
    const Recipe* recipes;
    const Step* steps;
    const float *gradients, *reports;
    float *sums, *parameters, *first, *second;
    // [models, parts]: squares of the gradient.
    double* squares;
    // [models, 6]: loss, unspent mass, gradient norm, iterations, capped graphs, whether the model still learns.
    float* records;
    int* stopped;
    int parameter_count, packs, parts;
};

constexpr int UPDATE_THREADS = 256;

extern "C" __global__ void __launch_bounds__(UPDATE_THREADS) sum_gradients(const __grid_constant__ Update update) {
    const int model = blockIdx.y, i = blockIdx.x * UPDATE_THREADS + threadIdx.x, packs = update.steps[model].packs;
    __shared__ double squares[UPDATE_THREADS / 32];
    float sum = 0.f;
    if (i < update.parameter_count) {
        const float* gradients = update.gradients + (long long)model * update.packs * update.parameter_count + i;
        for (int pack = 0; pack < packs; pack++) sum += gradients[(long long)pack * update.parameter_count];
        update.sums[(long long)model * update.parameter_count + i] = sum;
    }
    double square = (double)sum * sum;
#pragma unroll
    for (int offset = 16; offset; offset >>= 1) square += __shfl_xor_sync(~0u, square, offset);
    if (threadIdx.x % 32 == 0) squares[threadIdx.x / 32] = square;
    __syncthreads();
    if (threadIdx.x == 0) {
        double total = 0.0;
        for (int warp = 0; warp < UPDATE_THREADS / 32; warp++) total += squares[warp];
        update.squares[model * update.parts + blockIdx.x] = total;
    }
}

extern "C" __global__ void __launch_bounds__(UPDATE_THREADS) adam(const __grid_constant__ Update update) {
    const int model = blockIdx.y, i = blockIdx.x * UPDATE_THREADS + threadIdx.x;
    const Recipe& recipe = update.recipes[model];
    const Step& step = update.steps[model];
    __shared__ double norm_squared;
    __shared__ int fine;
    if (threadIdx.x < 32) {
        double total = 0.0;
        for (int part = threadIdx.x; part < update.parts; part += 32) total += update.squares[model * update.parts + part];
#pragma unroll
        for (int offset = 16; offset; offset >>= 1) total += __shfl_xor_sync(~0u, total, offset);
        if (threadIdx.x == 0) norm_squared = total;
    }
    if (threadIdx.x == 0) {
        float record[4] = {0.f, 0.f, 0.f, 0.f};
        for (int pack = 0; pack < step.packs; pack++)
            for (int what = 0; what < 4; what++) record[what] += update.reports[4 * (model * update.packs + pack) + what];
        const float norm = (float)sqrt(norm_squared);
        fine = step.learns && isfinite(record[0]) && isfinite(record[1]) && isfinite(norm) && !update.stopped[model];
        if (blockIdx.x == 0) {
            float* out = update.records + 6 * model;
            out[0] = record[0];
            out[1] = record[1];
            out[2] = norm;
            out[3] = record[2];
            out[4] = record[3];
            out[5] = (float)fine;
        }
    }
    __syncthreads();
    if (!fine || i >= update.parameter_count) return;
    const long long place = (long long)model * update.parameter_count + i;
    const double norm = sqrt(norm_squared);
    const float factor = recipe.clip > 0.f && norm > recipe.clip ? (float)(recipe.clip / norm) : 1.f;
    const float value = update.parameters[place], gradient = value * recipe.weight_decay + update.sums[place] * factor;
    const float first = update.first[place] * recipe.beta_1 + gradient * (1.f - recipe.beta_1);
    const float second = update.second[place] * recipe.beta_2 + gradient * gradient * (1.f - recipe.beta_2);
    update.first[place] = first;
    update.second[place] = second;
    update.parameters[place] = value - first * step.correction / (sqrtf(second) + step.epsilon) * step.rate;
}

// A model that met a number that is not finite learns no more.
extern "C" __global__ void note_faults(const __grid_constant__ Update update, int models) {
    const int model = blockIdx.x * blockDim.x + threadIdx.x;
    if (model < models && update.steps[model].learns && update.records[6 * model + 5] == 0.f) update.stopped[model] = 1;
}
