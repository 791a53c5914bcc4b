import type { KindRef, ReadOf, Scope } from '../object/kind.js';
import type { KubeObject } from '../object/meta.js';
import { refuseLossy } from '../object/value/lossy.js';
import { patchTypes } from '../rest/rest-client.js';
import { refuseUnknownOptions } from '../runtime/option-names.js';
import type { ApplyFields } from './apply-fields.js';
import type { ApplyArgument, At, Key, Placement, SubResourceClient, WriteObject } from './interfaces.js';
import { applyOperation, intentOf } from './operation/apply-operation.js';
import type { Run } from './operation/operation.js';
import { callOf, getParams, writeParams } from './operation/params.js';
import {
  type ApplyOptions,
  applyOptionNames,
  type CreateOptions,
  type GetOptions,
  getOptionNames,
  type PatchOptions,
  patchOptionNames,
  type UpdateOptions,
  writeOptionNames,
} from './options.js';
import type { Patch } from './patch.js';

interface Name {
  readonly namespace?: string;
  readonly name: string;
}

/** One subresource of every kind, e.g. `status`. */
export class SubResource<in P extends Placement> implements SubResourceClient<P> {
  readonly #subresource: string;
  /** Its name in errors. */
  readonly #subject: string;
  readonly #run: Run;
  readonly #kindOf: (object: WriteObject) => Promise<KindRef>;

  constructor(name: string, run: Run, kindOf: (object: WriteObject) => Promise<KindRef>) {
    this.#subresource = name;
    this.#subject = name === 'status' ? 'client.status' : `client.subresource("${name}")`;
    this.#run = run;
    this.#kindOf = kindOf;
  }

  async get<B = unknown>(kind: KindRef, key: Name, options: GetOptions = {}): Promise<B> {
    refuseUnknownOptions(this.#subject, options, getOptionNames);
    const params = getParams(options);
    return (await this.#run({ verb: 'get', ...this.#at(kind, key), params, ...callOf(options) })) as B;
  }

  async create<B = unknown>(kind: KindRef, key: Name, body: object, options: CreateOptions = {}): Promise<B> {
    refuseUnknownOptions(this.#subject, options, writeOptionNames);
    const params = writeParams(options);
    return (await this.#run({ verb: 'create', ...this.#at(kind, key), params, body, ...callOf(options) })) as B;
  }

  async replace<B extends object>(kind: KindRef, key: Name, body: B, options: UpdateOptions = {}): Promise<B> {
    return await this.#replace(kind, key, body, options);
  }

  async #replace<B extends object>(kind: KindRef, key: Name, body: B, options: UpdateOptions): Promise<B> {
    refuseUnknownOptions(this.#subject, options, writeOptionNames);
    refuseLossy(body, 'update');
    const params = writeParams(options);
    const answer = await this.#run({ verb: 'update', ...this.#at(kind, key), params, body, ...callOf(options) });
    return answer as B;
  }

  update<R extends KubeObject>(object: R, options?: UpdateOptions): Promise<R>;
  update<T extends WriteObject>(object: At<T, P> & T, options?: UpdateOptions): Promise<ReadOf<T>>;
  async update(object: WriteObject, options: UpdateOptions = {}): Promise<unknown> {
    const kind = await this.#kindOf(object);
    const { namespace, name = '' } = object.metadata;
    return await this.#replace(kind, { namespace, name }, object, options);
  }

  async patch<R extends KubeObject, S extends Scope>(
    kind: KindRef<R, S>,
    key: Key<S, P>,
    patch: Patch<R>,
    options: PatchOptions = {},
  ): Promise<R> {
    refuseUnknownOptions(this.#subject, options, patchOptionNames);
    const contentType = patchTypes[patch.type];
    const operation = { verb: 'patch', ...this.#at(kind, key), params: writeParams(options) } as const;
    return (await this.#run({ ...operation, body: patch.body, contentType, ...callOf(options) })) as R;
  }

  async applyFields<R extends KubeObject>(
    kind: KindRef<R>,
    fields: ApplyFields<R>,
    options: ApplyArgument<P, ApplyOptions<R>>,
  ): Promise<R> {
    refuseUnknownOptions(this.#subject, (options ?? {}) as object, applyOptionNames);
    return (await this.#run(applyOperation(kind, intentOf(kind, fields), options ?? {}, this.#subresource))) as R;
  }

  #at(kind: KindRef, { namespace, name }: Name) {
    return { kind, namespace, name, subresource: this.#subresource };
  }
}
