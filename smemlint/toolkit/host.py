"""The run-time library and what host code takes from the C library: names and results, no meaning."""

from __future__ import annotations

from smemlint.toolkit.model import Effect, Function, rows

RUNTIME: tuple[Function, ...] = (
    *rows(
        Effect.HOST,
        "cudaError_t",
        "cuda{ArrayGetInfo,ArrayGetMemoryRequirements,ArrayGetPlane,ArrayGetSparseProperties}"
        " cuda{BindSurfaceToArray,BindTexture,BindTexture2D,BindTextureToArray,ChooseDevice}"
        " cuda{CreateSurfaceObject,CreateTextureObject,CtxResetPersistingL2Cache}"
        " cuda{DestroyExternalMemory,DestroyExternalSemaphore,DestroySurfaceObject}"
        " cuda{DestroyTextureObject,DriverGetVersion,ExternalMemoryGetMappedBuffer}"
        " cuda{ExternalMemoryGetMappedMipmappedArray,ImportExternalMemory,ImportExternalSemaphore}"
        " cuda{InitDevice,KernelSetAttributeForDevice,MipmappedArrayGetMemoryRequirements}"
        " cuda{MipmappedArrayGetSparseProperties,PeekAtLastError,PointerGetAttributes}"
        " cuda{ProfilerInitialize,ProfilerStart,ProfilerStop,RuntimeGetVersion}"
        " cuda{SignalExternalSemaphoresAsync,UnbindTexture,UserObjectCreate,UserObjectRelease}"
        " cuda{UserObjectRetain,WaitExternalSemaphoresAsync}"
        " cudaDevice{CanAccessPeer,DisablePeerAccess,EnablePeerAccess,FlushGPUDirectRDMAWrites}"
        " cudaDevice{GetAttribute,GetByPCIBusId,GetCacheConfig,GetDefaultMemPool}"
        " cudaDevice{GetGraphMemAttribute,GetHostAtomicCapabilities,GetLimit,GetMemPool}"
        " cudaDevice{GetNvSciSyncAttributes,GetP2PAtomicCapabilities,GetP2PAttribute,GetPCIBusId}"
        " cudaDevice{GetSharedMemConfig,GetStreamPriorityRange,GetTexture1DLinearMaxWidth}"
        " cudaDevice{GraphMemTrim,RegisterAsyncNotification,Reset,SetCacheConfig}"
        " cudaDevice{SetGraphMemAttribute,SetLimit,SetMemPool,SetSharedMemConfig,Synchronize}"
        " cudaDeviceUnregisterAsyncNotification"
        " cudaEvent{Create,CreateWithFlags,Destroy,ElapsedTime,Query,Record,RecordWithFlags}"
        " cudaEventSynchronize"
        " cudaFree{,Array,Async,Host,MipmappedArray}"
        " cudaFunc{GetAttributes,GetName,GetParamInfo,SetAttribute,SetCacheConfig,SetSharedMemConfig}"
        " cudaGL{MapBufferObject,RegisterBufferObject,SetGLDevice,UnmapBufferObject}"
        " cudaGLUnregisterBufferObject"
        " cudaGet{ChannelDesc,Device,DeviceCount,DeviceFlags,DeviceProperties,DeviceProperties_v2}"
        " cudaGet{DriverEntryPoint,DriverEntryPointByVersion,ExportTable,FuncBySymbol,Kernel}"
        " cudaGet{LastError,MipmappedArrayLevel,SurfaceObjectResourceDesc,SymbolAddress,SymbolSize}"
        " cudaGet{TextureObjectResourceDesc,TextureObjectResourceViewDesc,TextureObjectTextureDesc}"
        " cudaGetTextureReference"
        " cudaGraph{ChildGraphNodeGetGraph,Clone,ConditionalHandleCreate,Create,DebugDotPrint}"
        " cudaGraph{Destroy,DestroyNode,EventRecordNodeGetEvent,EventRecordNodeSetEvent}"
        " cudaGraph{EventWaitNodeGetEvent,EventWaitNodeSetEvent}"
        " cudaGraph{ExternalSemaphoresSignalNodeGetParams,ExternalSemaphoresSignalNodeSetParams}"
        " cudaGraph{ExternalSemaphoresWaitNodeGetParams,ExternalSemaphoresWaitNodeSetParams,GetEdges}"
        " cudaGraph{GetNodes,GetRootNodes,HostNodeGetParams,HostNodeSetParams,Instantiate}"
        " cudaGraph{InstantiateWithFlags,InstantiateWithParams,KernelNodeCopyAttributes}"
        " cudaGraph{KernelNodeGetAttribute,KernelNodeGetParams,KernelNodeSetAttribute}"
        " cudaGraph{KernelNodeSetParam,KernelNodeSetParams,KernelNodeUpdatesApply,Launch}"
        " cudaGraph{MemAllocNodeGetParams,MemFreeNodeGetParams,MemcpyNodeGetParams}"
        " cudaGraph{MemcpyNodeSetParams,MemcpyNodeSetParams1D,MemcpyNodeSetParamsFromSymbol}"
        " cudaGraph{MemcpyNodeSetParamsToSymbol,MemsetNodeGetParams,MemsetNodeSetParams}"
        " cudaGraph{NodeFindInClone,NodeGetDependencies,NodeGetDependentNodes,NodeGetEnabled}"
        " cudaGraph{NodeGetType,NodeSetEnabled,NodeSetParams,ReleaseUserObject,RemoveDependencies}"
        " cudaGraph{RetainUserObject,Upload}"
        " cudaGraphAdd{ChildGraphNode,Dependencies,EmptyNode,EventRecordNode,EventWaitNode}"
        " cudaGraphAdd{ExternalSemaphoresSignalNode,ExternalSemaphoresWaitNode,HostNode,KernelNode}"
        " cudaGraphAdd{MemAllocNode,MemFreeNode,MemcpyNode,MemcpyNode1D,MemcpyNodeFromSymbol}"
        " cudaGraphAdd{MemcpyNodeToSymbol,MemsetNode,Node}"
        " cudaGraphExec{ChildGraphNodeSetParams,Destroy,EventRecordNodeSetEvent}"
        " cudaGraphExec{EventWaitNodeSetEvent,ExternalSemaphoresSignalNodeSetParams}"
        " cudaGraphExec{ExternalSemaphoresWaitNodeSetParams,GetFlags,HostNodeSetParams}"
        " cudaGraphExec{KernelNodeSetParams,MemcpyNodeSetParams,MemcpyNodeSetParams1D}"
        " cudaGraphExec{MemcpyNodeSetParamsFromSymbol,MemcpyNodeSetParamsToSymbol}"
        " cudaGraphExec{MemsetNodeSetParams,NodeSetParams,Update}"
        " cudaGraphics{GLRegisterBuffer,GLRegisterImage,MapResources,ResourceGetMappedMipmappedArray}"
        " cudaGraphics{ResourceGetMappedPointer,ResourceSetMapFlags,SubResourceGetMappedArray}"
        " cudaGraphics{UnmapResources,UnregisterResource}"
        " cudaHost{Alloc,GetDevicePointer,GetFlags,Register,Unregister}"
        " cudaIpc{CloseMemHandle,GetEventHandle,GetMemHandle,OpenEventHandle,OpenMemHandle}"
        " cudaLaunch{,CooperativeKernel,CooperativeKernelMultiDevice,HostFunc,Kernel,KernelEx}"
        " cudaLaunchKernelExC"
        " cudaLibrary{EnumerateKernels,GetGlobal,GetKernel,GetKernelCount,GetManaged}"
        " cudaLibrary{GetUnifiedFunction,LoadData,LoadFromFile,Unload}"
        " cudaLogs{Current,DumpToFile,DumpToMemory,RegisterCallback,UnregisterCallback}"
        " cudaMalloc{,3D,3DArray,Array,Async,FromPoolAsync,Host,Managed,MipmappedArray,Pitch}"
        " cudaMem{Advise,DiscardAndPrefetchBatchAsync,DiscardBatchAsync,GetDefaultMemPool,GetInfo}"
        " cudaMem{GetMemPool,PrefetchAsync,PrefetchBatchAsync,RangeGetAttribute,RangeGetAttributes}"
        " cudaMemSetMemPool"
        " cudaMemPool{Create,Destroy,ExportPointer,ExportToShareableHandle,GetAccess,GetAttribute}"
        " cudaMemPool{ImportFromShareableHandle,ImportPointer,SetAccess,SetAttribute,TrimTo}"
        " cudaMemcpy{,2D,2DArrayToArray,2DAsync,2DFromArray,2DFromArrayAsync,2DToArray}"
        " cudaMemcpy{2DToArrayAsync,3D,3DAsync,3DBatchAsync,3DPeer,3DPeerAsync,ArrayToArray,Async}"
        " cudaMemcpy{BatchAsync,FromArray,FromArrayAsync,FromSymbol,FromSymbolAsync,Peer,PeerAsync}"
        " cudaMemcpy{ToArray,ToArrayAsync,ToSymbol,ToSymbolAsync}"
        " cudaMemset{,2D,2DAsync,3D,3DAsync,Async}"
        " cudaOccupancy{AvailableDynamicSMemPerBlock,MaxActiveBlocksPerMultiprocessor}"
        " cudaOccupancy{MaxActiveBlocksPerMultiprocessorWithFlags,MaxActiveClusters}"
        " cudaOccupancy{MaxPotentialBlockSize,MaxPotentialBlockSizeVariableSMem}"
        " cudaOccupancy{MaxPotentialBlockSizeVariableSMemWithFlags,MaxPotentialBlockSizeWithFlags}"
        " cudaOccupancyMaxPotentialClusterSize"
        " cudaSet{Device,DeviceFlags,ValidDevices,upArgument}"
        " cudaStream{AddCallback,AttachMemAsync,BeginCapture,BeginCaptureToGraph,CopyAttributes}"
        " cudaStream{Create,CreateWithFlags,CreateWithPriority,Destroy,EndCapture,GetAttribute}"
        " cudaStream{GetCaptureInfo,GetCaptureInfo_v2,GetDevice,GetFlags,GetId,GetPriority}"
        " cudaStream{IsCapturing,Query,SetAttribute,Synchronize,UpdateCaptureDependencies,WaitEvent}"
        " cudaThread{ExchangeStreamCaptureMode,Exit,GetLimit,SetCacheConfig,SetLimit,Synchronize}",
    ),
    *rows(Effect.HOST, "const char*", "cudaGetError{String,Name}"),
    *rows(Effect.HOST, "cudaChannelFormatDesc", "cudaCreateChannelDesc", declared=False),
)

C: tuple[Function, ...] = (
    *rows(Effect.NONE, "int", "printf"),
    *rows(
        Effect.HOST,
        "int",
        "{f,s,sn,v,vf,vs,vsn}printf puts fputs putchar fputc fflush {,f,s}scanf fclose fseek"
        " feof ferror getchar fgetc memcmp str{,n,case,ncase}cmp atoi rand gettimeofday usleep"
        " getpid clock_gettime getrusage pthread_{create,join,cancel,exit}"
        " pthread_mutex_{init,lock,unlock,destroy}",
    ),
    *rows(Effect.HOST, "size_t", "fread fwrite strlen strspn strcspn strftime"),
    *rows(
        Effect.HOST,
        "void*",
        "{m,c,re}alloc aligned_alloc memalign alloca memcpy memset memmove memchr bsearch",
    ),
    *rows(Effect.HOST, "void", "free srand srand48 exit abort qsort perror rewind setbuf"),
    *rows(
        Effect.HOST, "char*", "str{,n}cpy str{,n}cat str{,r}chr strstr strtok strdup fgets getenv strerror"
    ),
    *rows(Effect.HOST, "tm*", "localtime gmtime"),
    *rows(Effect.HOST, "FILE*", "fopen popen tmpfile"),
    *rows(Effect.HOST, "long", "time atol ftell strtol lrand48"),
    *rows(Effect.HOST, "long long", "atoll strtoll"),
    *rows(Effect.HOST, "unsigned long", "strtoul"),
    *rows(Effect.HOST, "unsigned long long", "strtoull"),
    *rows(Effect.HOST, "double", "atof strtod drand48 difftime"),
    *rows(Effect.HOST, "float", "strtof"),
)
