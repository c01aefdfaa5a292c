// Rung 7 in CUDA C++: each warp owns a piece of the tile. The twin of rung_07_warp_tiled.py.
// Block 128, grid (columns / 128, rows / 128); M and N at least 128, N and K multiples of 4.
constexpr int BM = 128, BN = 128, BK = 16, WM = 64, WN = 64, TM = 8, TN = 16, THREADS = 128;
constexpr int WARPS_ACROSS = BN / WN, LANES_ACROSS = WN / TN, LANES_DOWN = WM / TM;
constexpr int WIDE_A = BK / 4, WIDE_B = BN / 4, A_ROWS = THREADS / WIDE_A, B_ROWS = THREADS / WIDE_B;
constexpr int A_APART = 4 * LANES_DOWN, B_APART = 4 * LANES_ACROSS, LDA = BM + 4;

extern "C" __global__ void warp_tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ __align__(16) float sA[BK][LDA];
  __shared__ __align__(16) float sB[BK][BN];
  int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
  int own_row = blockIdx.y * BM, own_col = blockIdx.x * BN;
  int top = min(own_row, M - BM), left = min(own_col, N - BN);
  int y = warp / WARPS_ACROSS * WM + lane / LANES_ACROSS * 4;
  int x = warp % WARPS_ACROSS * WN + lane % LANES_ACROSS * 4;
  int a_y = tid / WIDE_A, a_x = tid % WIDE_A * 4, b_y = tid / WIDE_B, b_x = tid % WIDE_B * 4;
  const float* from_a = A + (size_t)(top + a_y) * K + a_x;
  const float* from_b = B + (size_t)b_y * N + left + b_x;
  float sums[TM][TN] = {};
  int start = 0;
  for (; start + BK <= K; start += BK) {
#pragma unroll
    for (int s = 0; s < BM / A_ROWS; ++s) {
      *reinterpret_cast<float4*>(&sB[b_y + s * B_ROWS][b_x]) =
          *reinterpret_cast<const float4*>(from_b + (size_t)(start + s * B_ROWS) * N);
      float4 four =
          *reinterpret_cast<const float4*>(from_a + (size_t)s * A_ROWS * K + start);
      sA[a_x][a_y + s * A_ROWS] = four.x;
      sA[a_x + 1][a_y + s * A_ROWS] = four.y;
      sA[a_x + 2][a_y + s * A_ROWS] = four.z;
      sA[a_x + 3][a_y + s * A_ROWS] = four.w;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      float a[TM], b[TN];
#pragma unroll
      for (int i = 0; i < TM; ++i) a[i] = sA[k][y + i / 4 * A_APART + i % 4];
#pragma unroll
      for (int j = 0; j < TN; ++j) b[j] = sB[k][x + j / 4 * B_APART + j % 4];
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) sums[i][j] += a[i] * b[j];
    }
    __syncthreads();
  }
  for (; start < K; ++start) {
    float a[TM], b[TN];
#pragma unroll
    for (int i = 0; i < TM; ++i)
      a[i] = A[(size_t)(top + y + i / 4 * A_APART + i % 4) * K + start];
#pragma unroll
    for (int j = 0; j < TN; ++j)
      b[j] = B[(size_t)start * N + left + x + j / 4 * B_APART + j % 4];
#pragma unroll
    for (int i = 0; i < TM; ++i)
#pragma unroll
      for (int j = 0; j < TN; ++j) sums[i][j] += a[i] * b[j];
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
