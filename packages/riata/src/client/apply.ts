import { extractFields } from '../object/apply/extract-fields.js';
import { isJsonObject, type JsonObject } from '../object/json.js';
import type { KindRef } from '../object/kind.js';
import type { KubeObject, ObjectMeta } from '../object/meta.js';
import { setControllerReference } from '../object/owner-references.js';
import { equal } from '../object/value/equal.js';
import { patchTypes } from '../rest/rest-client.js';
import type { ApplyFields } from './apply-fields.js';
import { ApplyMemo } from './apply-memo.js';
import type { WriteObject } from './interfaces.js';
import type { Run } from './operation.js';
import type { WriteOptions } from './options.js';
import { writeParams } from './params.js';

/** Options of `apply` and `applyFields` (`client.ApplyOption`). */
export interface ApplyOptions<R extends KubeObject = KubeObject> extends WriteOptions {
  /** Who applies: wanted here, or from `withFieldOwner`. What this manager no longer says is removed. */
  readonly fieldManager?: string;
  /** Take fields over that other managers hold, instead of a conflict. @default false */
  readonly force?: boolean;
  /** Makes this object the controller of what is applied; also gives the namespace if none is named. */
  readonly ownedBy?: KubeObject;
  /**
   * What is stored now as far as known, e.g. from a cache: if applying would not change it, no request is made and it
   * is what the call resolves to.
   */
  readonly current?: R;
}

/** Server-side apply, for an object or a subresource of it. */
export class Applier {
  readonly #run: Run;
  readonly #kindOf: (object: WriteObject) => Promise<KindRef>;
  readonly #memo = new ApplyMemo();

  constructor(run: Run, kindOf: (object: WriteObject) => Promise<KindRef>) {
    this.#run = run;
    this.#kindOf = kindOf;
  }

  async apply<R extends KubeObject>(object: WriteObject, options: ApplyOptions<R>, subresource?: string): Promise<R> {
    return this.#send(await this.#kindOf(object), object, options, subresource);
  }

  applyFields<R extends KubeObject>(
    kind: KindRef<R>,
    fields: ApplyFields<R>,
    options: ApplyOptions<R>,
    subresource?: string,
  ): Promise<R> {
    return this.#send(kind, { ...fields, apiVersion: kind.apiVersion, kind: kind.kind }, options, subresource);
  }

  async #send<R extends KubeObject>(
    kind: KindRef,
    object: WriteObject,
    options: ApplyOptions<R>,
    subresource: string | undefined,
  ): Promise<R> {
    refuseStored(object);
    const intent = owned(kind, object, options.ownedBy);
    const { name, namespace } = intent.metadata;
    if (!name) throw new TypeError(`apply ${kind.kind}: metadata.name is missing; generateName does not go with apply`);
    const body = intent as unknown as JsonObject;
    const id = JSON.stringify([kind.apiVersion, kind.kind, namespace, name, subresource, options.fieldManager]);
    const { current } = options;
    if (current !== undefined && !options.dryRun) {
      if (this.#memo.stands(id, body, current) || appliedAlready(current, body, options.fieldManager, subresource)) {
        return current;
      }
    }
    const params = writeParams(options);
    const contentType = patchTypes.apply;
    const operation = { verb: 'patch', kind, namespace, name, subresource, params, body, contentType } as const;
    const answer = (await this.#run({ ...operation, signal: options.signal })) as R;
    if (!options.dryRun) this.#memo.remember(id, body, answer);
    return answer;
  }
}

/** An object that was read holds more than an intent: everything in it would become the applier's. */
function refuseStored(object: WriteObject): void {
  const { uid, managedFields, name } = object.metadata as Partial<ObjectMeta>;
  if (uid === undefined && managedFields === undefined) return;
  throw new TypeError(
    `apply ${object.kind} ${JSON.stringify(name)}: this object was read from a server (it has a ` +
      `${uid === undefined ? 'managedFields' : 'uid'}); apply what you intend, built by ${object.kind}({ … }), ` +
      'or what extractFields gives',
  );
}

function owned(kind: KindRef, object: WriteObject, owner: KubeObject | undefined): WriteObject {
  if (owner === undefined) return object;
  const namespace = kind.scope === 'Namespaced' ? (object.metadata.namespace ?? owner.metadata.namespace) : undefined;
  const placed = namespace === undefined ? object : { ...object, metadata: { ...object.metadata, namespace } };
  return setControllerReference(owner, placed);
}

/** Whether the manager's own entry in managedFields says that it has applied just this, and the values are the same. */
function appliedAlready(
  current: KubeObject,
  intent: JsonObject,
  fieldManager: string | undefined,
  subresource: string | undefined,
): boolean {
  if (fieldManager === undefined || current.metadata.managedFields === undefined) return false;
  const before = extractFields(current, { fieldManager, subresource });
  return before !== undefined && equal(before, withNamespace(intent, current.metadata.namespace));
}

function withNamespace(intent: JsonObject, namespace: string | undefined): JsonObject {
  if (namespace === undefined || !isJsonObject(intent.metadata)) return intent;
  return { ...intent, metadata: { ...intent.metadata, namespace } };
}
