export {
  ApiServer,
  type ApiServerOptions,
  type InProcessConfig,
  type Listening,
  type ListenOptions,
} from './api-server.js';
export { adminKubeconfig, type KubeconfigParts } from './http/admin-kubeconfig.js';
export { InProcessTransport, type InProcessTransportOptions } from './http/in-process-transport.js';
export { MemoryStorage, type MemoryStorageOptions } from './storage/memory-storage.js';
export { CompactedError, type Storage, type StorageEvent, type Stored } from './storage/storage.js';
