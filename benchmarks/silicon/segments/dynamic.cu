// Dynamic memory of plain alignment: behind the static arrays, at a multiple of 16 bytes.
#include "hold.h"

extern __shared__ char bytes[];

__global__ void alone(const float *in, float *out, unsigned *told)
{
    BEGIN
    HOLD(bytes, 64)
    END
}

__global__ void behindFive(const float *in, float *out, unsigned *told)
{
    __shared__ char five[5];
    BEGIN
    HOLD(five, 5)
    HOLD(bytes, 64)
    END
}

__global__ void behindTwenty(const float *in, float *out, unsigned *told)
{
    __shared__ float five[5];
    BEGIN
    HOLD(bytes, 64)
    HOLD(five, 5)
    END
}

__global__ void behindSixteen(const float *in, float *out, unsigned *told)
{
    __shared__ double two[2];
    BEGIN
    HOLD(two, 2)
    HOLD(bytes, 64)
    END
}

int main()
{
    run("alone", alone, 1, 64);
    run("behindFive", behindFive, 2, 64);
    run("behindTwenty", behindTwenty, 2, 64);
    run("behindSixteen", behindSixteen, 2, 64);
    return cudaDeviceSynchronize() != cudaSuccess;
}
