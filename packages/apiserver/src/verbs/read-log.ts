import type { JsonObject, KubeObject } from 'riata/object';
import { first, type Query } from '../http/options/query-string.js';
import { wholeNumber } from '../http/options/query-values.js';
import { recordOf, recordsOf, textOf } from '../resource/metadata.js';
import type { ObjectStore } from '../resource/object-store.js';
import type { Resource } from '../resource/resource.js';
import { type FieldError, forbidden, invalid } from '../status/field-error.js';
import { badRequest, invalidObject, notFound, Refusal } from '../status/refusal.js';

const options = { group: '', kind: 'PodLogOptions', plural: 'podlogoptions' };

/**
 * Reads the log of a Pod, which is empty before it has a node; from then on only its node has it, which cannot be
 * reached here. Throws for invalid options, or with the reason for the missing log.
 */
export function readLog(store: ObjectStore, nodes: Resource, pod: () => KubeObject, name: string, query: Query): void {
  const problems = checkOptions(query);
  if (problems.length > 0) throw invalidObject(options, name, problems);
  const spec = recordOf((pod() as unknown as JsonObject).spec);
  checkContainer(spec, name, first(query, 'container') ?? '');
  const node = textOf(spec.nodeName);
  if (node === '') return;
  const found = store.find(nodes, '', node)?.object as unknown as JsonObject | undefined;
  // In upstream's words, though it is the node that is not there.
  if (found === undefined) throw notFound({ group: '', kind: 'Pod', plural: 'pods' }, node);
  const addresses = recordsOf(recordOf(found.status).addresses);
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
