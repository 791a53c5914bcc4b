import { isJsonObject, type Json, type JsonObject } from 'riata/object';
import { type FieldError, invalid, notSupported } from '../../status/field-error.js';
import { badRequest } from '../../status/refusal.js';
import { first, type Query } from './query-string.js';
import { dryRunProblems, refuseOptions, truth, wholeNumber } from './query-values.js';

/** The options of a deletion (`metav1.DeleteOptions`). */
export interface DeleteOptions {
  readonly dryRun: boolean;
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly orphanDependents?: boolean;
  readonly propagationPolicy?: 'Foreground' | 'Background' | 'Orphan';
  /** As admission control is shown them. */
  readonly given: JsonObject;
}

type Sent = Omit<DeleteOptions, 'dryRun' | 'propagationPolicy' | 'given'> & {
  readonly dryRun: readonly string[];
  readonly propagationPolicy?: string;
};

/** Reads and checks the options of a deletion: those in the body count, else those in the query. Throws 400 and 422. */
export function parseDeleteOptions(query: Query, body: Json | undefined): DeleteOptions {
  const sent = body === undefined ? fromQuery(query) : fromBody(body);
  refuseOptions('DeleteOptions', problemsOf(sent));
  return {
    ...sent,
    dryRun: sent.dryRun.length > 0,
    propagationPolicy: sent.propagationPolicy as DeleteOptions['propagationPolicy'],
    given: givenOf(sent),
  };
}

function givenOf({ dryRun, preconditions, ...rest }: Sent): JsonObject {
  const given = {
    ...rest,
    preconditions: preconditions && defined(preconditions),
    dryRun: dryRun.length === 0 ? undefined : dryRun,
  };
  return defined(given);
}

function defined(members: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as JsonObject;
}

const policies = ['Foreground', 'Background', 'Orphan'];

function problemsOf({ orphanDependents, propagationPolicy, dryRun }: Sent): readonly FieldError[] {
  const problems: FieldError[] = [];
  if (orphanDependents !== undefined && propagationPolicy !== undefined) {
    const why = 'orphanDependents and deletionPropagation cannot be both set';
    problems.push(invalid('propagationPolicy', propagationPolicy, why));
  }
  if (propagationPolicy !== undefined && !policies.includes(propagationPolicy)) {
    problems.push(notSupported('propagationPolicy', propagationPolicy, [...policies, 'nil']));
  }
  return [...problems, ...dryRunProblems(dryRun)];
}

function fromQuery(query: Query): Sent {
  const uid = first(query, 'uid');
  return {
    gracePeriodSeconds: wholeNumber(query, 'gracePeriodSeconds'),
    preconditions: uid === undefined ? undefined : { uid },
    orphanDependents: truth(query, 'orphanDependents'),
    propagationPolicy: first(query, 'propagationPolicy'),
    dryRun: query.get('dryRun') ?? [],
  };
}

function fromBody(body: Json): Sent {
  const object: JsonObject = isJsonObject(body) ? body : {};
  const { kind, apiVersion } = object;
  if (typeof kind === 'string' && kind !== '' && kind !== 'DeleteOptions') {
    const version = typeof apiVersion === 'string' && apiVersion !== '' ? apiVersion : 'meta.k8s.io/v1';
    throw badRequest(`no kind "${kind}" is registered for version "${version}" in scheme "pkg/runtime/scheme.go:111"`);
  }
  const read = reader(object, 'DeleteOptions.');
  const given = read('preconditions', 'v1.Preconditions', isJsonObject);
  const precondition = reader(given ?? {}, 'Preconditions.preconditions.');
  const preconditions = given && {
    uid: precondition('uid', 'types.UID', isText),
    resourceVersion: precondition('resourceVersion', 'string', isText),
  };
  return {
    gracePeriodSeconds: read('gracePeriodSeconds', 'int64', isWhole),
    preconditions,
    orphanDependents: read('orphanDependents', 'bool', (value) => typeof value === 'boolean'),
    propagationPolicy: read('propagationPolicy', 'v1.DeletionPropagation', isText),
    dryRun: read('dryRun', '[]string', isTexts) ?? [],
  };
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isWhole = (value: unknown): value is number => Number.isInteger(value);
const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText);

/** Reads members that must have a type, if they are there. Throws with the words of Go's decoder. */
function reader(object: JsonObject, owner: string) {
  return <T extends Json>(name: string, type: string, is: (value: unknown) => value is T): T | undefined => {
    const value = object[name];
    if (value === undefined || value === null) return undefined;
    if (is(value)) return value;
    throw badRequest(`json: cannot unmarshal ${goTypeOf(value)} into Go struct field ${owner}${name} of type ${type}`);
  };
}

/** The name of a value in Go's decoder. */
export function goTypeOf(value: Json): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'number' : `number ${value}`;
  if (typeof value === 'bigint') return 'number';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
