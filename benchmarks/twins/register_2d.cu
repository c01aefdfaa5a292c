// Rung 5 in CUDA C++: 8 x 8 outputs a thread. The twin of rung_05_register_2d.py.
// Block 256, grid (columns / 128, rows / 128); M and N at least 128.
constexpr int BM = 128, BN = 128, BK = 8, TM = 8, TN = 8, THREADS = 256;
constexpr int ACROSS = BN / TN, A_ROWS = THREADS / BK, B_ROWS = THREADS / BN;

extern "C" __global__ void register_2d(const float* A, const float* B, float* C, int M, int N,
                                       int K) {
  __shared__ float sA[BM][BK];
  __shared__ float sB[BK][BN];
  int tid = threadIdx.x;
  int own_row = blockIdx.y * BM, own_col = blockIdx.x * BN;
  int top = min(own_row, M - BM), left = min(own_col, N - BN);
  int y = tid / ACROSS * TM, x = tid % ACROSS * TN;
  int a_y = tid / BK, a_x = tid % BK, b_y = tid / BN, b_x = tid % BN;
  const float* from_a = A + (size_t)(top + a_y) * K + a_x;
  const float* from_b = B + (size_t)b_y * N + left + b_x;
  float sums[TM][TN] = {};
  int start = 0;
  for (; start + BK <= K; start += BK) {
#pragma unroll
    for (int s = 0; s < BM / A_ROWS; ++s)
      sA[a_y + s * A_ROWS][a_x] = from_a[(size_t)s * A_ROWS * K + start];
#pragma unroll
    for (int s = 0; s < BK / B_ROWS; ++s)
      sB[b_y + s * B_ROWS][b_x] = from_b[(size_t)(start + s * B_ROWS) * N];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      float a[TM], b[TN];
#pragma unroll
      for (int i = 0; i < TM; ++i) a[i] = sA[y + i][k];
#pragma unroll
      for (int j = 0; j < TN; ++j) b[j] = sB[k][x + j];
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
    for (int i = 0; i < TM; ++i) a[i] = A[(size_t)(top + y + i) * K + start];
#pragma unroll
    for (int j = 0; j < TN; ++j) b[j] = B[(size_t)start * N + left + x + j];
#pragma unroll
    for (int i = 0; i < TM; ++i)
#pragma unroll
      for (int j = 0; j < TN; ++j) sums[i][j] += a[i] * b[j];
  }
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j)
      if (top + y + i >= own_row && left + x + j >= own_col)
        C[(size_t)(top + y + i) * N + left + x + j] = sums[i][j];
}
