export { MemoryStorage, type MemoryStorageOptions } from './storage/memory-storage.js';
export { CompactedError, type Storage, type StorageEvent, type Stored } from './storage/storage.js';
