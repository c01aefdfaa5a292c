// C++ twin of course_lib/kernels/rung_10_tensor_core_tf32.py: the same tiles, fragments and stages.
#include <cstdint>

constexpr int BM = 128, BN = 256, BK = 16, STAGES = 3, THREADS = 256, SIZE = sizeof(float);
constexpr int A_WIDE = BK + 4, B_WIDE = BN + 8;  // numbers from one row of a tile to the next
constexpr int A_TILE = BM * A_WIDE, STAGE = A_TILE + BK * B_WIDE;

__device__ __forceinline__ void copy16(uint32_t shared, const float *source) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(source) : "memory");
}

__device__ __forceinline__ void load_fragments(uint32_t (&a)[4][4], uint32_t (&b)[8][2],
                                               uint32_t a_at, uint32_t b_at) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(a[i][0]), "=r"(a[i][1]), "=r"(a[i][2]), "=r"(a[i][3])
                     : "r"(a_at + SIZE * i * 16 * A_WIDE)
                     : "memory");
#pragma unroll
    for (int j = 0; j < 8; ++j) {
        asm volatile("ld.shared.b32 %0, [%1];" : "=r"(b[j][0]) : "r"(b_at + 4 * j * 8) : "memory");
        asm volatile("ld.shared.b32 %0, [%1];"
                     : "=r"(b[j][1])
                     : "r"(b_at + 4 * (j * 8 + 4 * B_WIDE))
                     : "memory");
    }
}

__device__ __forceinline__ void multiply(float (&sums)[4][8][4], const uint32_t (&a)[4][4],
                                         const uint32_t (&b)[8][2]) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j)
            asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
                "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                : "+f"(sums[i][j][0]), "+f"(sums[i][j][1]), "+f"(sums[i][j][2]), "+f"(sums[i][j][3])
                : "r"(a[i][0]), "r"(a[i][1]), "r"(a[i][2]), "r"(a[i][3]), "r"(b[j][0]),
                  "r"(b[j][1]));
}

extern "C" __global__ void __launch_bounds__(THREADS)
    tensor_core_tf32(const float *__restrict__ A, const float *__restrict__ B,
                     float *__restrict__ C, int M, int N, int K) {
    extern __shared__ __align__(16) float tiles[];
    const uint32_t base = static_cast<uint32_t>(__cvta_generic_to_shared(tiles));
    const uint32_t tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
    const uint32_t top = blockIdx.y * BM, left = blockIdx.x * BN;
    const uint32_t down = warp / 4 * 64, across = warp % 4 * 64;

    const float *from_a[2];
    for (int s = 0; s < 2; ++s)
        from_a[s] = A + size_t(min(top + tid / 4 + s * 64, M - 1u)) * K + tid % 4 * 4;
    const float *from_b = B + size_t(tid / 64) * N + min(left + tid % 64 * 4, N - 4u);
    const uint32_t to_a = base + SIZE * (tid / 4 * A_WIDE + tid % 4 * 4);
    const uint32_t to_b = base + SIZE * (A_TILE + tid / 64 * B_WIDE + tid % 64 * 4);
    const uint32_t a_at = base + SIZE * ((down + lane % 16) * A_WIDE + lane / 16 * 4);
    const uint32_t b_at = base + SIZE * (A_TILE + lane % 4 * B_WIDE + across + lane / 4);

    int fetched = 0;
    auto start_copy = [&](uint32_t slot) {
        if (fetched < K) {
#pragma unroll
            for (int s = 0; s < 2; ++s) copy16(to_a + slot + SIZE * s * 64 * A_WIDE, from_a[s]);
#pragma unroll
            for (int s = 0; s < 4; ++s)
                copy16(to_b + slot + SIZE * s * 4 * B_WIDE, from_b + size_t(s) * 4 * N);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
        from_a[0] += BK;
        from_a[1] += BK;
        from_b += size_t(BK) * N;
        fetched += BK;
    };

    float sums[4][8][4] = {};
    uint32_t a[2][4][4], b[2][8][2];
    for (int s = 0; s < STAGES; ++s) start_copy(SIZE * s * STAGE);
    asm volatile("cp.async.wait_group 2;" ::: "memory");
    __syncthreads();
    load_fragments(a[0], b[0], a_at, b_at);

    int start = 0;
    uint32_t here = 0;  // bytes
    while (start < K) {
        load_fragments(a[1], b[1], here + a_at + SIZE * 8, here + b_at + SIZE * 8 * B_WIDE);
        multiply(sums, a[0], b[0]);
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        const uint32_t used = here;
        here = here < SIZE * STAGE * (STAGES - 1) ? here + SIZE * STAGE : 0;
        start += BK;
        if (start < K) load_fragments(a[0], b[0], here + a_at, here + b_at);
        start_copy(used);
        multiply(sums, a[1], b[1]);
    }

    const uint32_t x = left + across + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            const uint32_t y = top + down + i * 16 + h * 8 + lane / 4;
            if (y >= M) continue;
#pragma unroll
            for (int j = 0; j < 8; ++j)
                if (x + j * 8 < N)
                    *reinterpret_cast<float2 *>(C + size_t(y) * N + x + j * 8) =
                        make_float2(sums[i][j][2 * h], sums[i][j][2 * h + 1]);
        }
}
