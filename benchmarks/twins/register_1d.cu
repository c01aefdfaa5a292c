// Rung 4 in CUDA C++: 8 outputs a thread, in a column. The twin of rung_04_register_1d.py.
// Block 512, grid (columns / 64, rows / 64); M and N at least 64.
constexpr int BM = 64, BN = 64, BK = 8, TM = 8;

extern "C" __global__ void register_1d(const float* A, const float* B, float* C, int M, int N,
                                       int K) {
  __shared__ float sA[BM][BK];
  __shared__ float sB[BK][BN];
  int tid = threadIdx.x;
  int own_row = blockIdx.y * BM, own_col = blockIdx.x * BN;
  int top = min(own_row, M - BM), left = min(own_col, N - BN);
  int y = tid / BN * TM, x = tid % BN;
  int a_y = tid / BK, a_x = tid % BK, b_y = tid / BN;
  const float* from_a = A + (size_t)(top + a_y) * K + a_x;
  const float* from_b = B + (size_t)b_y * N + left + x;
  float sums[TM] = {};
  int start = 0;
  for (; start + BK <= K; start += BK) {
    sA[a_y][a_x] = from_a[start];
    sB[b_y][x] = from_b[(size_t)start * N];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      float b = sB[k][x];
#pragma unroll
      for (int i = 0; i < TM; ++i) sums[i] += sA[y + i][k] * b;
    }
    __syncthreads();
  }
  for (; start < K; ++start) {
    float b = B[(size_t)start * N + left + x];
#pragma unroll
    for (int i = 0; i < TM; ++i) sums[i] += A[(size_t)(top + y + i) * K + start] * b;
  }
#pragma unroll
  for (int i = 0; i < TM; ++i)
    if (top + y + i >= own_row && left + x >= own_col)
      C[(size_t)(top + y + i) * N + left + x] = sums[i];
}
