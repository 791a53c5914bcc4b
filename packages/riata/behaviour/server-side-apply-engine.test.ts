import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ApplyError } from '../src/object/apply/apply-error.js';
import { conflictStatus } from '../src/object/apply/conflicts.js';
import { excludeFields } from '../src/object/apply/field-filter.js';
import {
  type ApplyRequest,
  applyServerSide,
  type FieldManagerRequest,
  trackUpdate,
} from '../src/object/apply/field-manager.js';
import { keepTimes } from '../src/object/apply/keep-times.js';
import { type JsonObject, type ManagedFieldsEntry, parseTime, type Status } from '../src/object/index.js';
import { type Random, seededRandom } from '../src/runtime/index.js';
import {
  configMapPart,
  deploymentPart,
  duplicatesPart,
  metadataPart,
  type RandomPart,
  servicePart,
  widgetPart,
  widgetSchema,
  widgetStatusPart,
} from './random-configs.js';
import { type RawAnswer, RawServer } from './raw-server.js';
import { uniqueName, until } from './servers.js';

/**
 * The engine against the truth: the same random writes go to the real server and, from the object that it had before,
 * to the engine. After each one both must agree on the answer, on who manages what since when, and on what is there.
 */

interface Subject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly path: (namespace: string) => string;
  readonly part: RandomPart;
  /** What updates may send besides. */
  readonly updatePart?: RandomPart;
  readonly statusPart?: RandomPart;
  /** Set by the server after it has taken note of who wrote what. */
  readonly allocated?: readonly string[];
  /** Whether the server keeps objects of it as Go structs. */
  readonly builtIn: boolean;
}

const group = `${uniqueName('g')}.riata.dev`;
const subjects: readonly Subject[] = [
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    path: (ns) => `/api/v1/namespaces/${ns}/configmaps`,
    part: configMapPart,
    builtIn: true,
  },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    path: (ns) => `/apis/apps/v1/namespaces/${ns}/deployments`,
    part: deploymentPart,
    updatePart: (random) => (random.next() < 0.3 ? duplicatesPart(random) : deploymentPart(random)),
    statusPart: (random) => ({ status: { replicas: random.int(0, 3), updatedReplicas: 0 } }),
    builtIn: true,
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    path: (ns) => `/api/v1/namespaces/${ns}/services`,
    part: servicePart,
    allocated: ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'],
    builtIn: true,
  },
  {
    apiVersion: `${group}/v1`,
    kind: 'Widget',
    path: (ns) => `/apis/${group}/v1/namespaces/${ns}/widgets`,
    part: widgetPart,
    statusPart: widgetStatusPart,
    builtIn: false,
  },
];

let server: RawServer;
const namespace = uniqueName('ssa-');

beforeAll(async () => {
  server = new RawServer();
  await server.send('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  const names = { kind: 'Widget', plural: 'widgets', singular: 'widget', listKind: 'WidgetList' };
  const version = { name: 'v1', served: true, storage: true, subresources: { status: {} } };
  const versions = [{ ...version, schema: { openAPIV3Schema: widgetSchema } }];
  const made = await server.send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: { group, scope: 'Namespaced', names, versions },
  });
  expect(made.code, JSON.stringify(made.body)).toBe(201);
  await until('the schema of the custom kind is published', () =>
    server.send('GET', `/openapi/v3/apis/${group}/v1`).then(
      ({ code, body }) => code === 200 && JSON.stringify(body).includes('Widget'),
      () => false,
    ),
  );
});
afterAll(() => server[Symbol.dispose]());

const rounds = Number(process.env.SSA_ROUNDS ?? 6);
const steps = Number(process.env.SSA_STEPS ?? 25);

describe.each(subjects)('$kind', (subject) => {
  test.each(Array.from({ length: rounds }, (_, round) => round))('round %i', async (round) => {
    const seed = `${process.env.SSA_SEED ?? 'ssa'}/${subject.kind}/${round}`;
    await new Play(subject, `x-${round}`, seededRandom(seed)).run(steps, seed);
  });
});

const appliers = ['ann', 'bob', 'cid', 'kubectl'];
/** More than the number of entries that is kept, two of them more often than the others. */
const updaters = ['una', 'una', 'una', 'vic', 'vic', 'vic', ...Array.from({ length: 12 }, (_, i) => `u${i}`)];

type Operation = 'apply' | 'create' | 'update' | 'merge' | 'reset' | 'apply status' | 'merge status';

class Play {
  readonly #subject: Subject;
  readonly #name: string;
  readonly #random: Random;
  #live: JsonObject | undefined;

  constructor(subject: Subject, name: string, random: Random) {
    this.#subject = subject;
    this.#name = name;
    this.#random = random;
  }

  async run(count: number, seed: string): Promise<void> {
    for (let step = 0; step < count; step++) {
      const operation = this.#choose();
      await this.#step(operation, `seed ${seed}, step ${step}: ${operation}`);
    }
  }

  #choose(): Operation {
    const random = this.#random;
    if (this.#live === undefined) return random.pick(['apply', 'apply', 'create']);
    const status: Operation[] = this.#subject.statusPart ? ['apply status', 'merge status'] : [];
    if (random.next() < 0.03) return 'reset';
    return random.pick(['apply', 'apply', 'apply', 'apply', 'update', 'merge', ...status]);
  }

  async #step(operation: Operation, what: string): Promise<void> {
    const random = this.#random;
    const status = operation.endsWith('status');
    const manager = operation.startsWith('apply') ? random.pick(appliers) : random.pick(updaters);
    const force = random.next() < 0.4;
    const body = this.#body(operation);
    const path = `${this.#subject.path(namespace)}${operation === 'create' ? '' : `/${this.#name}`}${status ? '/status' : ''}`;
    const query = `?fieldManager=${manager}${operation.startsWith('apply') ? `&force=${force}` : ''}`;
    const [method, type] = methods[operation];
    const answer = await server.send(method, `${path}${query}`, body, type);
    const context = `${what} by ${manager}${force ? ' (force)' : ''}: ${JSON.stringify(body)}\non ${JSON.stringify(this.#live)}`;

    const request = await this.#request(manager, status, answer);
    if (operation.startsWith('apply')) {
      this.#compareApply({ ...request, config: body, force }, answer, context);
    } else if (answer.code < 300) {
      const object = operation === 'create' ? this.#withoutAllocated(answer.body) : answer.body;
      const managedFields = (body.metadata as JsonObject | undefined)?.managedFields;
      const sent = { ...object, metadata: { ...(object.metadata as JsonObject), managedFields } };
      this.#compareManaged(trackUpdate({ ...request, object: sent }), answer, context);
    }
    if (answer.code < 300) this.#live = answer.body;
  }

  #body(operation: Operation): JsonObject {
    const { apiVersion, kind, part, updatePart = part, statusPart, builtIn } = this.#subject;
    const random = this.#random;
    const { name } = { name: this.#name };
    if (operation === 'apply status') return { apiVersion, kind, metadata: { name }, ...statusPart!(random) };
    if (operation === 'merge status') return statusPart!(random);
    // The metadata of custom objects goes through a Go struct first, which drops an empty list.
    if (operation === 'reset') return { metadata: { managedFields: builtIn ? random.pick([[], [{}]]) : [{}] } };
    const made = { apiVersion, kind, metadata: { name, ...metadataPart(random) }, ...part(random) };
    // Where the status is a subresource, a write of the object itself must not touch it.
    const full = statusPart && random.next() < 0.2 ? { ...made, ...statusPart(random) } : made;
    if (operation === 'merge') return { metadata: this.#withLastApplied(made), ...updatePart(random) };
    if (operation === 'apply' && random.next() < 0.1) return spoil(random, full);
    if (operation !== 'update') return full;
    const live = this.#live as JsonObject & { metadata: JsonObject };
    const { managedFields: _, labels: __, ...metadata } = live.metadata;
    const changed = {
      ...live,
      ...updatePart(random),
      metadata: { ...metadata, ...metadataPart(random) },
    } as JsonObject;
    const spec = live.spec as JsonObject | undefined;
    if (!this.#subject.allocated || spec === undefined) return changed;
    return { ...changed, spec: { ...pick(spec, this.#subject.allocated), ...(changed.spec as JsonObject) } };
  }

  /** As `kubectl apply` without `--server-side` leaves it. */
  #withLastApplied(config: JsonObject): JsonObject {
    const metadata = config.metadata as JsonObject;
    if (this.#random.next() < 0.7) return metadata;
    const annotations = { ...(metadata.annotations as JsonObject), [lastApplied]: `${JSON.stringify(config)}\n` };
    return { ...metadata, annotations };
  }

  async #request(manager: string, status: boolean, answer: RawAnswer): Promise<FieldManagerRequest> {
    const { apiVersion, kind, builtIn } = this.#subject;
    const schemas = await server.schemas(apiVersion);
    const reset = status ? (builtIn ? [['spec'], ['metadata', 'labels']] : [['metadata'], ['spec']]) : [['status']];
    return {
      apiVersion,
      kind,
      type: schemas.typeOf(kind),
      live: this.#live,
      manager,
      now: newest(answer.code < 300 ? answer.body : this.#live),
      ...(builtIn ? { empty: schemas.emptyOf(apiVersion, kind) } : {}),
      ...(status ? { subresource: 'status' } : {}),
      ...(this.#subject.statusPart || !builtIn ? { resetFields: excludeFields(...reset) } : {}),
    };
  }

  #compareApply(request: ApplyRequest, answer: RawAnswer, context: string): void {
    let result: ReturnType<typeof applyServerSide>;
    try {
      result = applyServerSide(request);
    } catch (error) {
      if (!(error instanceof ApplyError)) throw new Error(context, { cause: error });
      expect(error.status(), context).toEqual(answer.body);
      return;
    }
    if (result.conflicts) {
      expect(sorted(conflictStatus(result.conflicts)), context).toEqual(sorted(answer.body as Status));
      return;
    }
    // Refused by the validation that comes after the merge: nothing to compare.
    if (answer.code === 422) return;
    expect(answer.code, `${context}\n${JSON.stringify(answer.body)}`).toBeLessThan(300);
    this.#compareManaged(result.managedFields, answer, context);
    if (request.subresource) return;
    const [theirs, ours] = [plain(answer.body, this.#subject), plain(result.object, this.#subject)];
    if (this.#subject.builtIn) expect(theirs, context).toMatchObject(ours);
    else expect(theirs, context).toEqual(withDefaultZone(ours));
  }

  #compareManaged(entries: readonly ManagedFieldsEntry[] | undefined, answer: RawAnswer, context: string): void {
    const metadata = { ...(answer.body.metadata as JsonObject), managedFields: entries } as JsonObject;
    const next = { ...answer.body, metadata };
    const kept = this.#live === undefined ? next : keepTimes(this.#live, next);
    const theirs = (answer.body.metadata as JsonObject).managedFields;
    const ours = (kept.metadata as JsonObject).managedFields;
    expect(ours, context).toEqual(theirs);
    expect(fieldTexts(ours), context).toEqual(fieldTexts(theirs));
  }

  #withoutAllocated(object: JsonObject): JsonObject {
    const { allocated = [] } = this.#subject;
    if (allocated.length === 0) return object;
    const spec = Object.entries(object.spec as JsonObject).filter(([name]) => !allocated.includes(name));
    return { ...object, spec: Object.fromEntries(spec) };
  }
}

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** A configuration that is not quite one. */
function spoil(random: Random, config: JsonObject): JsonObject {
  const metadata = config.metadata as JsonObject;
  const spec = (config.spec ?? {}) as JsonObject;
  return random.pick<() => JsonObject>([
    () => ({ ...config, metadata: { ...metadata, managedFields: [] } }),
    () => ({ ...config, metadata: { ...metadata, labels: null } }),
    () => ({ ...config, metadata: { ...metadata, annotations: { a: null } } }),
    () => ({ ...config, metadata: { ...metadata, finalizers: ['x.dev/a', 'x.dev/a'] } }),
    () => ({ ...config, metadata: { ...metadata, labels: ['a'] } }),
    () => ({ ...config, metadata: { ...metadata, labels: { a: 1 } } }),
    () => ({ ...config, metadata: { ...metadata, labels: { a: { b: ['c', 1, true, null] } } } }),
    () => ({ ...config, metadata: { ...metadata, nothing: 1 } }),
    () => ({ ...config, nothing: { a: 1 } }),
    () => ({ ...config, kind: 'Other' }),
    () => ({ ...config, spec: { ...spec, ports: [{ protocol: 'TCP' }] } }),
    () => ({ ...config, spec: { ...spec, ports: [{ port: 80 }, { port: 80, protocol: 'TCP' }] } }),
    () => ({ ...config, spec: { ...spec, items: [{ zone: 'us' }, { zone: 'us', name: null }] } }),
    // One at a time: of several undeclared fields, Go names any.
    () => ({ ...config, spec: { ...spec, items: null } }),
    () => ({ ...config, spec: { ...spec, set: null } }),
    () => ({ ...config, spec: { ...spec, granular: null } }),
    () => ({ ...config, spec: { ...spec, set: ['a', null] } }),
    () => ({ ...config, spec: { ...spec, items: ['a'] } }),
    () => ({ ...config, spec: { ...spec, items: {} } }),
    () => ({ ...config, spec: { ...spec, nested: { flag: 'x', deep: null } } }),
    () => ({ ...config, spec: { ...spec, numbers: ['x', 1.5] } }),
    () => ({ ...config, spec: null }),
  ])();
}

const applyPatch = 'application/apply-patch+yaml';
const mergePatch = 'application/merge-patch+json';
const methods: Record<Operation, readonly [method: string, type: string]> = {
  apply: ['PATCH', applyPatch],
  create: ['POST', 'application/json'],
  update: ['PUT', 'application/json'],
  merge: ['PATCH', mergePatch],
  reset: ['PATCH', mergePatch],
  'apply status': ['PATCH', applyPatch],
  'merge status': ['PATCH', mergePatch],
};

/** The time of the latest write that the entries know of: the server's clock at the write that made it. */
function newest(object: JsonObject | undefined): number {
  const entries = (object?.metadata as { managedFields?: ManagedFieldsEntry[] } | undefined)?.managedFields ?? [];
  return Math.max(0, ...entries.map(({ time }) => (time === undefined ? 0 : parseTime(time))));
}

/** The fields as text, as their order counts too. */
function fieldTexts(entries: unknown): string[] {
  return ((entries ?? []) as ManagedFieldsEntry[]).map(({ fieldsV1 }) => JSON.stringify(fieldsV1));
}

function sorted(status: Status): Status {
  const causes = [...(status.details?.causes ?? [])].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return { ...status, details: { ...status.details, causes } };
}

/** What an applier can be held to: without the status and the server's own fields. */
function plain(object: JsonObject, subject: Subject): JsonObject {
  const { labels, annotations, finalizers } = object.metadata as JsonObject;
  const { metadata: _, status: __, ...rest } = object;
  const metadata = withoutNull({ labels, annotations, finalizers }, true);
  return { ...(withoutNull(rest, subject.builtIn) as JsonObject), metadata } as JsonObject;
}

/** The only default that the schema of the custom kind has. */
function withDefaultZone(object: JsonObject): JsonObject {
  const spec = object.spec as JsonObject | undefined;
  if (!Array.isArray(spec?.items)) return object;
  return { ...object, spec: { ...spec, items: spec.items.map((item) => ({ zone: 'eu', ...(item as object) })) } };
}

/** Without null; where Go structs are behind it, also without the zero values that these leave out. */
function withoutNull(value: unknown, zeros: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutNull(item, zeros));
  if (typeof value !== 'object' || value === null) return value;
  const out: Record<string, unknown> = {};
  for (const [name, child] of Object.entries(value)) {
    if (child === null || child === undefined) continue;
    const inner = withoutNull(child, zeros);
    const zero = typeof inner === 'object' ? Object.keys(inner as object).length === 0 : !inner;
    if (!(zeros && zero)) out[name] = inner;
  }
  return out;
}

function pick(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => names.includes(name)));
}
