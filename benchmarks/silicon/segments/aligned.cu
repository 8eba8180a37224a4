// Dynamic memory that asks for 128 bytes: it gets them, and every kernel of the file pays.
#include "hold.h"

extern __shared__ __align__(128) float tile[];

__global__ void behindFive(const float *in, float *out, unsigned *told)
{
    __shared__ char five[5];
    BEGIN
    HOLD(five, 5)
    HOLD(tile, 32)
    END
}

__global__ void staticOnly(const float *in, float *out, unsigned *told)
{
    __shared__ float row[32];
    __shared__ char five[5];
    BEGIN
    HOLD(row, 32)
    HOLD(five, 5)
    END
}

int main()
{
    run("behindFive", behindFive, 2, 128);
    run("staticOnly", staticOnly, 2, 0);
    return cudaDeviceSynchronize() != cudaSuccess;
}
