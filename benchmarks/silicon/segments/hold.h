// What the files of this folder share: an array is written, read, and its address told.
#define HOLD(array, count) \
    { \
        array[threadIdx.x % (count)] = in[threadIdx.x]; \
        __syncthreads(); \
        sum += array[(threadIdx.x + 1) % (count)]; \
        told[at++] = (unsigned)__cvta_generic_to_shared(&array[0]); \
    }
#define BEGIN \
    int at = 0; \
    float sum = 0;
#define END out[threadIdx.x] = sum;

#include <cstdio>

// The addresses that a kernel tells, as a line of JSON.
template <typename Kernel>
void run(const char *name, Kernel kernel, int count, int dynamic)
{
    float *in, *out;
    unsigned *told, host[16];
    cudaMalloc(&in, 4096);
    cudaMalloc(&out, 4096);
    cudaMalloc(&told, sizeof(host));
    cudaMemset(in, 0, 4096);
    kernel<<<1, 32, dynamic>>>(in, out, told);
    if (cudaMemcpy(host, told, sizeof(host), cudaMemcpyDeviceToHost) != cudaSuccess)
        return;
    printf("{\"kernel\": \"%s\", \"dynamic\": %d, \"addresses\": [", name, dynamic);
    for (int n = 0; n < count; n++)
        printf("%s%u", n ? ", " : "", host[n]);
    printf("]}\n");
}
