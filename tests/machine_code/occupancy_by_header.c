/* Answer launches with NVIDIA's own occupancy calculator, one line in, one line out.
 *
 * in:   major minor threads_per_sm shared_per_sm shared_opt_in reserved  threads registers shared
 * out:  blocks warp_limit register_limit shared_limit block_limit registers_per_block shared_per_block
 */
#include <stdio.h>
#include "cuda_occupancy.h"

int main(void)
{
    int major, minor, threads_per_sm, threads, registers;
    unsigned long shared_per_sm, opt_in, reserved, shared;

    while (scanf("%d %d %d %lu %lu %lu %d %d %lu", &major, &minor, &threads_per_sm, &shared_per_sm,
                 &opt_in, &reserved, &threads, &registers, &shared) == 9) {
        struct cudaOccDeviceProp device = {0};
        struct cudaOccFuncAttributes kernel = {0};
        struct cudaOccDeviceState state = {0};
        struct cudaOccResult result = {0};

        device.computeMajor = major;
        device.computeMinor = minor;
        device.maxThreadsPerBlock = 1024;
        device.maxThreadsPerMultiprocessor = threads_per_sm;
        device.regsPerBlock = 65536;
        device.regsPerMultiprocessor = 65536;
        device.warpSize = 32;
        device.sharedMemPerBlock = 48 * 1024;
        device.sharedMemPerMultiprocessor = shared_per_sm;
        device.numSms = 1;
        device.sharedMemPerBlockOptin = opt_in;
        device.reservedSharedMemPerBlock = reserved;

        kernel.maxThreadsPerBlock = 1024;
        kernel.numRegs = registers;
        kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
        kernel.maxDynamicSharedSizeBytes = opt_in;
        kernel.numBlockBarriers = 1;

        state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;

        if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state, threads,
                                                    shared) != CUDA_OCC_SUCCESS)
            return 1;
        printf("%d %d %d %d %d %d %lu\n", result.activeBlocksPerMultiprocessor,
               result.blockLimitWarps, result.blockLimitRegs, result.blockLimitSharedMem,
               result.blockLimitBlocks, result.allocatedRegistersPerBlock,
               (unsigned long)result.allocatedSharedMemPerBlock);
    }
    return 0;
}
