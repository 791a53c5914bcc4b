import type { Client } from '../../client/interfaces.js';
import { Lease } from '../../kinds/generated/groups/coordination.k8s.io/v1.js';
import type { JsonPatchOperation } from '../../object/patch/json-patch.js';
import { formatPointer } from '../../object/patch/json-pointer.js';
import { isAlreadyExists, isConflict, isInvalid, isNotFound } from '../../rest/errors/error-guards.js';
import { formatTable, newTable, parseTable, type ShardTable } from './shard-table.js';

/** The part of a client that a ring needs. It must not be fenced and must not read from a cache. */
export type ShardRingClient = Pick<Client, 'find' | 'create' | 'patch'>;

/** The state of a ring's Lease at one moment. */
export interface ShardState {
  /** Another one when the Lease was deleted and made again. */
  readonly uid: string;
  readonly resourceVersion: string;
  readonly table: ShardTable;
  /** The table as it is written there. */
  readonly tableText: string;
  /** What members wrote about themselves, by id, verbatim. */
  readonly members: ReadonlyMap<string, string>;
}

const tableKey = 'sharding.riata.dev/slots';
const memberPrefix = 'member.sharding.riata.dev/';
const fieldManager = 'riata-shard-ring';

/** The Lease is there and is something else: nothing to try again. */
export class NotAShardRing extends Error {
  override readonly name = 'NotAShardRing';
}

/** True for an answer that says that the write was not done and never will be, since a precondition failed. */
export function isRefused(error: unknown): boolean {
  return isConflict(error) || isInvalid(error) || isNotFound(error) || isAlreadyExists(error);
}

/**
 * The Lease of a ring, and the writes to it. Each write names its preconditions, and the server checks them; but no
 * more than needed, so that the renewals of many members don't conflict. Every answer is the whole state, so that a
 * renewal also reads it.
 */
export class ShardRegister {
  readonly #client: ShardRingClient;
  readonly #key: { readonly namespace: string; readonly name: string };

  constructor(client: ShardRingClient, key: { readonly namespace: string; readonly name: string }) {
    this.#client = client;
    this.#key = key;
  }

  get description(): string {
    return `Lease ${this.#key.namespace}/${this.#key.name}`;
  }

  async read(signal: AbortSignal): Promise<ShardState | undefined> {
    const lease = await this.#client.find(Lease, this.#key, { signal, maxRetries: 0 });
    return lease && this.#stateOf(lease);
  }

  /** Makes the Lease, with a first member. */
  async create(id: string, text: string, slots: number, leaseMs: number, signal: AbortSignal): Promise<ShardState> {
    const annotations = { [tableKey]: formatTable(newTable(slots)), [memberPrefix + id]: text };
    const spec = { leaseDurationSeconds: Math.ceil(leaseMs / 1000) };
    const lease = Lease({ metadata: { ...this.#key, annotations }, spec });
    return this.#stateOf(await this.#client.create(lease, { fieldManager, signal, maxRetries: 0 }));
  }

  /** Adds a member, unless anything has changed since `state`: a late write must not undo a later one. */
  join({ resourceVersion }: ShardState, id: string, text: string, signal: AbortSignal): Promise<ShardState> {
    return this.#patch(
      [
        { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
        { op: 'add', path: pathOf(memberPrefix + id), value: text },
      ],
      signal,
    );
  }

  /** Renews: `from` becomes `to`. */
  beat(id: string, from: string, to: string, signal: AbortSignal): Promise<ShardState> {
    const path = pathOf(memberPrefix + id);
    return this.#patch(
      [
        { op: 'test', path, value: from },
        { op: 'replace', path, value: to },
      ],
      signal,
    );
  }

  /** Puts another table, and takes members out, if the table and these members are as in `state`. */
  replace(state: ShardState, table: ShardTable, gone: readonly string[], signal: AbortSignal): Promise<ShardState> {
    const operations: JsonPatchOperation[] = [
      { op: 'test', path: '/metadata/uid', value: state.uid },
      { op: 'test', path: pathOf(tableKey), value: state.tableText },
    ];
    for (const id of gone) {
      const text = state.members.get(id);
      if (text === undefined) continue;
      const path = pathOf(memberPrefix + id);
      operations.push({ op: 'test', path, value: text }, { op: 'remove', path });
    }
    operations.push({ op: 'replace', path: pathOf(tableKey), value: formatTable(table) });
    return this.#patch(operations, signal);
  }

  async #patch(body: JsonPatchOperation[], signal: AbortSignal): Promise<ShardState> {
    const options = { fieldManager, signal, maxRetries: 0 };
    return this.#stateOf(await this.#client.patch(Lease, this.#key, { type: 'json', body }, options));
  }

  #stateOf({ metadata }: Lease): ShardState {
    const annotations = metadata.annotations ?? {};
    const tableText = annotations[tableKey] ?? '';
    const table = parseTable(tableText);
    if (table === undefined) {
      throw new NotAShardRing(
        `${this.description} is there and has no table of slots in ${tableKey}: give the ring a name that nothing else ` +
          'has, or delete the Lease',
      );
    }
    const members = new Map<string, string>();
    for (const [key, text] of Object.entries(annotations)) {
      if (key.startsWith(memberPrefix)) members.set(key.slice(memberPrefix.length), text);
    }
    return { uid: metadata.uid, resourceVersion: metadata.resourceVersion, table, tableText, members };
  }
}

function pathOf(annotation: string): string {
  return formatPointer(['metadata', 'annotations', annotation]);
}
