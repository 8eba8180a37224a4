"""Libraries that host code calls between launches, and the helpers of NVIDIA's samples: names and results."""

from __future__ import annotations

from smemlint.toolkit.model import Effect, Function, rows

LIBRARIES: tuple[Function, ...] = (
    *rows(
        Effect.HOST,
        "cublasStatus_t",
        "cublas{Create,Destroy,Init,Shutdown,SetStream,GetStream,SetMathMode,GetMathMode}{,_v2}"
        " cublas{SetWorkspace,SetPointerMode,GetPointerMode,GetVersion}{,_v2}"
        " cublas{Set,Get}{Matrix,Vector}{,Async} cublas{Alloc,Free} cublasHgemm{,Batched,StridedBatched}"
        " cublas{S,D,C,Z}{gemv,ger,geru,gerc,symv,trsv,trmv,gemm,symm,hemm,syrk,trsm,trmm,geam,dgmm}{,_v2}"
        " cublas{S,D,C,Z}{gemmBatched,gemmStridedBatched,trsmBatched,getrfBatched,getriBatched}"
        " cublas{S,D,C,Z}{axpy,scal,copy,swap,dot,dotu,dotc,asum,nrm2,rot}{,_v2} cublasSgemmEx"
        " cublasI{s,d,c,z}{amax,amin}{,_v2} cublas{Gemm,GemmBatched,GemmStridedBatched,Dot,Axpy,Scal,Nrm2}Ex"
        " cublasLt{Create,Destroy,Matmul,MatmulAlgoGetHeuristic}"
        " cublasLt{MatmulDesc,MatrixLayout,MatmulPreference}{Create,Destroy,SetAttribute}",
    ),
    *rows(
        Effect.HOST,
        "cufftResult",
        "cufft{Create,Destroy,SetStream,SetWorkArea,SetAutoAllocation,GetSize,Estimate1d,XtSetCallback}"
        " cufft{,Make}Plan{1d,2d,3d,Many} cufftExec{C2C,R2C,C2R,Z2Z,D2Z,Z2D}",
    ),
    *rows(
        Effect.HOST,
        "curandStatus_t",
        "curand{CreateGenerator,CreateGeneratorHost,DestroyGenerator,SetStream,SetGeneratorOffset}"
        " curand{SetPseudoRandomGeneratorSeed,SetGeneratorOrdering,Generate,GenerateLongLong,GenerateSeeds}"
        " curandGenerate{Uniform,Normal,LogNormal}{,Double} curandGeneratePoisson",
    ),
    *rows(
        Effect.HOST,
        "cusolverStatus_t",
        "cusolverDn{Create,Destroy,SetStream}"
        " cusolverDn{S,D,C,Z}{gesvd,gesvdj,getrf,getrs,potrf,potrs,geqrf,ormqr,syevd,syevj}{,_bufferSize}",
    ),
    *rows(
        Effect.HOST,
        "cusparseStatus_t",
        "cusparse{Create,Destroy,SetStream,CreateMatDescr,DestroyMatDescr,SetMatType,SetMatIndexBase}"
        " cusparse{CreateCsr,CreateCoo,CreateDnVec,CreateDnMat,DestroySpMat,DestroyDnVec,DestroyDnMat}"
        " cusparseSp{MV,MM,GEMM}{,_bufferSize,_preprocess} cusparse{S,D}{csrmv,csrmm,csr2dense,dense2csr}",
    ),
    *rows(
        Effect.HOST,
        "CUresult",
        "cu{Init,DeviceGet,DeviceGetCount,DeviceGetName,DeviceGetAttribute,CtxCreate,CtxDestroy,CtxSynchronize}"
        " cu{ModuleLoad,ModuleLoadData,ModuleUnload,ModuleGetFunction,LaunchKernel,LaunchCooperativeKernel}"
        " cu{MemAlloc,MemFree,MemcpyHtoD,MemcpyDtoH,MemcpyDtoD,MemsetD8,MemsetD32,GetErrorName}"
        " cu{FuncSetAttribute,GetErrorString}"
        " cu{TensorMapEncodeTiled,TensorMapEncodeIm2col,StreamCreate,StreamSynchronize}",
    ),
    *rows(Effect.HOST, "int", "nvtxRange{Push,Pop,PushA,PushW} omp_get_{thread_num,num_threads,max_threads}"),
    *rows(Effect.HOST, "double", "omp_get_wtime"),
    *rows(Effect.HOST, "void", "omp_set_num_threads nvtxMark{,A} checkCudaErrors getLastCudaError"),
    *rows(Effect.HOST, "int", "findCudaDevice gpuGetMaxGflopsDeviceId _ConvertSMVer2Cores"),
    *rows(Effect.HOST, "bool", "sdk{Create,Start,Stop,Reset,Delete}Timer"),
    *rows(Effect.HOST, "float", "sdkGet{,Average}TimerValue"),
)
