// What padding gains a transpose and costs a tiled matmul, in CUDA C++; lesson 07 quotes it.
// bank_conflicts.py builds and runs it.
// A line: kernel, then the median of 15 launches in ms (CUDA events, one launch to warm up).
#include <algorithm>
#include <cstdio>
typedef const float *__restrict__ In;
const int S = 16384, N = 4096;  // edges of the transposed and the multiplied matrices
template <int W, int BITS>      // words in a row of the tile; bits of the row that XOR mixes in
__global__ void turn(In A, float *B) {
  __shared__ float t[32][W];
  int x = threadIdx.x, y = threadIdx.y, l = 32 * blockIdx.x, u = 32 * blockIdx.y;
  t[y][x ^ (y & BITS)] = A[(size_t)(u + y) * S + l + x];
  __syncthreads();
  B[(size_t)(l + y) * S + u + x] = t[x][y ^ (x & BITS)];
}
__global__ void plain(In A, float *B, int turned) {
  int x = 32 * blockIdx.x + threadIdx.x, y = 32 * blockIdx.y + threadIdx.y;
  B[turned ? (size_t)x * S + y : (size_t)y * S + x] = A[(size_t)y * S + x];
}
template <int T, int W>
__global__ void mm(In A, In B, float *C) {
  __shared__ float a[T][W], b[T][W];
  int x = threadIdx.x, y = threadIdx.y, c = T * blockIdx.x + x, r = T * blockIdx.y + y;
  float s = 0;
  for (int k = 0; k < N; k += T) {
    a[y][x] = A[r * N + k + x];
    b[y][x] = B[(k + y) * N + c];
    __syncthreads();
    for (int i = 0; i < T; i++) s += a[y][i] * b[i][x];
    __syncthreads();
  }
  C[r * N + c] = s;
}
template <class F>
void row(const char *name, F launch) {
  cudaEvent_t p, q;
  cudaEventCreate(&p), cudaEventCreate(&q);
  float ms[16];
  for (float &m : ms) {
    cudaEventRecord(p), launch(), cudaEventRecord(q);
    cudaEventSynchronize(q), cudaEventElapsedTime(&m, p, q);
  }
  std::sort(ms + 1, ms + 16);
  printf("%s %.4f\n", name, ms[8]);
}
int main() {
  float *A, *B;
  cudaMalloc(&A, 4ll * S * S), cudaMalloc(&B, 4ll * S * S), cudaMemset(A, 0, 4ll * S * S);
  dim3 g(S / 32, S / 32), b(32, 32), h(16, 16);
#define ROW(name, f, g, b, ...) row(name, [&] { f<<<g, b>>>(__VA_ARGS__); })
  for (int again = 0; again < 3; again++) {
    ROW("copy", plain, g, b, A, B, 0);
    ROW("no-tile", plain, g, b, A, B, 1);
    ROW("tile-32", (turn<32, 0>), g, b, A, B);
    ROW("tile-33", (turn<33, 0>), g, b, A, B);
    ROW("xor-7", (turn<32, 7>), g, b, A, B);
    ROW("xor-31", (turn<32, 31>), g, b, A, B);
    ROW("matmul-32", (mm<32, 32>), dim3(128, 128), b, A, A, B);
    ROW("matmul-32-padded", (mm<32, 33>), dim3(128, 128), b, A, A, B);
    ROW("matmul-16", (mm<16, 16>), dim3(256, 256), h, A, A, B);
    ROW("matmul-16-padded", (mm<16, 17>), dim3(256, 256), h, A, A, B);
  }
  printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
