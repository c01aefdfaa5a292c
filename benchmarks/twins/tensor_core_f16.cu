// C++ twin of course_lib/kernels/rung_10_tensor_core_f16.py: the same tiles and fragments.
#include <cstdint>
#include <cuda_fp16.h>

constexpr int BM = 128, BN = 128, BK = 32, THREADS = 256;
constexpr int A_WIDE = BK + 8, B_WIDE = BN + 8;  // numbers from one row of a tile to the next

__device__ __forceinline__ void load_matrices(uint32_t (&r)[4], uint32_t shared) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared)
                 : "memory");
}

__device__ __forceinline__ void load_transposed(uint32_t (&r)[4], uint32_t shared) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared)
                 : "memory");
}

__device__ __forceinline__ void multiply(float (&c)[4], uint32_t a0, uint32_t a1, uint32_t b) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a0), "r"(a1), "r"(b));
}

__device__ __forceinline__ uint4 load16(const __half *from) {
    return *reinterpret_cast<const uint4 *>(from);
}

__device__ __forceinline__ void store16(__half *to, uint4 words) {
    *reinterpret_cast<uint4 *>(to) = words;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    tensor_core_f16(const __half *__restrict__ A, const __half *__restrict__ B,
                    float *__restrict__ C, int M, int N, int K) {
    __shared__ __align__(16) __half sA[BM * A_WIDE];
    __shared__ __align__(16) __half sB[BK * B_WIDE];
    const uint32_t tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
    const uint32_t top = blockIdx.y * BM, left = blockIdx.x * BN;
    const uint32_t down = warp / 4 * 64, across = warp % 4 * 32;

    const __half *from_above = A + size_t(min(top + tid / 4, M - 1u)) * K + tid % 4 * 8;
    const __half *from_below = A + size_t(min(top + tid / 4 + 64, M - 1u)) * K + tid % 4 * 8;
    const __half *from_b = B + size_t(tid / 16) * N + min(left + tid % 16 * 8, N - 8u);
    const uint32_t to_a = tid / 4 * A_WIDE + tid % 4 * 8;
    const uint32_t to_b = tid / 16 * B_WIDE + tid % 16 * 8;
    const uint32_t a_at = static_cast<uint32_t>(__cvta_generic_to_shared(sA)) +
                          2 * ((down + lane % 16) * A_WIDE + lane / 16 * 8);
    const uint32_t b_at = static_cast<uint32_t>(__cvta_generic_to_shared(sB)) +
                          2 * (lane % 16 * B_WIDE + across + lane / 16 * 8);

    float sums[4][4][4] = {};
    uint4 a_above = load16(from_above), a_below = load16(from_below);
    uint4 b_above = load16(from_b), b_below = load16(from_b + size_t(16) * N);
    int start = 0;
    while (start < K) {
        __syncthreads();
        store16(sA + to_a, a_above);
        store16(sA + to_a + 64 * A_WIDE, a_below);
        store16(sB + to_b, b_above);
        store16(sB + to_b + 16 * B_WIDE, b_below);
        __syncthreads();
        start += BK;
        if (start < K) {
            from_above += BK;
            from_below += BK;
            from_b += size_t(BK) * N;
            a_above = load16(from_above), a_below = load16(from_below);
            b_above = load16(from_b), b_below = load16(from_b + size_t(16) * N);
        }
#pragma unroll
        for (int k = 0; k < 2; ++k) {
            uint32_t a[4][4], b[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) load_matrices(a[i], a_at + 2 * (i * 16 * A_WIDE + k * 16));
#pragma unroll
            for (int j = 0; j < 4; j += 2) {
                load_transposed(b, b_at + 2 * (k * 16 * B_WIDE + j * 8));
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    multiply(sums[i][j], a[i][0], a[i][1], b[0]);
                    multiply(sums[i][j], a[i][2], a[i][3], b[1]);
                    multiply(sums[i][j + 1], a[i][0], a[i][1], b[2]);
                    multiply(sums[i][j + 1], a[i][2], a[i][3], b[3]);
                }
            }
        }
    }

    const uint32_t x = left + across + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            const uint32_t y = top + down + i * 16 + h * 8 + lane / 4;
            if (y >= M) continue;
#pragma unroll
            for (int j = 0; j < 4; ++j)
                if (x + j * 8 < N)
                    *reinterpret_cast<float2 *>(C + size_t(y) * N + x + j * 8) =
                        make_float2(sums[i][j][2 * h], sums[i][j][2 * h + 1]);
        }
}
