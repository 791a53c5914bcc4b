import {
  ApplyError,
  type ApplyRequest,
  type ApplyResult,
  applyServerSide,
  conflictStatus,
  excludeFields,
  type FieldManagerRequest,
  type JsonObject,
  keepTimes,
  type ManagedFieldsEntry,
  parseTime,
  type Status,
  trackUpdate,
} from 'riata/object';
import type { Random } from 'riata/runtime';
import { expect } from 'vitest';
import { corruptedConfig } from './corrupted-config.js';
import { metadataPart, type RandomPart } from './random-configs.js';
import type { RawAnswer } from './raw-connections.js';
import type { RawServer } from './raw-server.js';
import { playScale } from './scale-play.js';

/** A kind to play with. */
export interface Subject {
  /** All that are served; writes go to any. */
  readonly apiVersions: readonly string[];
  readonly kind: string;
  readonly resource: string;
  readonly part: RandomPart;
  /** What updates may send besides. */
  readonly updatePart?: RandomPart;
  readonly statusPart?: RandomPart;
  /** Set by the server after it has taken note of who wrote what. */
  readonly allocated?: readonly string[];
  readonly scalable?: boolean;
  /** Whether the server keeps objects of it as Go structs. */
  readonly builtIn: boolean;
}

const appliers = ['ann', 'bob', 'cid', 'kubectl'];
/** More than the number of entries that is kept, two of them more often than the others. */
const updaters = ['una', 'una', 'una', 'vic', 'vic', 'vic', ...Array.from({ length: 12 }, (_, i) => `u${i}`)];

const applyPatch = 'application/apply-patch+yaml';
const mergePatch = 'application/merge-patch+json';
const methods = {
  apply: ['PATCH', applyPatch],
  create: ['POST', 'application/json'],
  update: ['PUT', 'application/json'],
  merge: ['PATCH', mergePatch],
  reset: ['PATCH', mergePatch],
  inject: ['PATCH', mergePatch],
  'apply status': ['PATCH', applyPatch],
  'merge status': ['PATCH', mergePatch],
  'apply scale': ['PATCH', applyPatch],
  'merge scale': ['PATCH', mergePatch],
} as const;
type Operation = keyof typeof methods;

/** Random writes of one object, each compared with what the engine makes of it. */
export class Play {
  readonly #server: RawServer;
  readonly #subject: Subject;
  readonly #place: { readonly namespace: string; readonly name: string };
  readonly #random: Random;
  /** The version of the next write. */
  #apiVersion = '';
  #live: JsonObject | undefined;
  /** What each applier applied last. */
  readonly #applied = new Map<string, JsonObject>();

  constructor(server: RawServer, subject: Subject, place: { namespace: string; name: string }, random: Random) {
    this.#server = server;
    this.#subject = subject;
    this.#place = place;
    this.#random = random;
  }

  async run(steps: number, seed: string): Promise<void> {
    for (let step = 0; step < steps; step++) {
      this.#apiVersion = this.#random.pick(this.#subject.apiVersions);
      if (this.#live) this.#live = { ...this.#live, apiVersion: this.#apiVersion };
      const operation = this.#choose();
      await this.#step(operation, `seed ${seed}, step ${step}: ${operation}`);
    }
  }

  #choose(): Operation {
    const random = this.#random;
    if (this.#live === undefined) return random.pick(['apply', 'apply', 'create']);
    if (random.next() < 0.1) return random.pick(['reset', 'inject', 'inject']);
    const operations: Operation[] = ['apply', 'apply', 'apply', 'apply', 'update', 'merge'];
    if (this.#subject.statusPart) operations.push('apply status', 'merge status');
    if (this.#subject.scalable) operations.push('apply scale', 'merge scale');
    return random.pick(operations);
  }

  async #step(operation: Operation, what: string): Promise<void> {
    const random = this.#random;
    const applies = operation.startsWith('apply');
    const subresource = operation.split(' ')[1] ?? '';
    const manager = random.pick(applies ? appliers : updaters);
    const force = random.next() < 0.4;
    const made = this.#body(operation);
    const body = operation === 'apply' ? this.#again(manager, made) : made;
    const query = `?fieldManager=${manager}${applies ? `&force=${force}` : ''}`;
    const [method, type] = methods[operation];
    const path = `${this.#path(operation !== 'create')}${subresource && `/${subresource}`}`;
    const answer = await this.#server.send(method, `${path}${query}`, body, type);
    const by = `${manager} in ${this.#apiVersion}${force ? ' (force)' : ''}`;
    const context = `${what} by ${by}: ${JSON.stringify(body)}\non ${JSON.stringify(this.#live)}\n`;
    if (subresource === 'scale') {
      await this.#scaled({ manager, force, ...(applies ? { config: body } : {}) }, answer, context);
      return;
    }
    const request = await this.#request(manager, subresource, answer);
    if (applies) {
      this.#compareApply({ ...request, config: body, force }, answer, context);
    } else if (answer.code < 300) {
      const object = operation === 'create' ? this.#withoutAllocated(answer.body) : answer.body;
      const managedFields = (body.metadata as JsonObject | undefined)?.managedFields;
      const sent = { ...object, metadata: { ...(object.metadata as JsonObject), managedFields } };
      this.#compareManaged(trackUpdate({ ...request, object: sent }), answer, context);
    }
    if (answer.code < 300) this.#live = answer.body;
  }

  /** Sometimes what was applied before, as it was or with something added or left out. */
  #again(manager: string, made: JsonObject): JsonObject {
    const before = this.#applied.get(manager);
    const [random, apiVersion] = [this.#random, this.#apiVersion];
    const config = before && random.next() < 0.5 ? this.#variant(before, made) : made;
    this.#applied.set(manager, config);
    return config.kind === this.#subject.kind ? { ...config, apiVersion } : config;
  }

  #variant(before: JsonObject, made: JsonObject): JsonObject {
    const spec = (before.spec ?? {}) as JsonObject;
    const other = (made.spec ?? {}) as JsonObject;
    const without = Object.fromEntries(Object.entries(spec).filter(([name]) => name !== 'items' && name !== 'free'));
    return this.#random.pick<JsonObject>([
      before,
      { ...before, metadata: made.metadata! },
      ...(before.spec ? [{ ...before, spec: { ...other, ...spec } } as JsonObject, { ...before, spec: without }] : []),
    ]);
  }

  #path(named: boolean): string {
    const root = this.#apiVersion.includes('/') ? '/apis' : '/api';
    const { namespace, name } = this.#place;
    const all = `${root}/${this.#apiVersion}/namespaces/${namespace}/${this.#subject.resource}`;
    return named ? `${all}/${name}` : all;
  }

  #body(operation: Operation): JsonObject {
    const { kind, part, updatePart = part, statusPart, builtIn } = this.#subject;
    const apiVersion = this.#apiVersion;
    const random = this.#random;
    const { name } = this.#place;
    switch (operation) {
      case 'apply status':
        return { apiVersion, kind, metadata: { name }, ...statusPart!(random) };
      case 'merge status':
        return statusPart!(random);
      case 'apply scale':
        return {
          apiVersion: 'autoscaling/v1',
          kind: 'Scale',
          metadata: { name },
          spec: { replicas: random.int(1, 3) },
        };
      case 'merge scale':
        return { spec: { replicas: random.int(1, 3) } };
      case 'reset':
        // The metadata of custom objects goes through a Go struct first, which drops an empty list.
        return { metadata: { managedFields: builtIn ? random.pick([[], [{}]]) : [{}] } };
      case 'inject':
        return { metadata: { managedFields: this.#injected() as never } };
      default:
    }
    const made = { apiVersion, kind, metadata: { name, ...metadataPart(random) }, ...part(random) };
    // Where the status is a subresource, a write of the object itself must not touch it.
    const full = statusPart && random.next() < 0.2 ? { ...made, ...statusPart(random) } : made;
    if (operation === 'merge') return { metadata: this.#withLastApplied(made), ...updatePart(random) };
    if (operation === 'apply' && random.next() < 0.1) return corruptedConfig(random, full);
    return operation === 'update' ? this.#changed(updatePart(random)) : full;
  }

  #changed(part: JsonObject): JsonObject {
    const live = this.#live as JsonObject & { metadata: JsonObject };
    const { managedFields: _, labels: __, ...metadata } = live.metadata;
    const changed = { ...live, ...part, metadata: { ...metadata, ...metadataPart(this.#random) } };
    const { allocated } = this.#subject;
    if (!allocated) return changed as JsonObject;
    const kept = Object.entries(live.spec as JsonObject).filter(([name]) => allocated.includes(name));
    return { ...changed, spec: { ...Object.fromEntries(kept), ...(part.spec as JsonObject) } } as JsonObject;
  }

  /**
   * Entries that a client invents: fewer than exist, so that fields lose their owner; of a version that is not served,
   * of fields that don't exist, of no operation.
   */
  #injected(): ManagedFieldsEntry[] {
    const time = '2020-01-01T00:00:00Z';
    const entry = { manager: 'old', operation: 'Update', apiVersion: 'v0', time, fieldsType: 'FieldsV1' } as const;
    const fieldsV1 = { 'f:spec': { 'f:b': {}, 'f:a': {}, 'x:unknown': {}, 'k:{"b":1,"a":"<"}': {} } };
    const known = { ...entry, apiVersion: this.#apiVersion, fieldsV1 };
    const random = this.#random;
    const present = managedFieldsOf(this.#live).filter(() => random.next() < 0.7);
    if (present.length > 0 && random.next() < 0.6) return present;
    const made: ManagedFieldsEntry[] = random.pick([
      [{ ...entry, fieldsV1 }],
      [known, { ...known, operation: 'Apply', time: undefined, subresource: 'status' }],
      [known, { ...known, operation: 'Delete' }],
      [{ ...known, fieldsType: 'FieldsV2' }],
      [{ ...known, apiVersion: undefined }],
      [{ ...known, manager: undefined, fieldsV1: { 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } } } }],
    ]);
    return [...present, ...made];
  }

  /** As `kubectl apply` without `--server-side` leaves it. */
  #withLastApplied(config: JsonObject): JsonObject {
    const metadata = config.metadata as JsonObject;
    if (this.#random.next() < 0.7) return metadata;
    const annotations = { ...(metadata.annotations as JsonObject), [lastApplied]: `${JSON.stringify(config)}\n` };
    return { ...metadata, annotations };
  }

  async #request(manager: string, subresource: string, answer: RawAnswer): Promise<FieldManagerRequest> {
    const { kind, builtIn, apiVersions } = this.#subject;
    const apiVersion = this.#apiVersion;
    const schemas = await this.#server.schemas(apiVersion);
    const type = schemas.typeOf(kind);
    const statusReset = builtIn ? [['spec'], ['metadata', 'labels']] : [['metadata'], ['spec']];
    const filter = excludeFields(...(subresource === 'status' ? statusReset : [['status']]));
    return {
      apiVersion,
      kind,
      type,
      versions: (version) => {
        if (apiVersions.includes(version)) return { type };
        if (builtIn) return undefined;
        throw new ApplyError(500, `request to convert CR to an invalid group/version: ${version}`);
      },
      live: this.#live,
      manager,
      subresource,
      now: newest(answer.code < 300 ? answer.body : this.#live),
      ...(builtIn ? { empty: schemas.emptyOf(apiVersion, kind) } : {}),
      // As upstream: only the version of the request is filtered.
      ...(this.#subject.statusPart ? { resetFields: new Map([[apiVersion, filter]]) } : {}),
    };
  }

  #compareApply(request: ApplyRequest, answer: RawAnswer, context: string): void {
    let result: ApplyResult;
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
    expect(answer.code, `${context}${JSON.stringify(answer.body)}`).toBeLessThan(300);
    this.#compareManaged(result.managedFields, answer, context);
    if (request.subresource) return;
    const [theirs, ours] = [plain(answer.body, this.#subject), plain(result.object, this.#subject)];
    if (this.#subject.builtIn) expect(theirs, context).toMatchObject(ours);
    else expect(theirs, context).toEqual(this.#subject.kind === 'Widget' ? withDefaultZone(ours) : ours);
  }

  #compareManaged(entries: readonly ManagedFieldsEntry[] | undefined, answer: RawAnswer, context: string): void {
    const metadata = { ...(answer.body.metadata as JsonObject), managedFields: entries } as JsonObject;
    const next = { ...answer.body, metadata };
    const kept = this.#live === undefined ? next : keepTimes(this.#live, next);
    const theirs = managedFieldsOf(answer.body);
    const ours = managedFieldsOf(kept).map((entry, index) => {
      // The server looks at the clock twice when it makes this entry and another.
      return entry.manager === 'before-first-apply' ? { ...entry, time: theirs[index]?.time } : entry;
    });
    expect(ours, context).toEqual(theirs);
    // As text, as the order of fields counts too.
    expect(
      ours.map(({ fieldsV1 }) => JSON.stringify(fieldsV1)),
      context,
    ).toEqual(theirs.map(({ fieldsV1 }) => JSON.stringify(fieldsV1)));
  }

  async #scaled(
    write: { manager: string; force: boolean; config?: JsonObject },
    answer: RawAnswer,
    context: string,
  ): Promise<void> {
    const { body: after } = await this.#server.send('GET', this.#path(true));
    const schemas = await this.#server.schemas(this.#apiVersion);
    const outcome = playScale({ ...write, schemas, live: this.#live!, after, now: newest(answer.body) });
    if (outcome.conflicts) {
      expect(sorted(outcome.conflicts), context).toEqual(sorted(answer.body as Status));
    } else {
      expect(answer.code, `${context}${JSON.stringify(answer.body)}`).toBe(200);
      expect(outcome.managedFields ?? [], context).toEqual(managedFieldsOf(after));
    }
    this.#live = after;
  }

  #withoutAllocated(object: JsonObject): JsonObject {
    const { allocated = [] } = this.#subject;
    if (allocated.length === 0) return object;
    const spec = Object.entries(object.spec as JsonObject).filter(([name]) => !allocated.includes(name));
    return { ...object, spec: Object.fromEntries(spec) };
  }
}

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

function managedFieldsOf(object: JsonObject | undefined): readonly ManagedFieldsEntry[] {
  return (object?.metadata as { managedFields?: ManagedFieldsEntry[] } | undefined)?.managedFields ?? [];
}

/** The time of the latest write that the entries know of: the server's clock at the write that made it. */
function newest(object: JsonObject | undefined): number {
  return Math.max(0, ...managedFieldsOf(object).map(({ time }) => (time === undefined ? 0 : parseTime(time))));
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
