// One step with attention: h' = max(h, sum of softmax(score) message), elementwise.

#if LAYER == ATTENTION
// As with maximum aggregation; a winner is the sum (0) or the state itself. `keep_shares` is where scores and weights are kept, if anywhere.
__device__ void layer_forward(const Space& s, const Launch& launch, const Recipe& recipe, int, float* keep_shares) {
    const Pack& pack = *s.pack;
    for (int i = threadIdx.x; i < pack.tiles * 4 * HQ; i += T) at4(s.sums + (s.tile_row[i / (4 * HQ)] + i / HQ % 4) * HP + 4 * (i % HQ)) = zero4();
    weigh(s, launch, recipe, s.vectors, keep_shares);
    for (int start = 0; start < pack.live_edges; start += launch.edge_tile) {
        const EdgeTile edges = edge_tile(s, launch, start);
        edge_messages(s, edges, s.first);
        each_receiver(s, edges, [&](int row, int begin, int first, int last, int column) {
            float4& sum = at4(s.sums + row * HP + column);
            for (int p = first; p < last; p++) axpy(sum, s.shares[s.in_begin[row] + p - begin], at4(s.messages + (p - start) * MESSAGE_STRIDE + column));
        });
    }
    __syncthreads();
    for (int i = threadIdx.x; i < pack.tiles * 4 * HP; i += T) {
        const int row = s.tile_row[i / (4 * HP)] + i / HP % 4, column = i % HP;
        float& state = s.vectors[row * RS + XP + column];
        const float sum = s.sums[row * HP + column];
        if (s.in_begin[row] < s.in_end[row] && sum > state) {
            state = sum;
            s.winners[row * HP + column] = 0;
        }
    }
    __syncthreads();
}

#if TRAIN
__device__ void layer_backward(const Space& s, const Launch& launch, const Recipe& recipe, const float* before, const float*, LayerGradient& gradient) {
    const int lane = threadIdx.x % 32;
    clear_products(s);
    for (int start = 0; start < s.pack->live_edges; start += launch.edge_tile) {
        const EdgeTile edges = edge_tile(s, launch, start);
        activations_again(s, edges);
        __syncthreads();
        second_products(s, edges, s.w2_again);
        __syncthreads();
        // A message becomes its gradient; its product with what reaches the receiver is the gradient of its weight.
        for (int p = threadIdx.x / 32; p < edges.padded; p += T / 32) {
            const bool real = p < edges.count;
            const int edge = s.position[start + (real ? p : 0)], row = s.out_receivers[edge], arrival = s.in_begin[row] + s.out_numbers[edge];
            const float share = s.shares[arrival];
            float product = 0.f;
            for (int c = lane; c < HP; c += 32) {
                float& message = s.messages[p * MESSAGE_STRIDE + c];
                const float reaching = real && s.winners[row * HP + c] != SELF ? s.states[row * HP + c] : 0.f;
                product += message * reaching;
                message = share * reaching * slope(message);
            }
            product = warp_sum(product);
            if (real && lane == 0) s.pulls[arrival] = product;
        }
        edge_messages_backward(s, edges, gradient, [] {});
    }
    weigh_backward(s, recipe);
    load_vectors(s, launch, before);
    score_vectors_backward(s, s.first);
    node_products_backward(s, gradient, s.first, [&](int row, int column) {
        const float2 own = kept(s, row, column), sender = at2(s.score + XP + column), receiver = at2(s.score + SCORE_WIDTH + XP + column);
        const float sent = s.send[row], received = s.receive[row];
        return make_float2(own.x + sent * sender.x + received * receiver.x, own.y + sent * sender.y + received * receiver.y);
    });
}
#endif
#endif
