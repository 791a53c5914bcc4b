import { Buffer } from 'node:buffer';
import type { Client, WriteObject } from '../../client/interfaces.js';
import { digest } from '../../client/operation/apply-memo.js';
import { isJsonObject, type Json } from '../../object/json.js';
import { type KindRef, makeKind, type Scope } from '../../object/kind.js';
import type { WriteMeta } from '../../object/meta.js';
import { setControllerReference, setOwnerReference } from '../../object/owner-references.js';
import { applyJsonPatch } from '../../object/patch/apply-json-patch.js';
import { isPatchError } from '../../object/patch/patch-error.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import { forEachSliced } from '../../runtime/time/sliced-work.js';
import type { ApplySetOptions, DiffPatch } from './apply-options.js';
import { type DesiredMember, memberId, memberText, type SetMember } from './apply-result.js';
import { type SetIdentity, setMarks } from './set-identity.js';

/** Finds the kinds of objects: known ones, those that the set itself defines, and then those of the server. */
async function kindsOfSet(
  clock: Scheduler,
  client: Client,
  objects: readonly WriteObject[],
): Promise<(object: WriteObject) => KindRef> {
  const [found, unknown] = [new Map<string, KindRef>(), new Map<string, WriteObject>()];
  await forEachSliced(clock, objects, (object) => {
    for (const kind of definedKinds(object)) found.set(typeOf(kind), kind);
    if (client.scheme.kindOf(object) === undefined) unknown.set(typeOf(object), object);
  });
  await Promise.all(
    [...unknown].map(async ([type, object]) => {
      if (!found.has(type)) found.set(type, await client.mapper.kindFor(object));
    }),
  );
  return (object) => client.scheme.kindOf(object) ?? (found.get(typeOf(object)) as KindRef);
}

function typeOf({ apiVersion, kind }: Pick<KindRef, 'apiVersion' | 'kind'>): string {
  return `${apiVersion}/${kind}`;
}

/** The kinds that an object makes a server offer, if it is a definition. */
function definedKinds(object: WriteObject): KindRef[] {
  if (object.kind !== 'CustomResourceDefinition' || !isJsonObject((object as { spec?: unknown }).spec)) return [];
  const { group, names, scope, versions } = (object as unknown as { readonly spec: Definition }).spec;
  if (!group || !names?.plural || !names.kind) return [];
  return (versions ?? []).map(({ name, subresources }) =>
    makeKind({
      ...{ group, version: name, kind: names.kind, plural: names.plural, scope },
      subresources: Object.keys(subresources ?? {}),
    }),
  );
}

interface Definition {
  readonly group?: string;
  readonly scope: Scope;
  readonly names?: { readonly kind: string; readonly plural: string };
  readonly versions?: readonly { readonly name: string; readonly subresources?: object }[];
}

/** The desired set as it will be sent. Throws a `TypeError` for what cannot be part of a set. */
export async function prepareSet(
  clock: Scheduler,
  client: Client,
  given: readonly WriteObject[],
  identity: SetIdentity,
  options: ApplySetOptions,
): Promise<DesiredMember[]> {
  let objects = given;
  for (const inject of options.injectors ?? []) objects = await inject(objects);
  const kindOf = await kindsOfSet(clock, client, objects);
  const all: DesiredMember[] = [];
  const seen = new Set<string>();
  await forEachSliced(clock, objects, (object) => {
    const desired = prepare(object, kindOf(object), identity, options);
    if (seen.has(desired.id))
      throw new TypeError(`apply of set ${identity.text}: ${memberText(desired)} is a duplicate`);
    seen.add(desired.id);
    all.push(desired);
  });
  return all;
}

function prepare(object: WriteObject, kind: KindRef, identity: SetIdentity, options: ApplySetOptions): DesiredMember {
  const { name } = object.metadata;
  if (!name) {
    throw new TypeError(
      `apply of set ${identity.text}: a ${kind.kind} has no metadata.name; generateName would create a new object on each apply`,
    );
  }
  const member = placed(object, name, kind, options);
  if (kind.scope === 'Cluster' && options.restrictClusterScoped) {
    throw new TypeError(
      `apply of set ${identity.text}: ${memberText(member)} is cluster-scoped; the set allows namespaced objects only`,
    );
  }
  const bare = withoutServerFields(object, kind);
  const { namespace: _given, ...metadata } = bare.metadata as WriteMeta;
  const marked: WriteMeta = {
    ...metadata,
    ...(member.namespace === undefined ? {} : { namespace: member.namespace }),
    labels: { ...metadata.labels, ...identity.labels },
    annotations: { ...withoutMark(metadata.annotations), ...identity.annotations },
  };
  const owned = withOwner({ ...bare, metadata: marked }, member, options);
  const intent = withoutIgnored(owned, member, options.diffPatches ?? []);
  return { ...member, id: memberId(member), intent: options.mode === 'three-way' ? intent : withIntentMark(intent) };
}

function placed(object: WriteObject, name: string, kind: KindRef, options: ApplySetOptions): SetMember {
  // A cluster-scoped object may come with a namespace, e.g. from a chart that sets it everywhere.
  if (kind.scope === 'Cluster') return { kind, name };
  const { defaultNamespace, owner } = options;
  return {
    kind,
    namespace: object.metadata.namespace || defaultNamespace || owner?.metadata.namespace || 'default',
    name,
  };
}

/** Statuses are another writer's, and tools print `creationTimestamp: null`. */
function withoutServerFields(object: WriteObject, kind: KindRef): WriteObject {
  const { status, ...rest } = object as WriteObject & { readonly status?: unknown };
  const { creationTimestamp: _made, ...metadata } = object.metadata as WriteMeta & {
    readonly creationTimestamp?: unknown;
  };
  const isPlain = status !== undefined && kind.group !== '' && !kind.subresources.includes('status');
  const bare = { ...rest, ...(isPlain ? { status } : {}), metadata } as WriteObject;
  return kind.group === '' && kind.kind === 'Secret' ? encoded(bare) : bare;
}

/** Servers turn `stringData` into `data`, so that it can never be compared with what is stored. */
function encoded(secret: WriteObject): WriteObject {
  const { stringData, data, ...rest } = secret as WriteObject & Record<'stringData' | 'data', unknown>;
  if (!isJsonObject(stringData)) return secret;
  const texts = Object.entries(stringData).map(([key, text]) => [key, Buffer.from(String(text)).toString('base64')]);
  return { ...rest, data: { ...(isJsonObject(data) ? data : {}), ...Object.fromEntries(texts) } } as WriteObject;
}

function withoutMark(annotations: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const { [setMarks.applied]: _applied, [setMarks.intent]: _intent, ...rest } = annotations;
  return rest;
}

function withOwner(object: WriteObject, { namespace, kind }: SetMember, options: ApplySetOptions): WriteObject {
  const { owner, setOwnerReference: desired = false } = options;
  if (owner === undefined || desired === false) return object;
  const home = owner.metadata.namespace;
  // Garbage collection knows no owner in another namespace; the set itself does.
  if (home !== undefined && (kind.scope === 'Cluster' || namespace !== home)) return object;
  const { controller = false, blockOwnerDeletion } = desired === true ? {} : desired;
  return controller
    ? setControllerReference(owner, object, { blockOwnerDeletion: blockOwnerDeletion ?? false })
    : setOwnerReference(owner, object, { blockOwnerDeletion });
}

function withoutIgnored(
  object: WriteObject,
  member: SetMember,
  patches: readonly DiffPatch[],
): DesiredMember['intent'] {
  return patched(object, member, patches) as DesiredMember['intent'];
}

/** An object as it is compared: after the patches that are meant for it. */
export function patched<T extends object>(object: T, member: SetMember, patches: readonly DiffPatch[]): T {
  let result = object;
  for (const { kind, key, patch } of patches) {
    if (kind.group !== member.kind.group || kind.kind !== member.kind.kind) continue;
    if (key !== undefined && (key.name !== member.name || key.namespace !== member.namespace)) continue;
    try {
      result = applyJsonPatch(result as unknown as Json, patch) as unknown as T;
    } catch (error) {
      if (!isPatchError(error)) throw error;
    }
  }
  return result;
}

function withIntentMark(intent: DesiredMember['intent']): DesiredMember['intent'] {
  const annotations = { ...intent.metadata.annotations, [setMarks.intent]: digest(intent).slice(0, 22) };
  return { ...intent, metadata: { ...intent.metadata, annotations } };
}
