import type { ServerIdentity } from './server-identity.js';
import type { StorageSnapshot } from './storage/storage.js';

interface SnapshotParts {
  readonly storage: StorageSnapshot;
  readonly identity: ServerIdentity;
}

/**
 * Everything that a server held at one moment: objects, revision, certificates and keys. Any number of servers can start
 * from it, in the same process. It shares the objects with them, since stored objects never change.
 */
export class ServerSnapshot {
  /** The revision of the newest write in it. */
  readonly revision: number;
  readonly #parts: SnapshotParts;

  /** @internal Use `server.snapshot()`. */
  constructor(parts: SnapshotParts) {
    this.revision = parts.storage.revision;
    this.#parts = parts;
  }

  /** @internal */
  static partsOf(snapshot: ServerSnapshot): SnapshotParts {
    return snapshot.#parts;
  }
}
