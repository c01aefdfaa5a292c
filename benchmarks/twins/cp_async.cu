// Rung 9 in CUDA C++: cp.async from global to shared memory. The twin of rung_09_cp_async.py.
// Block 256, grid (columns / 256, rows / 128); M at least 128, N at least 256, N and K multiples of 4.
constexpr int BM = 128, BN = 256, BK = 8, WM = 64, WN = 64, TM = 8, TN = 16, THREADS = 256, MEET = 1;
constexpr int WARPS_ACROSS = BN / WN, WIDE_B = BN / 4, LDA = BM + 4;
constexpr int A_ROWS = THREADS / BK, B_ROWS = THREADS / WIDE_B, A_APART = 32, B_APART = 16;

__device__ inline float4 load4(const float* from) { return *reinterpret_cast<const float4*>(from); }

__device__ inline void copy4(float* shared, const float* source, bool valid) {
  unsigned to = (unsigned)__cvta_generic_to_shared(shared);
  size_t from = __cvta_generic_to_global(source);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from),
               "r"(valid ? 4 : 0)
               : "memory");
}

__device__ inline void copy16(float* shared, const float* source, bool valid) {
  unsigned to = (unsigned)__cvta_generic_to_shared(shared);
  size_t from = __cvta_generic_to_global(source);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
               "r"(valid ? 16 : 0)
               : "memory");
}

struct Pair {
  float a[BK][LDA], b[BK][BN];
};

extern "C" __global__ void cp_async(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ __align__(16) Pair tiles[3];
  int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
  int own_row = blockIdx.y * BM, own_col = blockIdx.x * BN;
  int top = min(own_row, M - BM), left = min(own_col, N - BN);
  int y = warp / WARPS_ACROSS * WM + (lane / 2 % 2 + lane / 8 * 2) * 4;
  int x = warp % WARPS_ACROSS * WN + (lane % 2 + lane / 4 % 2 * 2) * 4;
  int a_y = tid / BK, a_x = tid % BK, b_y = tid / WIDE_B, b_x = tid % WIDE_B * 4;
  const float* from_a = A + (size_t)(top + a_y) * K + a_x;
  const float* from_b = B + (size_t)b_y * N + left + b_x;
  float sums[TM][TN] = {}, a[2][TM], b[2][TN];
  auto copy = [&](Pair& to, int at) {
#pragma unroll
    for (int s = 0; s < BM / A_ROWS; ++s)
      copy4(&to.a[a_x][a_y + s * A_ROWS], from_a + (size_t)s * A_ROWS * K, at + a_x < K);
#pragma unroll
    for (int s = 0; s < BK / B_ROWS; ++s)
      copy16(&to.b[b_y + s * B_ROWS][b_x], from_b + (size_t)s * B_ROWS * N,
             at + s * B_ROWS + b_y < K);
    asm volatile("cp.async.commit_group;" ::: "memory");
    from_a += BK;
    from_b += (size_t)BK * N;
  };
  auto take = [&](const Pair& from, int k, int into) {
#pragma unroll
    for (int g = 0; g < TM / 4; ++g)
      *reinterpret_cast<float4*>(&a[into][4 * g]) = load4(&from.a[k][y + g * A_APART]);
#pragma unroll
    for (int g = 0; g < TN / 4; ++g)
      *reinterpret_cast<float4*>(&b[into][4 * g]) = load4(&from.b[k][x + g * B_APART]);
  };
  copy(tiles[0], 0);
  copy(tiles[1], BK);
  asm volatile("cp.async.wait_group 1;" ::: "memory");
  __syncthreads();
  take(tiles[0], 0, 0);
  Pair *now = tiles, *coming = tiles + 1, *free = tiles + 2;
  for (int start = 0; start < K; start += BK) {
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      if (k == MEET) {
        asm volatile("cp.async.wait_group 0;" ::: "memory");
        __syncthreads();
      }
      if (k == BK - 1) {
        Pair* last = now;
        now = coming, coming = free, free = last;
      }
      take(*now, (k + 1) % BK, (k + 1) % 2);
      if (k == MEET) copy(*free, start + 2 * BK);
#pragma unroll
      for (int j = 0; j < TN; ++j)
#pragma unroll
        for (int i = 0; i < TM; ++i) sums[i][j] += a[k % 2][i] * b[k % 2][j];
    }
  }
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; j += 4) {
      int row = top + y + i / 4 * A_APART + i % 4, col = left + x + j / 4 * B_APART;
      if (row >= own_row && col >= own_col)
        *reinterpret_cast<float4*>(C + (size_t)row * N + col) =
            make_float4(sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]);
    }
}
