// The graphs of a thread block: several small ones side by side, every graph's rows padded to a multiple of four.

struct Pack {
    int graphs, rows, edges;
    int sample[G], row[G], nodes[G], edge[G], edge_count[G];
    // Graphs that still iterate; their edges are numbered without gaps: position = edge - shift.
    unsigned active;
    int shift[G], tile[G];
    // Fours of rows, and the first row if all lie together, otherwise -1.
    int tiles, from, live_edges;
    // Of each graph: first row and fours of rows that this block of a cluster has; the edges that reach them and those that leave them, first and number.
    int own_row[G], own_tiles[G], in_first[G], in_count[G], out_first[G], out_count[G];
    // The step after which each graph was done with the block, -1 before; over all blocks: iterations, unspent mass, whether a cap ended one.
    int finished_at[G], iterations[G], capped[G];
    float unspent[G];
};

// Everything a thread block works on.
struct Space {
    Pack* pack;
    // Weights of the layer; in the way back W1 and W2 are transposed.
    float *w1, *w2, *we, *b2, *cw;
    // For scores: W2 as it is, the weights of a score and their gradient.
    float *w2_again, *score, *score_gradient;
    // Rows of width RS: first-layer products; node vectors [x ; h]. Rows of width HP: output, or gradient of the state.
    float *first, *vectors, *states;
    // GCN, on the way back: node vectors of another step.
    float* other;
    // A tile of edges: first-layer activations and messages (or their gradients).
    float *activations, *messages;
    float *features, *out_features;
    // Per node: its parts of the scores of edges, or their gradients, and the sum of its weighted messages. Per edge: score, weight, and the gradient of either.
    float *send, *receive, *sums, *scores, *shares, *pulls;
    // Per unit (graph or node): mass left, mass spent, weight of the present step; iterations done, -1 while it runs.
    float *remaining, *spent, *weight, *before;
    int *done;
    // Parts of pooled vectors, where a tile lies between steps; the rows that maxima of the readout come from.
    float *partial;
    int *partial_row, *chosen;
    // What the blocks of a cluster pooled, and the rows that it comes from, in even and in odd steps.
    float* exchange;
    // The gradients of the channels of each graph's readout, where that picks rows.
    float* picked;
    Winner* winners;
    // Edges in the order of their receivers and, behind `out_`, of their senders: both ends, and the number among those that reach the receiver.
    Index *senders, *receivers, *out_senders, *out_receivers, *out_numbers, *arrival, *position, *tile_row;
    Index *in_begin, *in_end, *out_begin, *out_end;
    unsigned char* graph_of;
    // Global memory: of this block, and what all blocks of a cluster have together.
    float *floats, *common;
    Winner* winner_history;
};

template <class Value>
__device__ __forceinline__ Value* carve(char*& memory, long long count) {
    Value* result = reinterpret_cast<Value*>(memory);
    memory += (count * sizeof(Value) + 15) / 16 * 16;
    return result;
}

// Keep in step with `shared_bytes` in `src/plan.rs`.
__device__ void lay_out(Space& s, char* shared, const Launch& launch, int block) {
    const int rows = launch.row_cap, edges = launch.edge_cap, units = launch.schedule_units;
    s.pack = carve<Pack>(shared, 1);
    s.w1 = carve<float>(shared, KV * PW);
    s.w2 = carve<float>(shared, CONVOLUTION ? 0 : JP * HP);
    s.w2_again = carve<float>(shared, LAYER == ATTENTION && TRAIN ? JP * HP : 0);
    s.score = carve<float>(shared, SCORE_SIZE);
    s.score_gradient = carve<float>(shared, TRAIN ? SCORE_SIZE : 0);
    s.we = carve<float>(shared, CONVOLUTION ? 0 : DE * JP);
    s.b2 = carve<float>(shared, HP);
    s.cw = carve<float>(shared, HP + 4);
    char* tile = shared;
    s.activations = carve<float>(shared, launch.edge_tile * ACTIVATION_STRIDE);
    s.messages = carve<float>(shared, launch.edge_tile * MESSAGE_STRIDE);
    s.partial = carve<float>(tile, T / HQ * HP);
    s.partial_row = carve<int>(tile, T / HQ * HP);
    s.chosen = carve<int>(shared, G * HP);
    s.exchange = carve<float>(shared, CLUSTER > 1 ? 4 * CLUSTER * G * HP : 0);
    s.picked = carve<float>(shared, TRAIN ? G * HP : 0);
    s.floats = launch.floats + block * launch.float_stride;
    s.common = launch.floats + (block - cluster_rank()) * launch.float_stride;
    s.winner_history = launch.winners + (block - cluster_rank()) * launch.winner_stride;
#if LARGE
    char* memory = reinterpret_cast<char*>(launch.indices + block * launch.index_stride);
#else
    char* memory = shared;
#endif
    s.first = carve<float>(memory, rows * RS);
    s.vectors = carve<float>(memory, rows * RS);
    s.states = carve<float>(memory, rows * HP);
    s.other = carve<float>(memory, LAYER == GCN && TRAIN ? rows * RS : 0);
    s.features = carve<float>(memory, edges * DE);
    s.out_features = carve<float>(memory, TRAIN ? edges * DE : 0);
    s.send = carve<float>(memory, SCORED ? rows : 0);
    s.receive = carve<float>(memory, SCORED ? rows : 0);
    s.sums = carve<float>(memory, LAYER == ATTENTION ? rows * HP : 0);
    s.scores = carve<float>(memory, SCORED ? edges : 0);
    s.shares = carve<float>(memory, SCORED ? edges : 0);
    s.pulls = carve<float>(memory, SCORED && TRAIN ? edges : 0);
    s.remaining = carve<float>(memory, units);
    s.spent = carve<float>(memory, units);
    s.weight = carve<float>(memory, units);
    s.before = carve<float>(memory, units);
    s.done = carve<int>(memory, units);
    s.winners = carve<Winner>(memory, rows * HP);
    s.senders = carve<Index>(memory, edges);
    s.receivers = carve<Index>(memory, edges);
    s.out_senders = carve<Index>(memory, TRAIN ? edges : 0);
    s.out_receivers = carve<Index>(memory, TRAIN ? edges : 0);
    s.out_numbers = carve<Index>(memory, TRAIN ? edges : 0);
    s.arrival = carve<Index>(memory, TRAIN && USES_RECEIVER ? edges : 0);
    s.position = carve<Index>(memory, edges);
    s.tile_row = carve<Index>(memory, rows / 4);
    s.in_begin = carve<Index>(memory, rows);
    s.in_end = carve<Index>(memory, rows);
    s.out_begin = carve<Index>(memory, rows);
    s.out_end = carve<Index>(memory, rows);
    s.graph_of = carve<unsigned char>(memory, rows);
}

// Divides the rows of a graph among the blocks of a cluster, so that edges and rows are spread evenly.
__device__ void divide_rows(const Space& s, int g) {
    Pack& pack = *s.pack;
    const int begin = pack.row[g], end = begin + pack.nodes[g], tiles = pad4(pack.nodes[g]) / 4;
    int first = 0, last = tiles;
    if (CLUSTER > 1) {
        last = 0;
        const int total = 8 * tiles + 2 * pack.edge_count[g];
        for (int tile = 0, before = 0; tile < tiles; tile++) {
            int work = 8;
            for (int row = begin + 4 * tile; row < min(begin + 4 * tile + 4, end); row++) work += s.in_end[row] - s.in_begin[row] + s.out_end[row] - s.out_begin[row];
            const int owner = (2 * before + work) * CLUSTER / (2 * total);
            first = owner < cluster_rank() ? tile + 1 : first;
            last = owner <= cluster_rank() ? tile + 1 : last;
            before += work;
        }
    }
    const int row = begin + 4 * first, behind = min(begin + 4 * last, end);
    pack.own_row[g] = row;
    pack.own_tiles[g] = last - first;
    pack.in_first[g] = row < behind ? s.in_begin[row] : 0;
    pack.in_count[g] = row < behind ? s.in_end[behind - 1] - s.in_begin[row] : 0;
    pack.out_first[g] = row < behind ? s.out_begin[row] : 0;
    pack.out_count[g] = row < behind ? s.out_end[behind - 1] - s.out_begin[row] : 0;
}

// In the number of a sender: another block of the cluster has its row.
constexpr int ELSEWHERE = CLUSTER > 1 ? 0x8000 : 0;

// Whether this block of a cluster has a row.
__device__ __forceinline__ bool is_own(const Space& s, int row) {
    const int g = s.graph_of[row], from = row - s.pack->own_row[g];
    return CLUSTER == 1 || (from >= 0 && from < 4 * s.pack->own_tiles[g]);
}

// Reads the graphs of the pack; false if there is none.
__device__ bool load_pack(const Space& s, const Launch& launch, int model, int number) {
    const Samples& data = launch.samples;
    Pack& pack = *s.pack;
    // The rows of a large graph are in global memory.
    if (LARGE) wait_for_launches_before();
    for (int slot = threadIdx.x; slot < G; slot += T) {
        const int sample = launch.slots[((long long)model * launch.packs + number) * G + slot];
        pack.sample[slot] = sample;
        pack.nodes[slot] = sample < 0 ? 0 : data.node_offsets[sample + 1] - data.node_offsets[sample];
        pack.edge_count[slot] = sample < 0 ? 0 : data.edges.offsets[sample + 1] - data.edges.offsets[sample];
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        pack.graphs = pack.rows = pack.edges = 0;
        for (int g = 0; g < G && pack.sample[g] >= 0; g++) {
            pack.graphs++;
            pack.row[g] = pack.rows;
            pack.edge[g] = pack.edges;
            pack.rows += pad4(pack.nodes[g]);
            pack.edges += pack.edge_count[g];
        }
    }
    __syncthreads();
    if (pack.graphs == 0) {
        wait_for_launches_before();
        return false;
    }
    // Graphs are read side by side, each by its share of the threads.
    const int threads = T / pack.graphs, thread = threadIdx.x % threads, own = threadIdx.x / threads;
    for (int g = own; g < pack.graphs; g += pack.graphs) {
        const int sample = pack.sample[g], nodes = pack.nodes[g], row = pack.row[g], edge = pack.edge[g];
        const unsigned first_node = data.node_offsets[sample], first_edge = data.edges.offsets[sample];
        const unsigned *incoming = data.edges.incoming + first_node + sample, *outgoing = data.edges.outgoing + first_node + sample;
        for (int n = thread; n < pad4(nodes); n += threads) {
            const bool real = n < nodes;
            s.in_begin[row + n] = real ? edge + incoming[n] : 0;
            s.in_end[row + n] = real ? edge + incoming[n + 1] : 0;
            s.out_begin[row + n] = real ? edge + outgoing[n] : 0;
            s.out_end[row + n] = real ? edge + outgoing[n + 1] : 0;
            s.graph_of[row + n] = g;
            if (real)
                for (unsigned e = incoming[n]; e < incoming[n + 1]; e++) s.receivers[edge + e] = row + n;
        }
        for (int e = thread; e < pack.edge_count[g]; e += threads) {
            s.senders[edge + e] = row + data.edges.senders[first_edge + e];
            for (int d = 0; d < DE; d++) s.features[(edge + e) * DE + d] = data.edges.features[(first_edge + e) * (long long)DE + d];
        }
    }
    for (int i = threadIdx.x; i < pack.rows * HP; i += T) s.winners[i] = SELF;
    __syncthreads();
#if TRAIN
    for (int g = own; g < pack.graphs; g += pack.graphs) {
        const int edge = pack.edge[g];
        const unsigned first_edge = data.edges.offsets[pack.sample[g]];
        for (int e = thread; e < pack.edge_count[g]; e += threads) {
            const int from = edge + data.edges.departures[first_edge + e], receiver = s.receivers[from];
            s.out_senders[edge + e] = s.senders[from];
            s.out_receivers[edge + e] = receiver;
            s.out_numbers[edge + e] = from - s.in_begin[receiver];
            if (USES_RECEIVER) s.arrival[from] = edge + e;
            for (int d = 0; d < DE; d++) s.out_features[(edge + e) * DE + d] = s.features[from * DE + d];
        }
    }
#endif
    if (threadIdx.x < pack.graphs) divide_rows(s, threadIdx.x);
    // From here on the block writes to global memory, and reads what the launches before it wrote.
    wait_for_launches_before();
    float* inputs = s.floats + launch.at_inputs;
    for (int g = own; g < pack.graphs; g += pack.graphs) {
        const int width = launch.node_width, size = pack.nodes[g] * width, row = pack.row[g];
        const float* nodes = data.nodes + data.node_offsets[pack.sample[g]] * (long long)width;
        for (int i = thread; i < pad4(pack.nodes[g]) * width; i += threads) inputs[row * width + i] = i < size ? nodes[i] : 0.f;
    }
    __syncthreads();
    if (CLUSTER > 1) {
        for (int e = threadIdx.x; e < pack.edges; e += T)
            if (!is_own(s, s.senders[e])) s.senders[e] |= ELSEWHERE;
        __syncthreads();
    }
    return true;
}

// Numbers the block's rows and edges of the graphs in `active` without gaps, edges by receiver or, on the way back, by sender. Ends with a barrier.
__device__ void activate(const Space& s, unsigned active, bool back) {
    Pack& pack = *s.pack;
    __syncthreads();
    if (threadIdx.x == 0) {
        pack.active = active;
        pack.tiles = pack.live_edges = pack.from = 0;
        for (int g = 0; g < pack.graphs; g++) {
            if (!(active >> g & 1)) continue;
            pack.shift[g] = (back ? pack.out_first[g] : pack.in_first[g]) - pack.live_edges;
            pack.tile[g] = pack.tiles;
            if (pack.tiles == 0) pack.from = pack.own_row[g];
            else if (pack.own_tiles[g] > 0 && pack.own_row[g] != pack.from + 4 * pack.tiles) pack.from = -1;
            pack.live_edges += back ? pack.out_count[g] : pack.in_count[g];
            pack.tiles += pack.own_tiles[g];
        }
    }
    __syncthreads();
    for (int g = 0; g < pack.graphs; g++) {
        if (!(active >> g & 1)) continue;
        const int edge = back ? pack.out_first[g] : pack.in_first[g], count = back ? pack.out_count[g] : pack.in_count[g], shift = pack.shift[g];
        for (int e = edge + threadIdx.x; e < edge + count; e += T) s.position[e - shift] = e;
        for (int t = threadIdx.x; t < pack.own_tiles[g]; t += T) s.tile_row[pack.tile[g] + t] = pack.own_row[g] + 4 * t;
    }
    __syncthreads();
}

// The rows of the active graphs, one after the other; behind the last comes the last again.
struct LiveRows {
    const Index* tiles;
    int from, last;

    __device__ __forceinline__ explicit LiveRows(const Space& s) : tiles(s.tile_row), from(s.pack->from), last(4 * s.pack->tiles - 1) {}

    __device__ __forceinline__ int operator()(int i) const {
        i = min(i, last);
        return from >= 0 ? from + i : tiles[i / 4] + i % 4;
    }
};

__device__ __forceinline__ bool is_active(const Space& s, int row) { return s.pack->active >> s.graph_of[row] & 1; }

// Whether the row belongs to a node, not to the padding.
__device__ __forceinline__ bool is_node(const Space& s, int row) {
    const int g = s.graph_of[row];
    return row - s.pack->row[g] < s.pack->nodes[g];
}

__device__ __forceinline__ int unit_of(const Space& s, int row) { return NODE_WISE ? row : s.graph_of[row]; }
