import { type Client, isNoMatch } from 'riata';
import { enqueueRequestsFromMap, kindSource, type Request, type Source, type SourceParts } from 'riata/controller';
import { type KindRef, type MetadataOnly, metadataOnly } from 'riata/object';

/** The keys that a change of a counted object leads to. */
type KeysOf = (object: MetadataOnly, parts: SourceParts) => Promise<readonly Request[]>;

/**
 * Kinds that are watched from the first count of their objects on: a quota may name any resource, and most clusters
 * have none. Only metadata is held.
 */
export class CountedKinds {
  readonly #keysOf: KeysOf;
  readonly #watched = new Map<string, Promise<KindRef<MetadataOnly>>>();
  #watch: ((kind: KindRef<MetadataOnly>) => Promise<void>) | undefined;

  constructor(keysOf: KeysOf) {
    this.#keysOf = keysOf;
  }

  /** Where changes come from; for `ControlBuilder.source`. */
  source(parts: SourceParts): Source {
    return {
      name: 'counted objects',
      start: async (queue, options) => {
        this.#watched.clear();
        this.#watch = async (kind) => {
          const changes = kindSource(
            parts.cache,
            kind,
            enqueueRequestsFromMap((object) => this.#keysOf(object, parts)),
            { name: `counts ${kind.plural}` },
          );
          await changes.start(queue, options);
          await changes.waitForSync(options);
        };
      },
    };
  }

  /** How many objects of a resource (`secrets`, `deployments.apps`) a namespace holds; undefined if it isn't served. */
  async count(resource: string, namespace: string, client: Client): Promise<number | undefined> {
    try {
      const kind = await this.#kindOf(resource, client);
      return kind.scope === 'Namespaced' ? (await client.list(kind, { namespace })).items.length : undefined;
    } catch (error) {
      if (isNoMatch(error)) return undefined;
      throw error;
    }
  }

  #kindOf(resource: string, client: Client): Promise<KindRef<MetadataOnly>> {
    const known = this.#watched.get(resource);
    if (known !== undefined) return known;
    const found = this.#find(resource, client);
    this.#watched.set(resource, found);
    // Not served now: it may be later.
    found.catch(() => this.#watched.delete(resource));
    return found;
  }

  async #find(resource: string, client: Client): Promise<KindRef<MetadataOnly>> {
    const kind = metadataOnly(await client.mapper.kindForResource(resource));
    if (kind.scope === 'Namespaced') await this.#watch?.(kind);
    return kind;
  }
}
