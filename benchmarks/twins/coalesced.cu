// Rung 2 in CUDA C++: a warp runs along a row of C. The twin of rung_02_coalesced.py.
// Block (32, 32), grid (columns / 32, rows / 32).
extern "C" __global__ void coalesced(const float* A, const float* B, float* C, int M, int N, int K) {
  int col = blockIdx.x * 32 + threadIdx.x;
  int row = blockIdx.y * 32 + threadIdx.y;
  if (row < M && col < N) {
    float total = 0.0f;
#pragma unroll 16
    for (int k = 0; k < K; ++k) total += A[(size_t)row * K + k] * B[(size_t)k * N + col];
    C[(size_t)row * N + col] = total;
  }
}
