// C++ twin of course_lib/kernels/rung_11_wgmma.py: the same tiles, stages and swizzle.
#include <cstdint>

constexpr int BM = 128, BN = 256, BK = 64, STAGES = 4, THREADS = 256;
constexpr int A_TILE = BM * BK, B_PANEL = BK * 64, STAGE = A_TILE + 4 * B_PANEL;
// As in course_lib/intrinsics/hopper.py: 128-byte swizzle, eight rows on, 64 columns on.
constexpr uint64_t DESCRIBE_A = 1ull << 62 | 64ull << 32 | 1ull << 16;
constexpr uint64_t DESCRIBE_B = 1ull << 62 | 64ull << 32 | 512ull << 16;

__device__ __forceinline__ void copy16(uint32_t shared, const uint16_t *source) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(source) : "memory");
}

__device__ __forceinline__ uint64_t describe(uint32_t shared, uint64_t how) {
    return uint64_t(shared >> 4 & 0x3FFF) | how;
}

#define SUMS                                                                    \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
    "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}"
#define STEP(A, B)                       \
    "add.s64 a, %128, " #A ";\n"         \
    "add.s64 b, %129, " #B ";\n"         \
    "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 " SUMS ", a, b, 1, 1, 1, 0, 1;\n"

__device__ __forceinline__ void multiply(float (&d)[128], uint64_t a, uint64_t b) {
    asm volatile(
        "{\n.reg .b64 a, b;\nwgmma.fence.sync.aligned;\n" STEP(0, 0) STEP(2, 128) STEP(4, 256)
            STEP(6, 384) "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 1;\n}\n"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]),
          "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
          "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]),
          "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
          "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]),
          "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
          "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
          "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
          "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]),
          "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
          "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]),
          "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
          "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]),
          "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
          "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]),
          "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]),
          "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]),
          "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]),
          "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]),
          "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]),
          "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]),
          "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]),
          "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]),
          "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]),
          "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]),
          "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]),
          "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]),
          "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111]),
          "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]),
          "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]),
          "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123]),
          "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])
        : "l"(a), "l"(b)
        : "memory");
}

__device__ __forceinline__ void wait_for(float (&d)[128]) {
    asm volatile("wgmma.wait_group.sync.aligned 0;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]),
          "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
          "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]),
          "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
          "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]),
          "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
          "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
          "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
          "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]),
          "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
          "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]),
          "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
          "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]),
          "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
          "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]),
          "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]),
          "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]),
          "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]),
          "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]),
          "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]),
          "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]),
          "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]),
          "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]),
          "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]),
          "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]),
          "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]),
          "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]),
          "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111]),
          "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]),
          "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]),
          "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123]),
          "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])
        :
        : "memory");
}

extern "C" __global__ void __launch_bounds__(THREADS)
    wgmma(const uint16_t *__restrict__ A, const uint16_t *__restrict__ B, float *__restrict__ C,
          int M, int N, int K) {
    extern __shared__ __align__(1024) uint16_t tiles[];
    const uint32_t base = static_cast<uint32_t>(__cvta_generic_to_shared(tiles));
    const uint32_t tid = threadIdx.x, lane = tid % 32, warp = tid / 32, group = warp / 4;
    const uint32_t top = blockIdx.y * BM, left = blockIdx.x * BN;

    const uint16_t *from_a[4];
    for (int s = 0; s < 4; ++s)
        from_a[s] = A + size_t(min(top + tid / 8 + s * 32, M - 1u)) * K + tid % 8 * 8;
    const uint16_t *from_b = B + size_t(tid / 32) * N + min(left + lane * 8, N - 8u);
    const size_t b_step = size_t(8) * N;
    const uint32_t to_a = base + 2 * (tid / 8 * BK + (tid % 8 ^ tid / 8 % 8) * 8);
    const uint32_t to_b =
        base + 2 * (A_TILE + lane / 8 * B_PANEL + warp * 64 + (lane % 8 ^ warp) * 8);

    int fetched = 0;
    uint32_t slot = 0, here = 0;  // bytes
    auto start_copy = [&]() {
        if (fetched < K) {
#pragma unroll
            for (int s = 0; s < 4; ++s) copy16(to_a + slot + s * 64 * BK, from_a[s]);
#pragma unroll
            for (int s = 0; s < 8; ++s) copy16(to_b + slot + s * 1024, from_b + s * b_step);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
#pragma unroll
        for (int s = 0; s < 4; ++s) from_a[s] += BK;
        from_b += size_t(BK) * N;
        fetched += BK;
        slot = slot < 2 * STAGE * (STAGES - 1) ? slot + 2 * STAGE : 0;
    };

    float sums[128] = {};
    for (int s = 0; s < STAGES - 2; ++s) start_copy();
#pragma unroll 1
    for (int start = 0; start < K; start += BK) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 3) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        multiply(sums, describe(base + here + group * 128 * BK, DESCRIBE_A),
                 describe(base + here + 2 * A_TILE, DESCRIBE_B));
        start_copy();
        here = here < 2 * STAGE * (STAGES - 1) ? here + 2 * STAGE : 0;
    }
    wait_for(sums);

    const uint32_t x = left + lane % 4 * 2;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const uint32_t y = top + warp * 16 + h * 8 + lane / 4;
        if (y >= M) continue;
#pragma unroll
        for (int j = 0; j < 32; ++j)
            if (x + j * 8 < N)
                *reinterpret_cast<float2 *>(C + size_t(y) * N + x + j * 8) =
                    make_float2(sums[4 * j + 2 * h], sums[4 * j + 2 * h + 1]);
    }
}
