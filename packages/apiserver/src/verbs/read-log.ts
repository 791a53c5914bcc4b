import type { JsonObject, KubeObject } from 'riata/object';
import type { ContainerRuntime, LogRequest, PodObject } from '../containers/container-runtime.js';
import { first, type Query } from '../http/options/query-string.js';
import { truth, wholeNumber } from '../http/options/query-values.js';
import { recordOf, recordsOf, textOf } from '../resource/metadata.js';
import type { ObjectStore } from '../resource/object-store.js';
import type { Resource } from '../resource/resource.js';
import { type FieldError, forbidden, invalid } from '../status/field-error.js';
import { badRequest, invalidObject, notFound, Refusal } from '../status/refusal.js';

const options = { group: '', kind: 'PodLogOptions', plural: 'podlogoptions' };

/** What logs are read with. */
export interface LogParts {
  readonly store: ObjectStore;
  readonly nodes: Resource;
  readonly containers: ContainerRuntime;
  /** Aborts when the client has disconnected. */
  readonly signal: AbortSignal;
}

/**
 * Reads the log of a Pod, which is empty (undefined) before it has a node; from then on only its node has it, which
 * the container runtime stands for. Throws for invalid options, or with the reason for the missing log.
 */
export function readLog(
  { store, nodes, containers, signal }: LogParts,
  pod: () => KubeObject,
  name: string,
  query: Query,
): AsyncIterable<Uint8Array> | undefined {
  const problems = checkOptions(query);
  if (problems.length > 0) throw invalidObject(options, name, problems);
  const found = pod();
  const spec = recordOf((found as unknown as JsonObject).spec);
  checkContainer(spec, name, first(query, 'container') ?? '');
  const node = textOf(spec.nodeName);
  if (node === '') return undefined;
  if (containers.log !== undefined) return containers.log(found as PodObject, requestOf(spec, query, signal));
  const host = store.find(nodes, '', node)?.object as unknown as JsonObject | undefined;
  // In upstream's words, though it is the node that is not there.
  if (host === undefined) throw notFound({ group: '', kind: 'Pod', plural: 'pods' }, node);
  const addresses = recordsOf(recordOf(host.status).addresses);
  const [{ address = '' } = {}] = addresses;
  throw new Refusal(
    500,
    '',
    addresses.length === 0
      ? 'no preferred addresses found; known addresses: []'
      : `dial tcp ${textOf(address)}:10250: connect: connection refused`,
  );
}

function checkOptions(query: Query): FieldError[] {
  const [tail, bytes, seconds] = ['tailLines', 'limitBytes', 'sinceSeconds'].map((name) => wholeNumber(query, name));
  const errors: FieldError[] = [];
  if (tail !== undefined && tail < 0) {
    errors.push(invalid('tailLines', tail, 'must be greater than or equal to 0'));
  }
  if (bytes !== undefined && bytes < 1) errors.push(invalid('limitBytes', bytes, 'must be greater than 0'));
  if (seconds !== undefined && first(query, 'sinceTime') !== undefined) {
    errors.push(forbidden('[]', 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  } else if (seconds !== undefined && seconds < 1) {
    errors.push(invalid('sinceSeconds', seconds, 'must be greater than 0'));
  }
  return errors;
}

function requestOf(spec: JsonObject, query: Query, signal: AbortSignal): LogRequest {
  const seconds = wholeNumber(query, 'sinceSeconds');
  const since = first(query, 'sinceTime');
  const sinceMs = since === undefined ? undefined : Date.parse(since);
  const [only] = recordsOf(spec.containers);
  const asks = (name: string) => truth(query, name) ?? false;
  return {
    container: first(query, 'container') || textOf(only?.name),
    ...{ follow: asks('follow'), previous: asks('previous'), timestamps: asks('timestamps') },
    ...{ tailLines: wholeNumber(query, 'tailLines'), limitBytes: wholeNumber(query, 'limitBytes') },
    ...{ sinceMs, sinceSeconds: seconds, signal },
  };
}

function checkContainer(spec: JsonObject, pod: string, container: string): void {
  const names = ['initContainers', 'containers', 'ephemeralContainers'].flatMap((list) =>
    recordsOf(spec[list]).map(({ name }) => textOf(name)),
  );
  if (container !== '' && !names.includes(container)) {
    throw badRequest(`container ${container} is not valid for pod ${pod}`);
  }
  if (container === '' && recordsOf(spec.containers).length > 1) {
    throw badRequest(`a container name must be specified for pod ${pod}, choose one of: [${names.join(' ')}]`);
  }
}
