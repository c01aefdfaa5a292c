// Rung 1 in CUDA C++: one thread computes one output; a warp runs down a column of C.
// The twin of course_lib/kernels/rung_01_naive.py. Block (32, 32), grid (rows / 32, columns / 32).
extern "C" __global__ void naive(const float* A, const float* B, float* C, int M, int N, int K) {
  int row = blockIdx.x * 32 + threadIdx.x;
  int col = blockIdx.y * 32 + threadIdx.y;
  if (row < M && col < N) {
    float total = 0.0f;
    for (int k = 0; k < K; ++k) total += A[(size_t)row * K + k] * B[(size_t)k * N + col];
    C[(size_t)row * N + col] = total;
  }
}
