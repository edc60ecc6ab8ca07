// The graphs of a thread block: several small ones side by side, every graph's rows padded to a multiple of four.

struct Pack {
    int graphs, rows, edges;
    int sample[G], row[G], nodes[G], edge[G], edge_count[G];
    // Graphs that still iterate; their edges are numbered without gaps: position = edge - shift.
    unsigned active;
    int shift[G], tile[G];
    int tiles, live_edges;
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
    // A tile of edges: first-layer activations and messages (or their gradients).
    float *activations, *messages;
#if SLICED
    // What tensor cores multiply: node vectors and gradients of the products, with a row of zeros behind; activations of a tile and gradients of its messages.
    Planes node_planes, product_planes, activation_planes, message_planes;
    // Of the active rows: the row, its incoming and its outgoing edges (from, behind). Of the active edges by receiver: sender and edge; by sender also receiver and number.
    uint4* live_rows;
    unsigned* arrivals;
    uint2* departures;
#endif
    float *features, *out_features;
    // Per node: its parts of the scores of edges, or their gradients, and the sum of its weighted messages. Per edge: score, weight, and the gradient of either.
    float *send, *receive, *sums, *scores, *shares, *pulls;
    // Per unit (graph or node): mass left, mass spent, weight of the present step; iterations done, -1 while it runs.
    float *remaining, *spent, *weight, *before;
    int *done;
    float *partial;
    int *partial_row;
    Winner* winners;
    // Edges in the order of their receivers and, behind `out_`, of their senders: both ends, and the number among those that reach the receiver.
    Index *senders, *receivers, *out_senders, *out_receivers, *out_numbers, *arrival, *position, *tile_row;
    Index *in_begin, *in_end, *out_begin, *out_end;
    unsigned char* graph_of;
    float* floats;
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
#if SLICED
    s.cw = carve<float>(shared, HP + 4);
    const auto planes = [&](int count) { return Planes{carve<unsigned short>(shared, 3ll * count * BS), count * BS}; };
    // A tile's activations, and what is made of them for each warp alone: messages, or gradients of activations.
    s.activation_planes = planes(launch.edge_tile);
    s.message_planes = planes(TRAIN ? launch.edge_tile : 0);
    s.messages = carve<float>(shared, launch.edge_tile * RS);
    s.activations = s.messages;
    s.node_planes = planes(rows + 1);
    s.product_planes = planes(TRAIN ? rows + 1 : 0);
    s.live_rows = carve<uint4>(shared, rows);
    s.arrivals = carve<unsigned>(shared, edges);
    s.departures = carve<uint2>(shared, TRAIN ? edges : 0);
#else
    s.w1 = carve<float>(shared, KV * PW);
    s.w2 = carve<float>(shared, CONVOLUTION ? 0 : JP * HP);
    s.w2_again = carve<float>(shared, LAYER == ATTENTION && TRAIN ? JP * HP : 0);
    s.score = carve<float>(shared, SCORE_SIZE);
    s.score_gradient = carve<float>(shared, TRAIN ? SCORE_SIZE : 0);
    s.we = carve<float>(shared, CONVOLUTION ? 0 : DE * JP);
    s.b2 = carve<float>(shared, HP);
    s.cw = carve<float>(shared, HP + 4);
    s.activations = carve<float>(shared, launch.edge_tile * JP);
    s.messages = carve<float>(shared, launch.edge_tile * HP);
#endif
    s.partial = carve<float>(shared, (T / HQ) * HP);
    s.partial_row = carve<int>(shared, (T / HQ) * HP);
    s.floats = launch.floats + block * launch.float_stride;
    s.winner_history = launch.winners + block * launch.winner_stride;
#if LARGE
    char* memory = reinterpret_cast<char*>(launch.indices + block * launch.index_stride);
#else
    char* memory = shared;
#endif
    s.first = carve<float>(memory, rows * RS);
    s.vectors = carve<float>(memory, rows * RS);
    s.states = carve<float>(memory, rows * SS);
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
    s.winners = carve<Winner>(memory, (SLICED && TRAIN ? 2 : 1) * rows * WS);
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

// Reads the graphs of the pack; false if there is none.
__device__ bool load_pack(const Space& s, const Launch& launch, int model, int number) {
    const Samples& data = launch.samples;
    Pack& pack = *s.pack;
    if (threadIdx.x == 0) {
        pack.graphs = pack.rows = pack.edges = 0;
        for (int slot = 0; slot < G; slot++) {
            const int sample = launch.slots[((long long)model * launch.packs + number) * G + slot];
            if (sample < 0) break;
            const int g = pack.graphs++;
            pack.sample[g] = sample;
            pack.row[g] = pack.rows;
            pack.edge[g] = pack.edges;
            pack.nodes[g] = data.node_offsets[sample + 1] - data.node_offsets[sample];
            pack.edge_count[g] = data.edge_offsets[sample + 1] - data.edge_offsets[sample];
            pack.rows += pad4(pack.nodes[g]);
            pack.edges += pack.edge_count[g];
        }
    }
    __syncthreads();
    if (pack.graphs == 0) return false;
    float* inputs = s.floats + launch.at_inputs;
    for (int g = 0; g < pack.graphs; g++) {
        const int sample = pack.sample[g], nodes = pack.nodes[g], row = pack.row[g], edge = pack.edge[g];
        const unsigned first_node = data.node_offsets[sample], first_edge = data.edge_offsets[sample];
        const unsigned *incoming = data.incoming + first_node + sample, *outgoing = data.outgoing + first_node + sample;
        for (int n = threadIdx.x; n < pad4(nodes); n += T) {
            const bool real = n < nodes;
            s.in_begin[row + n] = real ? edge + incoming[n] : 0;
            s.in_end[row + n] = real ? edge + incoming[n + 1] : 0;
            s.out_begin[row + n] = real ? edge + outgoing[n] : 0;
            s.out_end[row + n] = real ? edge + outgoing[n + 1] : 0;
            s.graph_of[row + n] = g;
            if (real)
                for (unsigned e = incoming[n]; e < incoming[n + 1]; e++) s.receivers[edge + e] = row + n;
        }
        for (int e = threadIdx.x; e < pack.edge_count[g]; e += T) {
            s.senders[edge + e] = row + data.senders[first_edge + e];
            for (int d = 0; d < DE; d++) s.features[(edge + e) * DE + d] = data.edges[(first_edge + e) * (long long)DE + d];
        }
        for (int i = threadIdx.x; i < pad4(nodes) * launch.node_width; i += T) {
            const bool real = i < nodes * launch.node_width;
            inputs[row * launch.node_width + i] = real ? data.nodes[first_node * (long long)launch.node_width + i] : 0.f;
        }
    }
    for (int i = threadIdx.x; i < pack.rows * WS; i += T) s.winners[i] = SELF;
#if SLICED
    for (int i = threadIdx.x; i < 3 * BS; i += T) {
        const int place = launch.row_cap * BS + i % BS, part = i / BS;
        s.node_planes.parts[part * s.node_planes.size + place] = 0;
        if (TRAIN) s.product_planes.parts[part * s.product_planes.size + place] = 0;
    }
#endif
    __syncthreads();
#if TRAIN
    for (int g = 0; g < pack.graphs; g++) {
        const int edge = pack.edge[g];
        const unsigned first_edge = data.edge_offsets[pack.sample[g]];
        for (int e = threadIdx.x; e < pack.edge_count[g]; e += T) {
            const int from = edge + data.departures[first_edge + e], receiver = s.receivers[from];
            s.out_senders[edge + e] = s.senders[from];
            s.out_receivers[edge + e] = receiver;
            s.out_numbers[edge + e] = from - s.in_begin[receiver];
            if (USES_RECEIVER) s.arrival[from] = edge + e;
            for (int d = 0; d < DE; d++) s.out_features[(edge + e) * DE + d] = s.features[from * DE + d];
        }
    }
    __syncthreads();
#endif
    return true;
}

// Numbers the rows and edges of the graphs in `active` without gaps. Ends with a barrier.
__device__ void activate(const Space& s, unsigned active) {
    Pack& pack = *s.pack;
    __syncthreads();
    if (threadIdx.x == 0) {
        pack.active = active;
        pack.tiles = pack.live_edges = 0;
        for (int g = 0; g < pack.graphs; g++) {
            if (!(active >> g & 1)) continue;
            pack.shift[g] = pack.edge[g] - pack.live_edges;
            pack.tile[g] = pack.tiles;
            pack.live_edges += pack.edge_count[g];
            pack.tiles += pad4(pack.nodes[g]) / 4;
        }
    }
    __syncthreads();
    for (int g = 0; g < pack.graphs; g++) {
        if (!(active >> g & 1)) continue;
        const int edge = pack.edge[g], shift = pack.shift[g];
        for (int e = edge + threadIdx.x; e < edge + pack.edge_count[g]; e += T) s.position[e - shift] = e;
        for (int t = threadIdx.x; t < pad4(pack.nodes[g]) / 4; t += T) s.tile_row[pack.tile[g] + t] = pack.row[g] + 4 * t;
#if SLICED
        for (int n = threadIdx.x; n < pad4(pack.nodes[g]); n += T) {
            const int row = pack.row[g] + n;
            // Rows without edges, the padding among them, have empty ranges.
            const auto range = [=](int begin, int end) { return begin < end ? unsigned(begin - shift) | unsigned(end - shift) << 16 : 0u; };
            s.live_rows[4 * pack.tile[g] + n] = make_uint4(row, range(s.in_begin[row], s.in_end[row]), range(s.out_begin[row], s.out_end[row]), g);
        }
        for (int e = edge + threadIdx.x; e < edge + pack.edge_count[g]; e += T) {
            s.arrivals[e - shift] = s.senders[e] | unsigned(e) << 16;
            if (TRAIN) s.departures[e - shift] = make_uint2(s.out_senders[e] | unsigned(e) << 16, s.out_receivers[e] | unsigned(s.out_numbers[e]) << 16);
        }
#endif
    }
    __syncthreads();
}

__device__ __forceinline__ bool is_active(const Space& s, int row) { return s.pack->active >> s.graph_of[row] & 1; }

// Whether the row belongs to a node, not to the padding.
__device__ __forceinline__ bool is_node(const Space& s, int row) {
    const int g = s.graph_of[row];
    return row - s.pack->row[g] < s.pack->nodes[g];
}

__device__ __forceinline__ int unit_of(const Space& s, int row) { return NODE_WISE ? row : s.graph_of[row]; }
