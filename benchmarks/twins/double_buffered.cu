// Rung 8 in CUDA C++: two buffers, and everything a step ahead. The twin of
// rung_08_double_buffered.py. Block 256, grid (columns / 128, rows / 128); M and N at least 128, N and
// K multiples of 4.
constexpr int BM = 128, BN = 128, BK = 8, WM = 64, WN = 32, TM = 8, TN = 8, THREADS = 256;
constexpr int WARPS_ACROSS = BN / WN, LANES_ACROSS = WN / TN, LANES_DOWN = WM / TM;
constexpr int WIDE_A = BK / 4, WIDE_B = BN / 4, LDA = BM + 4;
constexpr int A_APART = 4 * LANES_DOWN, B_APART = 4 * LANES_ACROSS;

__device__ inline float4 load4(const float* from) { return *reinterpret_cast<const float4*>(from); }

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    double_buffered(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ __align__(16) float sA[2][BK][LDA];
  __shared__ __align__(16) float sB[2][BK][BN];
  int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
  int own_row = blockIdx.y * BM, own_col = blockIdx.x * BN;
  int top = min(own_row, M - BM), left = min(own_col, N - BN);
  int y = warp / WARPS_ACROSS * WM + lane / LANES_ACROSS * 4;
  int x = warp % WARPS_ACROSS * WN + lane % LANES_ACROSS * 4;
  int a_y = tid / WIDE_A, a_x = tid % WIDE_A * 4, b_y = tid / WIDE_B, b_x = tid % WIDE_B * 4;
  const float* from_a = A + (size_t)(top + a_y) * K + a_x;
  const float* from_b = B + (size_t)b_y * N + left + b_x;
  float sums[TM][TN] = {}, a[2][TM], b[2][TN];
  float4 next_a, next_b;
  auto store = [&](int buffer) {
    *reinterpret_cast<float4*>(&sB[buffer][b_y][b_x]) = next_b;
    sA[buffer][a_x][a_y] = next_a.x;
    sA[buffer][a_x + 1][a_y] = next_a.y;
    sA[buffer][a_x + 2][a_y] = next_a.z;
    sA[buffer][a_x + 3][a_y] = next_a.w;
  };
  auto take = [&](int buffer, int k, int into) {
#pragma unroll
    for (int g = 0; g < TM / 4; ++g)
      *reinterpret_cast<float4*>(&a[into][4 * g]) = load4(&sA[buffer][k][y + g * A_APART]);
#pragma unroll
    for (int g = 0; g < TN / 4; ++g)
      *reinterpret_cast<float4*>(&b[into][4 * g]) = load4(&sB[buffer][k][x + g * B_APART]);
  };
  int whole = K / BK * BK, start = 0, now = 0;
  if (whole > 0) {
    next_a = load4(from_a);
    next_b = load4(from_b);
    store(0);
    __syncthreads();
    take(0, 0, 0);
  }
  while (start < whole) {
    start += BK;
    if (start < whole) {
      next_a = load4(from_a + start);
      next_b = load4(from_b + (size_t)start * N);
    }
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      if (k == BK - 1) {
        if (start < whole) {
          now = 1 - now;
          store(now);
        }
        __syncthreads();
      }
      take(now, (k + 1) % BK, (k + 1) % 2);
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) sums[i][j] += a[k % 2][i] * b[k % 2][j];
    }
  }
  for (; start < K; ++start) {
#pragma unroll
    for (int i = 0; i < TM; ++i)
      a[0][i] = A[(size_t)(top + y + i / 4 * A_APART + i % 4) * K + start];
#pragma unroll
    for (int j = 0; j < TN; ++j)
      b[0][j] = B[(size_t)start * N + left + x + j / 4 * B_APART + j % 4];
#pragma unroll
    for (int i = 0; i < TM; ++i)
#pragma unroll
      for (int j = 0; j < TN; ++j) sums[i][j] += a[0][i] * b[0][j];
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
