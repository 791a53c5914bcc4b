import type { GroupVersionKind } from 'riata/object';
import type { Resource, Subresource } from '../resource/resource.js';
import { builtInSchema } from '../schema/built-in/built-in-schema.js';
import type { Parameter } from './parameters.js';
import * as parameters from './parameters.js';

/** The answer of an operation. */
export type Answer = GroupVersionKind | 'list' | 'Status' | 'WatchEvent' | 'text' | 'APIResourceList';

/** One method of a path. */
export interface Operation {
  readonly method: string;
  readonly id: string;
  readonly action: string | undefined;
  /** The kind that it is about; undefined for discovery. */
  readonly kind: GroupVersionKind | undefined;
  readonly parameters: readonly Parameter[];
  readonly body?: GroupVersionKind | 'Patch' | 'DeleteOptions';
  readonly codes: readonly number[];
  readonly answer: Answer;
  /** Whether it may be a watch. */
  readonly streams?: boolean;
}

export interface Path {
  readonly path: string;
  readonly operations: readonly Operation[];
  /** The parameters that all operations share. */
  readonly parameters: readonly Parameter[];
}

/** How operations of a group and version are called, and under which tag they stand. */
export function operationNames(group: string, version: string): { readonly prefix: string; readonly tag: string } {
  const words = group === '' ? ['core'] : group.replace(/\.k8s\.io$/, '').split(/[^A-Za-z0-9]+/);
  const camel = words.map((word, index) => (index === 0 ? word : capital(word))).join('');
  return { prefix: capital(camel) + capital(version), tag: `${camel}_${version}` };
}

/** All operations of a resource. */
export function pathsOf(resource: Resource): readonly Path[] {
  const { group, version, plural, scope, builtIn, subresources } = resource;
  const base = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const isNamespaced = scope === 'Namespaced';
  const inNamespace = isNamespaced ? '/namespaces/{namespace}' : '';
  const collection = `${base}${inNamespace}/${plural}`;
  const item = `${collection}/{name}`;
  const verbs = new Set(resource.verbs);
  const make = new OperationMaker(resource);
  const where = isNamespaced ? parameters.pathParameters('namespace') : [];
  const one = [...parameters.pathParameters('name'), ...where];
  const paths: Path[] = [];
  const add = (path: string, operations: readonly (Operation | false)[], common: readonly Parameter[]) => {
    const given = operations.filter((operation) => operation !== false);
    if (given.length > 0) paths.push(shared(path, given, common));
  };
  const { prettyParameter: pretty } = parameters;
  add(
    collection,
    [
      verbs.has('list') && make.list(),
      verbs.has('create') && make.create(),
      verbs.has('deletecollection') && make.deleteAll(),
    ],
    [...where, ...pretty],
  );
  add(
    item,
    [
      verbs.has('get') && make.get(),
      verbs.has('update') && make.replace(),
      verbs.has('delete') && make.delete(),
      verbs.has('patch') && make.patch(),
    ],
    [...one, ...pretty],
  );
  for (const sub of subresources) {
    if (isConnected(sub)) {
      add(`${item}/${sub.name}`, make.connect(sub, false), one);
      if (sub.name === 'proxy') {
        add(`${item}/proxy/{path}`, make.connect(sub, true), [...one, ...parameters.pathParameters('path')]);
      }
      continue;
    }
    const subVerbs = new Set(sub.verbs);
    add(
      `${item}/${sub.name}`,
      [
        subVerbs.has('get') && make.get(sub),
        subVerbs.has('update') && make.replace(sub),
        subVerbs.has('create') && make.create(sub),
        subVerbs.has('patch') && make.patch(sub),
      ],
      [...one, ...pretty],
    );
  }
  if (isNamespaced && verbs.has('list')) add(`${base}/${plural}`, [make.list(true)], pretty);
  if (!builtIn || !verbs.has('watch')) return paths;
  const watched = `${base}/watch${inNamespace}/${plural}`;
  add(watched, [make.watch('List')], [...where, ...pretty]);
  if (isNamespaced) add(`${base}/watch/${plural}`, [make.watch('ListForAllNamespaces')], pretty);
  add(`${watched}/{name}`, [make.watch('')], [...one, ...pretty]);
  return paths;
}

/** Those that connect to something behind the server. */
function isConnected({ kind }: Subresource): boolean {
  return kind.endsWith('Options');
}

class OperationMaker {
  readonly #resource: Resource;
  readonly #prefix: string;
  readonly #scoped: string;

  constructor(resource: Resource) {
    this.#resource = resource;
    this.#prefix = operationNames(resource.group, resource.version).prefix;
    this.#scoped = resource.scope === 'Namespaced' ? 'Namespaced' : '';
  }

  list(everywhere = false): Operation {
    const { kind, builtIn } = this.#resource;
    const name = everywhere ? `${kind}ForAllNamespaces` : `${this.#scoped}${kind}`;
    const id = `list${this.#prefix}${name}`;
    const what = { action: 'list', kind: this.#resource, answer: 'list' as const, codes: [200] };
    return { method: 'get', id, ...what, parameters: parameters.listParameters, streams: builtIn };
  }

  watch(suffix: '' | 'List' | 'ListForAllNamespaces'): Operation {
    const scoped = suffix === 'ListForAllNamespaces' ? '' : this.#scoped;
    const id = `watch${this.#prefix}${scoped}${this.#resource.kind}${suffix}`;
    const action = suffix === '' ? 'watch' : 'watchlist';
    const what = { action, kind: this.#resource, answer: 'WatchEvent' as const, codes: [200] };
    return { method: 'get', id, ...what, parameters: parameters.listParameters, streams: true };
  }

  create(sub?: Subresource): Operation {
    const kind = this.#kindOf(sub);
    const what = { action: 'post', kind, body: kind, answer: kind, codes: [200, 201, 202] };
    return { method: 'post', id: this.#id('create', sub), ...what, parameters: parameters.writeParameters };
  }

  deleteAll(): Operation {
    const id = `delete${this.#prefix}Collection${this.#scoped}${this.#resource.kind}`;
    const what = { action: 'deletecollection', kind: this.#resource, answer: 'Status' as const, codes: [200] };
    if (!this.#resource.builtIn) return { method: 'delete', id, ...what, parameters: parameters.listParameters };
    return { method: 'delete', id, ...what, body: 'DeleteOptions', parameters: parameters.deleteCollectionParameters };
  }

  get(sub?: Subresource): Operation {
    const isLog = sub?.name === 'log';
    const kind = this.#kindOf(sub);
    const own = this.#resource.builtIn ? [] : parameters.getParameters;
    const what = {
      action: 'get',
      kind: this.#about(sub),
      codes: [200],
      parameters: isLog ? parameters.logParameters : own,
    };
    return { method: 'get', id: this.#id('read', sub), ...what, answer: isLog ? 'text' : kind };
  }

  replace(sub?: Subresource): Operation {
    const kind = this.#kindOf(sub);
    const what = { action: 'put', kind: this.#about(sub), body: kind, answer: kind, codes: [200, 201] };
    return { method: 'put', id: this.#id('replace', sub), ...what, parameters: parameters.writeParameters };
  }

  patch(sub?: Subresource): Operation {
    const kind = this.#kindOf(sub);
    const codes = this.#resource.builtIn ? [200, 201] : [200];
    const what = { action: 'patch', kind: this.#about(sub), body: 'Patch' as const, answer: kind, codes };
    return { method: 'patch', id: this.#id('patch', sub), ...what, parameters: parameters.patchParameters };
  }

  delete(): Operation {
    const what = { action: 'delete', kind: this.#resource, body: 'DeleteOptions' as const, codes: [200, 202] };
    const kind = this.#kindOf(undefined);
    const answersObject = this.#resource.builtIn && answeredOnDelete.has(`${kind.group}/${kind.kind}`);
    const common = { parameters: parameters.deleteParameters, answer: answersObject ? kind : ('Status' as const) };
    return { method: 'delete', id: this.#id('delete'), ...what, ...common };
  }

  connect(sub: Subresource, withPath: boolean): Operation[] {
    const methods = sub.name === 'proxy' ? allMethods : ['get', 'post'];
    const fields = builtInSchema(sub)?.struct?.fieldList ?? [];
    const { kind } = this.#resource;
    return methods.map((method) => ({
      method,
      id: `connect${this.#prefix}${capital(method)}${this.#scoped}${kind}${capital(sub.name)}${withPath ? 'WithPath' : ''}`,
      action: 'connect',
      kind: this.#kindOf(sub),
      parameters: parameters.optionParameters(fields),
      codes: [200],
      answer: 'text',
    }));
  }

  #id(verb: string, sub?: Subresource): string {
    return `${verb}${this.#prefix}${this.#scoped}${this.#resource.kind}${capital(sub?.name ?? '')}`;
  }

  /** The kind of an operation: for custom kinds, the kind itself. */
  #about(sub: Subresource | undefined): GroupVersionKind {
    return this.#kindOf(this.#resource.builtIn ? sub : undefined);
  }

  #kindOf(sub: Subresource | undefined): GroupVersionKind {
    const { group, version, kind } = sub ?? this.#resource;
    return { group, version, kind };
  }
}

/** Kinds that answer a deletion with their last state; the others answer with a Status. */
const answeredOnDelete: ReadonlySet<string> = new Set([
  ...['PersistentVolume', 'PersistentVolumeClaim', 'Pod', 'PodTemplate'].map((kind) => `/${kind}`),
  ...['ResourceQuota', 'Service', 'ServiceAccount'].map((kind) => `/${kind}`),
  ...['DeviceClass', 'ResourceClaim', 'ResourceClaimTemplate', 'ResourceSlice'].map(
    (kind) => `resource.k8s.io/${kind}`,
  ),
  ...['CSIDriver', 'CSINode', 'StorageClass', 'VolumeAttachment', 'VolumeAttributesClass'].map(
    (kind) => `storage.k8s.io/${kind}`,
  ),
]);

const allMethods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'];

/** Parameters of all operations are listed once. */
function shared(path: string, operations: readonly Operation[], common: readonly Parameter[]): Path {
  const [first, ...rest] = operations.map((operation) => operation.parameters);
  const everywhere = (first ?? []).filter((p) => rest.every((other) => other.some(({ name }) => name === p.name)));
  const known = new Set(everywhere.map(({ name }) => name));
  const own = operations.map((o) => ({ ...o, parameters: o.parameters.filter(({ name }) => !known.has(name)) }));
  return { path, operations: own, parameters: [...common, ...everywhere] };
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}
