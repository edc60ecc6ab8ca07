// What a launch is told. The structs mirror those of `src/layout.rs`; the macros are settings that the host writes in front of this file.

__host__ __device__ constexpr int pad4(int count) { return (count + 3) / 4 * 4; }
// Widths are padded so that they fill the tiles of the tensor cores, or vectors of four.
__host__ __device__ constexpr int padded(int width) { return (width + PADDING - 1) / PADDING * PADDING; }

// The stride for rows of a width that is a number of eights, an odd number of fours: then what a warp reads for a product lies on different banks, by rows and by columns.
__host__ __device__ constexpr int apart(int width) { return width + 4; }

// Values of LAYER.
#define MAXIMUM 0
#define ATTENTION 1
#define GCN 2
#define GAT 3

constexpr int H = HIDDEN, HP = padded(H), HQ = HP / 4;
// A linear map instead of messages, whose sum replaces the state.
constexpr bool CONVOLUTION = LAYER >= GCN;
// Node inputs, and with them a constant one whose weights are the bias of the first map; that of a convolution has none.
constexpr int FIRST_BIAS = CONVOLUTION ? 0 : BIASED;
constexpr int XW = INPUT + FIRST_BIAS, XP = padded(XW);
constexpr int KV = XP + HP, KQ = KV / 4;
constexpr int J = MESSAGE, JP = padded(J), JQ = JP / 4;
constexpr int PW = JP * (1 + USES_RECEIVER), PQ = PW / 4;
// Strides of rows of node vectors or products, of activations, of messages.
constexpr int RS = apart(PW > KV ? PW : KV);
constexpr int ACTIVATION_STRIDE = apart(JP), MESSAGE_STRIDE = apart(HP);
constexpr int DE = EDGE;
// Numbers of a score per edge: two vectors, weights of the features, the bias; for GAT also vector and map of the edges.
constexpr bool SCORED = LAYER == ATTENTION || LAYER == GAT;
constexpr int SCORE_SIZE = LAYER == ATTENTION ? pad4(2 * KV + DE + 1) : LAYER == GAT ? pad4(2 * HP + DE + 1) + (DE + 1) * HP : 0;
constexpr int T = THREADS;
// Graphs that one thread block works on side by side.
constexpr int G = GRAPHS;
constexpr bool ITERATIVE = CONTROLLER == 2;
constexpr bool STACK = CONTROLLER == 0;
// Predictions belong to nodes; to edges; to edges, and to nodes that point at themselves. Otherwise to graphs.
constexpr bool NODE_LEVEL = READOUT == 5 || READOUT == 6, EDGE_LEVEL = READOUT >= 7, POINTER = READOUT == 8;

static_assert(T % 32 == 0 && T >= HQ && T >= JQ, "threads");

// An edge's number among those that reach its receiver, with the sign of the message in the highest bit.
#if WIDE_WINNERS
typedef unsigned short Winner;
constexpr int SELF = 0x7fff, NEGATIVE = 0x8000;
#else
typedef unsigned char Winner;
constexpr int SELF = 0x7f, NEGATIVE = 0x80;
#endif
struct alignas(4 * sizeof(Winner)) Winner4 { Winner x, y, z, w; };

// Numbers of nodes and edges inside a pack.
#if LARGE
typedef unsigned Index;
#else
typedef unsigned short Index;
#endif

// Edges of samples side by side, by receiver; all lists of a sample count from its own first node and edge.
struct Edges {
    const unsigned* offsets;
    // [nodes + samples]: where the edges of each node begin, by receiver and by sender.
    const unsigned *incoming, *outgoing;
    const unsigned *senders, *departures;
    const float* features;
};

// Samples side by side.
struct Samples {
    const unsigned *node_offsets, *target_offsets;
    const float *nodes, *targets;
    const unsigned* target_rows;
    // What messages go along, and what the head answers about: the same but for the loops of convolutions.
    Edges edges, asked;
};

// The numbers of one model's recipe.
struct Recipe {
    float epsilon, decay;
    int cap, normalised, settle;
    float price;
    int loss;
    float clip, beta_1, beta_2, adam_epsilon, weight_decay;
    // Slopes below zero: of GAT's scores, of a convolution's result.
    float slope, output_slope;
};

// One step of one model.
struct Step {
    int packs;
    float inverse_targets, inverse_units;
    float rate, correction, epsilon;
    int learns;
};

struct Perceptron {
    int layers, biased, final_activation;
    int widths[6];
    // Where the weight of each map lies among the parameters; its bias follows.
    int parameters[5];
    // Where the outputs of each map lie behind `at_perceptron`.
    int outputs[5];
};

struct Launch {
    Samples samples;
    const Recipe* recipes;
    const Step* steps;
    // [models, packs, G]: sample numbers, -1 for none.
    const int* slots;
    const float* parameters;
    float* gradients;
    float* floats;
    Winner* winners;
    Index* indices;
    // [models, packs, 4]: loss, unspent mass, iterations, capped graphs.
    float* reports;
    // Inference: predictions, iterations and caps, by sample or node.
    float* predictions;
    int* iterations;
    int* capped;
    Perceptron embedding, head;
    // For edges and pointers: what makes the vector of an edge, and of a node that points at itself.
    Perceptron ends[2];
    long long float_stride, winner_stride, index_stride, prediction_stride;
    int parameter_count, block_offset, block_parameters, blocks;
    int packs, row_cap, edge_cap, edge_tile, iteration_cap;
    int node_width, outputs, samples_count;
    // Offsets into the floats of a pack.
    long long at_states, at_first, at_shares, at_pooled, at_schedule, at_counts, at_gradient, at_inputs, at_perceptron, at_scratch;
    int scratch_size, schedule_units;
};
