// The iterative module for states that the warps have in slices.

#if SLICED
// As `confide`, for graphs whose states the warps have in slices: each pools its channels, and what they give is added up in order. The states are the warp's own so far. Ends with a
// barrier.
__device__ void confide_by_slices(const Space& s, const Launch& launch, const Recipe& recipe, const Record& record, int step) {
    Pack& pack = *s.pack;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, column = 8 * warp + lane % 8;
    float *products = s.partial, *norms = s.partial + G * SLICES_H;
    __syncwarp();
    for (int g = 0; g < pack.graphs && warp < SLICES_H; g++) {
        if (!(pack.active >> g & 1)) continue;
        float best = CONFIDENCE_READOUT == 0 ? __int_as_float(0xff800000) : 0.f;
        int from = pack.row[g];
        for (int row = pack.row[g] + lane / 8; row < pack.row[g] + pack.nodes[g]; row += 4) {
            const float value = s.vectors[row * RS + HX + column];
            if (CONFIDENCE_READOUT != 0) best += value;
            else if (value > best) best = value, from = row;
        }
#pragma unroll
        for (int offset = 8; offset < 32; offset *= 2) {
            const float value = __shfl_xor_sync(~0u, best, offset);
            const int row = __shfl_xor_sync(~0u, from, offset);
            if (CONFIDENCE_READOUT != 0) best += value;
            else if (value > best || (value == best && row < from)) best = value, from = row;
        }
        if (CONFIDENCE_READOUT == 1) best /= pack.nodes[g];
        if (TRAIN && lane < 8) {
            record.pooled[(step * G + g) * HP + column] = best;
            record.rows[(step * G + g) * HP + column] = from;
        }
        float product = best * s.cw[column], norm = fabsf(best);
#pragma unroll
        for (int offset = 1; offset < 8; offset *= 2) {
            product += __shfl_xor_sync(~0u, product, offset);
            norm += __shfl_xor_sync(~0u, norm, offset);
        }
        if (lane == 0) products[g * SLICES_H + warp] = product, norms[g * SLICES_H + warp] = norm;
    }
    __syncthreads();
    for (int g = warp; g < pack.graphs; g += T / 32) {
        if (lane != 0 || !(pack.active >> g & 1)) continue;
        float product = 0.f, norm = 0.f;
        for (int slice = 0; slice < SLICES_H; slice++) product += products[g * SLICES_H + slice], norm += norms[g * SLICES_H + slice];
        if (SCALE_FREE && norm > 0.f) product /= norm;
        push(s, g, product + s.cw[HP], recipe, record, step, launch.schedule_units);
        pack.finished_at[g] = is_running(s, g, recipe) ? -1 : step + 1;
    }
    __syncthreads();
}

#if TRAIN
// As `add_contributions`, for the rows and channels of a lane. Confidences of a graph's maximum, the usual ones, have their numbers on the way for four rows at a time.
__device__ void add_own_contributions(const Space& s, const Launch& launch, const Record& record, const int* iterations, const float* state, const float* output_gradient, int step) {
    const Lane at = lane_of();
    if (NODE_WISE || SCALE_FREE || CONFIDENCE_READOUT != 0) {
        each_own_row(s, at, [&](const uint4& row) {
            add_contributions(s, launch, record, iterations, state, output_gradient, step, row.x, at.column, at4(s.states + row.x * SS + at.column));
        });
        return;
    }
    const int rows = s.pack->tiles * 4, units = launch.schedule_units;
    const float4 confidence = at4(s.cw + at.column);
    for (int base = at.row; base < rows; base += 64) {
        uint4 row[4];
        float4 outputs[4];
        int4 from[4];
        float weight[4], scale[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            row[i] = s.live_rows[min(base + 16 * i, rows - 1)];
            outputs[i] = at4(output_gradient + row[i].x * HP + at.column);
            from[i] = *reinterpret_cast<const int4*>(record.rows + (step * G + row[i].w) * HP + at.column);
            weight[i] = record.weight[step * units + row[i].w];
            scale[i] = record.scale[step * units + row[i].w];
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
            if (base + 16 * i >= rows) break;
            const int own = row[i].x;
            float4& target = at4(s.states + own * SS + at.column);
            float4 sum = target;
            axpy(sum, weight[i], outputs[i]);
            sum.x += from[i].x == own ? scale[i] * confidence.x : 0.f;
            sum.y += from[i].y == own ? scale[i] * confidence.y : 0.f;
            sum.z += from[i].z == own ? scale[i] * confidence.z : 0.f;
            sum.w += from[i].w == own ? scale[i] * confidence.w : 0.f;
            target = sum;
        }
    }
}
#endif
#endif
