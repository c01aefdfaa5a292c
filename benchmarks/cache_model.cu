// Three matmul kernels for the comparison of the cache model with hardware: cache_model.py runs them.
//
//   ./cache_model KERNEL N      one launch of naive, coalesced or tiled, blocks of 32 x 32
//   ./cache_model device        what the model has to know of this GPU

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

constexpr int TILE = 32;
using Kernel = void (*)(const float*, const float*, float*, int);

__device__ void dot(const float* A, const float* B, float* C, int n, int row, int column) {
  float sum = 0.0f;
  for (int k = 0; k < n; k++) sum += A[row * n + k] * B[k * n + column];
  C[row * n + column] = sum;
}

// A warp runs down a column of C.
__global__ void naive(const float* A, const float* B, float* C, int n) {
  dot(A, B, C, n, blockIdx.y * TILE + threadIdx.x, blockIdx.x * TILE + threadIdx.y);
}

// A warp runs along a row of C.
__global__ void coalesced(const float* A, const float* B, float* C, int n) {
  dot(A, B, C, n, blockIdx.y * TILE + threadIdx.y, blockIdx.x * TILE + threadIdx.x);
}

__global__ void tiled(const float* A, const float* B, float* C, int n) {
  __shared__ float sA[TILE][TILE], sB[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0.0f;
  for (int first = 0; first < n; first += TILE) {
    sA[threadIdx.y][threadIdx.x] = A[row * n + first + threadIdx.x];
    sB[threadIdx.y][threadIdx.x] = B[(first + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < TILE; k++) sum += sA[threadIdx.y][k] * sB[k][threadIdx.x];
    __syncthreads();
  }
  C[row * n + column] = sum;
}

struct Named { const char* name; Kernel kernel; };
const Named KERNELS[] = {{"naive", naive}, {"coalesced", coalesced}, {"tiled", tiled}};

void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  fprintf(stderr, "%s\n", cudaGetErrorString(status));
  exit(1);
}

void describe() {
  cudaDeviceProp gpu;
  check(cudaGetDeviceProperties(&gpu, 0));
  printf("{\"name\": \"%s\", \"sms\": %d, \"l2_bytes\": %d", gpu.name, gpu.multiProcessorCount,
         gpu.l2CacheSize);
  for (const Named& each : KERNELS) {
    int blocks = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, each.kernel, TILE * TILE, 0));
    printf(", \"%s\": %d", each.name, blocks);
  }
  printf("}\n");
}

int main(int count, char** words) {
  if (count == 2 && !strcmp(words[1], "device")) return describe(), 0;
  if (count != 3 || atoi(words[2]) % TILE) return fprintf(stderr, "see the top of the file\n"), 2;
  int n = atoi(words[2]);
  size_t bytes = sizeof(float) * n * n;
  float *A, *B, *C;
  check(cudaMalloc(&A, bytes));
  check(cudaMalloc(&B, bytes));
  check(cudaMalloc(&C, bytes));
  check(cudaMemset(A, 0, bytes));
  check(cudaMemset(B, 0, bytes));
  for (const Named& each : KERNELS)
    if (!strcmp(words[1], each.name))
      each.kernel<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(A, B, C, n);
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
}
