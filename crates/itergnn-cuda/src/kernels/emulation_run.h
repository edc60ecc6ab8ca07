// The block of a launch that runs, fiber by fiber.

static const Launch* emulated_launch;

static void run_fiber() {
    graph_step(*emulated_launch);
    emulator.fibers[emulator.current].done = emulator.progressed = true;
    wait_for_others();
}

// 0, or what went wrong: 1 for threads that wait for each other, 2 for a write behind the shared memory.
extern "C" int emulate(const Launch* launch, unsigned pack, unsigned model, unsigned packs, unsigned bytes, unsigned seed) {
    constexpr unsigned BEHIND = 4096;
    constexpr char UNTOUCHED = 0x5a;
    emulated_launch = launch;
    gridDim = {packs * CLUSTER, 1, 1};
    emulator = Emulator{};
    emulator.shared_bytes = bytes;
    for (char*& shared : emulator.shared) {
        shared = (char*)aligned_alloc(1024, (bytes + BEHIND + 1023) / 1024 * 1024);
        memset(shared, 0xff, bytes);
        memset(shared + bytes, UNTOUCHED, BEHIND);
    }
    emulator.fibers.resize(T * CLUSTER);
    for (Fiber& fiber : emulator.fibers) {
        fiber.stack.resize(1 << 17);
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = fiber.stack.data();
        fiber.context.uc_stack.ss_size = fiber.stack.size();
        fiber.context.uc_link = nullptr;
        makecontext(&fiber.context, run_fiber, 0);
    }
    std::mt19937 random(seed);
    std::vector<unsigned> warps(T / 32), ranks(CLUSTER);
    for (unsigned i = 0; i < warps.size(); i++) warps[i] = i;
    for (unsigned i = 0; i < ranks.size(); i++) ranks[i] = i;
    int result = 0;
    for (unsigned left = T * CLUSTER; left > 0 && result == 0;) {
        bool any = false;
        std::shuffle(ranks.begin(), ranks.end(), random);
        for (unsigned rank : ranks) {
            // With even seeds a block goes on until it has to wait for others of its cluster, so that it is as far ahead of them as it can be.
            for (bool again = true; again;) {
                again = false;
                std::shuffle(warps.begin(), warps.end(), random);
                for (unsigned warp : warps) {
                    for (emulator.progressed = true; emulator.progressed; again |= emulator.progressed) {
                        emulator.progressed = false;
                        for (unsigned thread = rank * T + 32 * warp; thread < rank * T + 32 * warp + 32; thread++) {
                            if (emulator.fibers[thread].done) continue;
                            emulator.current = thread;
                            threadIdx = {thread % T, 0, 0};
                            blockIdx = {pack * CLUSTER + thread / T, model, 0};
                            swapcontext(&emulator.scheduler, &emulator.fibers[thread].context);
                            left -= emulator.fibers[thread].done;
                        }
                    }
                }
                any |= again;
                again &= seed % 2 == 0;
            }
        }
        if (!any) result = 1;
    }
    for (char* shared : emulator.shared) {
        for (unsigned i = 0; i < BEHIND; i++)
            if (shared[bytes + i] != UNTOUCHED) result = 2;
        free(shared);
    }
    return result;
}
