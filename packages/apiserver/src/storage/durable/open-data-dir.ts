import type { ServerIdentity } from '../../server-identity.js';
import { DataDirectory, type DataDirectoryParts } from './data-directory.js';
import type { DurableStorage } from './durable-storage.js';
import { identityIn } from './identity-in.js';

/** The content of an open data directory. */
export interface OpenDataDir {
  readonly storage: DurableStorage;
  readonly identity: ServerIdentity;
  close(): Promise<void>;
}

/** Opens a data directory for a server. Throws a `DataDirectoryError`. */
export async function openDataDir(path: string, options: DataDirectoryParts): Promise<OpenDataDir> {
  const directory = await DataDirectory.open(path, options);
  try {
    const identity = await identityIn(directory.path);
    return { storage: directory.storage, identity, close: () => directory.close() };
  } catch (error) {
    await directory.close();
    throw error;
  }
}
