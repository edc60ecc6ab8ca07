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
    wait_for_launches_before();
    const int model = blockIdx.y, i = blockIdx.x * UPDATE_THREADS + threadIdx.x, packs = update.steps[model].packs;
    __shared__ double squares[UPDATE_THREADS / 32];
    float sum = 0.f;
    if (i < update.parameter_count) {
        const float* gradients = update.gradients + (long long)model * update.packs * update.parameter_count + i;
#pragma unroll 8
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
    wait_for_launches_before();
    const int model = blockIdx.y, i = blockIdx.x * UPDATE_THREADS + threadIdx.x;
    const Recipe& recipe = update.recipes[model];
    const Step& step = update.steps[model];
    __shared__ double norm_squared;
    __shared__ int fine;
    float4 record = make_float4(0.f, 0.f, 0.f, 0.f);
    if (threadIdx.x < 32) {
        double total = 0.0;
        for (int part = threadIdx.x; part < update.parts; part += 32) total += update.squares[model * update.parts + part];
        for (int pack = threadIdx.x; pack < step.packs; pack += 32) add(record, at4(update.reports + 4 * (model * update.packs + pack)));
#pragma unroll
        for (int offset = 16; offset; offset >>= 1) total += __shfl_xor_sync(~0u, total, offset);
        record = make_float4(warp_sum(record.x), warp_sum(record.y), warp_sum(record.z), warp_sum(record.w));
        if (threadIdx.x == 0) norm_squared = total;
    }
    if (threadIdx.x == 0) {
        const float norm = (float)sqrt(norm_squared);
        fine = step.learns && isfinite(record.x) && isfinite(record.y) && isfinite(norm) && !update.stopped[model];
        if (blockIdx.x == 0) {
            float* out = update.records + 6 * model;
            out[0] = record.x;
            out[1] = record.y;
            out[2] = norm;
            out[3] = record.z;
            out[4] = record.w;
            out[5] = (float)fine;
            // A model that met a number that is not finite learns no more. The other thread blocks of this launch found it themselves.
            if (step.learns && !fine) update.stopped[model] = 1;
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
