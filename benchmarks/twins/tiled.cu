// Rung 3 in CUDA C++: tiles in shared memory. The twin of rung_03_tiled.py.
// Block (32, 32), grid (columns / 32, rows / 32).
constexpr int TILE = 32;

extern "C" __global__ void tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float sA[TILE][TILE];
  __shared__ float sB[TILE][TILE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int col = blockIdx.x * TILE + tx, row = blockIdx.y * TILE + ty;
  float total = 0.0f;
  for (int start = 0; start < K; start += TILE) {
    sA[ty][tx] = row < M && start + tx < K ? A[(size_t)row * K + start + tx] : 0.0f;
    sB[ty][tx] = start + ty < K && col < N ? B[(size_t)(start + ty) * N + col] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE; ++k) total += sA[ty][k] * sB[k][tx];
    __syncthreads();
  }
  if (row < M && col < N) C[(size_t)row * N + col] = total;
}
