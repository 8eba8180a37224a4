// Static arrays alone: in the order of their declaration, each at the next multiple of its alignment.
#include "hold.h"

__shared__ short outside[5];

__global__ void mixed(const float *in, float *out, unsigned *told)
{
    __shared__ char tag[3];
    __shared__ double wide[5];
    __shared__ short narrow[7];
    __shared__ float4 quads[2];
    __shared__ char last[1];
    BEGIN
    HOLD(tag, 3)
    HOLD(wide, 5)
    HOLD(narrow, 7)
    told[at++] = (unsigned)__cvta_generic_to_shared(&quads[0]);
    quads[threadIdx.x % 2].x = in[threadIdx.x];
    __syncthreads();
    sum += quads[(threadIdx.x + 1) % 2].x;
    HOLD(last, 1)
    END
}

__global__ void withOneOutside(const float *in, float *out, unsigned *told)
{
    __shared__ char tag[9];
    BEGIN
    HOLD(outside, 5)
    HOLD(tag, 9)
    END
}

__global__ void asked(const float *in, float *out, unsigned *told)
{
    __shared__ char tag[1];
    __shared__ __align__(128) float rows[33];
    __shared__ alignas(32) char tail[4];
    BEGIN
    HOLD(tag, 1)
    HOLD(rows, 33)
    HOLD(tail, 4)
    END
}

int main()
{
    run("mixed", mixed, 5, 0);
    run("withOneOutside", withOneOutside, 2, 0);
    run("asked", asked, 3, 0);
    return cudaDeviceSynchronize() != cudaSuccess;
}
