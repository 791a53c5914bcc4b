import { type ConnectedClient, isNoMatch, type WriteObject } from 'riata/client';
import { type DiffLine, diffObjects } from 'riata/patterns';
import { isApiError } from 'riata/rest';
import { describeError } from 'riata/runtime';

/** How an object in a cluster differs from what it should be. */
export interface ObjectDifference {
  /** `Deployment site-operator/site-operator`. */
  readonly object: string;
  /** `unknown`: the server could not tell, e.g. since it does not serve the kind; see `reason`. */
  readonly state: 'same' | 'missing' | 'different' | 'unknown';
  readonly lines: readonly DiffLine[];
  readonly reason?: string;
}

/** The field manager that objects are applied by. */
const fieldManager = 'riata';

/** Compares objects with a cluster, by applying them in a dry run: the server's defaults are no differences. */
export async function diffWithCluster(
  client: ConnectedClient,
  objects: readonly WriteObject[],
  { signal }: { readonly signal: AbortSignal },
): Promise<ObjectDifference[]> {
  const differences: ObjectDifference[] = [];
  for (const object of objects) differences.push(await diffObject(client, object, signal));
  return differences;
}

async function diffObject(
  client: ConnectedClient,
  object: WriteObject,
  signal: AbortSignal,
): Promise<ObjectDifference> {
  const { kind, metadata } = object;
  const name = `${kind} ${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name}`;
  const result = (state: ObjectDifference['state'], more: Partial<ObjectDifference> = {}) => ({
    ...{ object: name, state, lines: [] },
    ...more,
  });
  try {
    const key = { name: metadata.name ?? '', ...(metadata.namespace && { namespace: metadata.namespace }) };
    const served = await client.mapper.kindFor(object);
    const found = await client.find(served, key as never, { signal });
    if (found === undefined) return result('missing');
    const applied = await client.apply(object as never, { fieldManager, force: true, dryRun: true, signal });
    const lines = diffObjects(found, applied as object);
    return result(lines.length === 0 ? 'same' : 'different', { lines });
  } catch (error) {
    if (signal.aborted) throw error;
    if (!isApiError(error) && !isNoMatch(error)) throw error;
    return result('unknown', { reason: describeError(error) });
  }
}
