// One step with maximum aggregation: h' = max(h, messages), elementwise.

#if LAYER == MAXIMUM
__device__ __forceinline__ void challenge(float message, int number, float& best, Winner& winner) {
    if (message > best) {
        best = message;
        winner = Winner(number | (message > 0.f ? 0 : NEGATIVE));
    }
}

// From the states in `vectors`, whose first-layer products are there, to the next ones, in place; the winners go to `winners`. Ends with a barrier.
__device__ void layer_forward(const Space& s, const Launch& launch, const Recipe&, int step, float*) {
    for (int start = 0; start < s.pack->live_edges; start += launch.edge_tile) {
        const EdgeTile edges = edge_tile(s, launch, start);
        edge_messages(s, edges, products_elsewhere(s, step));
        each_receiver(s, edges, [&](int row, int begin, int first, int last, int column) {
            float4 best = at4(s.vectors + row * RS + XP + column);
            Winner4& winners = *reinterpret_cast<Winner4*>(s.winners + row * HP + column);
            Winner4 winner = winners;
            for (int p = first; p < last; p++) {
                const float4 message = at4(s.messages + (p - start) * MESSAGE_STRIDE + column);
                challenge(message.x, p - begin, best.x, winner.x);
                challenge(message.y, p - begin, best.y, winner.y);
                challenge(message.z, p - begin, best.z, winner.z);
                challenge(message.w, p - begin, best.w, winner.w);
            }
            at4(s.vectors + row * RS + XP + column) = best;
            winners = winner;
        });
        // The next tile's activations do not touch what is read here, and its messages wait for a barrier.
    }
    __syncthreads();
}

#if TRAIN
// The gradient that reaches a message from its receiver.
__device__ __forceinline__ float share(float gradient, int winner, int number) {
    return (winner & ~NEGATIVE) != number ? 0.f : winner & NEGATIVE ? 0.01f * gradient : gradient;
}

// From the gradient of the states after a step, in `states`, to that of the states before. `first` holds the first-layer products of the step, `winners` its
// winners; `before` are the states before it.
__device__ void layer_backward(const Space& s, const Launch& launch, const Recipe&, const float* before, const float*, LayerGradient& gradient) {
    clear_products(s);
    for (int start = 0; start < s.pack->live_edges; start += launch.edge_tile) {
        const EdgeTile edges = edge_tile(s, launch, start);
        activations_again(s, edges);
        for (int i = threadIdx.x; i < edges.padded * HQ; i += T) {
            const int p = i / HQ, column = 4 * (i % HQ);
            float4 value = zero4();
            if (p < edges.count) {
                const int edge = s.position[start + p], row = s.out_receivers[edge], number = s.out_numbers[edge];
                const float4 g = at4(s.states + row * HP + column);
                const Winner4 winner = *reinterpret_cast<const Winner4*>(s.winners + row * HP + column);
                value = make_float4(share(g.x, winner.x, number), share(g.y, winner.y, number), share(g.z, winner.z, number), share(g.w, winner.w, number));
            }
            at4(s.messages + p * MESSAGE_STRIDE + column) = value;
        }
        edge_messages_backward(s, edges, gradient, [&] {
            if (start + launch.edge_tile >= s.pack->live_edges) fetch_vectors(s, launch, before, s.first);
        });
    }
    // Nobody needs the gradients of others' rows any more; they wait for that before they write new ones.
    cluster_arrive_reading();
    if (s.pack->live_edges == 0) load_vectors(s, launch, before);
    node_products_backward(s, gradient, s.first, [&](int row, int column) { return kept(s, row, column); });
}
#endif
#endif
