// Rung 6 in CUDA C++: 16-byte loads. The twin of rung_06_vectorised.py.
// Block 256, grid (columns / 128, rows / 128); M and N at least 128, N and K multiples of 4.
constexpr int BM = 128, BN = 128, BK = 8, TM = 8, TN = 8;
constexpr int ACROSS = BN / TN, WIDE_A = BK / 4, WIDE_B = BN / 4, LDA = BM + 4;

extern "C" __global__ void vectorised(const float* A, const float* B, float* C, int M, int N,
                                      int K) {
  __shared__ __align__(16) float sA[BK][LDA];
  __shared__ __align__(16) float sB[BK][BN];
  int tid = threadIdx.x;
  int own_row = blockIdx.y * BM, own_col = blockIdx.x * BN;
  int top = min(own_row, M - BM), left = min(own_col, N - BN);
  int y = tid / ACROSS * TM, x = tid % ACROSS * TN;
  int a_y = tid / WIDE_A, a_x = tid % WIDE_A * 4, b_y = tid / WIDE_B, b_x = tid % WIDE_B * 4;
  const float* from_a = A + (size_t)(top + a_y) * K + a_x;
  const float* from_b = B + (size_t)b_y * N + left + b_x;
  float sums[TM][TN] = {};
  int start = 0;
  for (; start + BK <= K; start += BK) {
    float4 four = *reinterpret_cast<const float4*>(from_a + start);
    *reinterpret_cast<float4*>(&sB[b_y][b_x]) =
        *reinterpret_cast<const float4*>(from_b + (size_t)start * N);
    sA[a_x][a_y] = four.x;
    sA[a_x + 1][a_y] = four.y;
    sA[a_x + 2][a_y] = four.z;
    sA[a_x + 3][a_y] = four.w;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      float a[TM], b[TN];
#pragma unroll
      for (int i = 0; i < TM; ++i) a[i] = sA[k][y + i];
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
    for (int j = 0; j < TN; j += 4) {
      int row = top + y + i, col = left + x + j;
      if (row >= own_row && col >= own_col)
        *reinterpret_cast<float4*>(C + (size_t)row * N + col) =
            make_float4(sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]);
    }
}
