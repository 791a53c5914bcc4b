import type { GroupVersionKind, JsonObject } from 'riata/object';
import type { Resource } from '../resource/resource.js';
import { customKind, customList } from './custom-definitions.js';
import type { Definitions, Dialect } from './definitions.js';
import { type Operation, operationNames, type Path, pathsOf } from './operations.js';
import type { Parameter } from './parameters.js';

const plainTypes = ['application/json', 'application/yaml'];
const protobuf = 'application/vnd.kubernetes.protobuf';
const streamTypes = ['application/json;stream=watch', `${protobuf};stream=watch`];
const phrases: Readonly<Record<number, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted', 401: 'Unauthorized' };

/** A version of a group. */
export type GroupVersion = Pick<GroupVersionKind, 'group' | 'version'>;

export const core: GroupVersion = { group: '', version: 'v1' };

/** Writes the operations of resources in one version of OpenAPI; collects the definitions that they refer to. */
export class PathItems {
  readonly #dialect: Dialect;
  readonly #definitions: Definitions;
  readonly #everywhere: readonly GroupVersion[];

  /** `everywhere`: the groups that what is sent beside objects is known in. */
  constructor(dialect: Dialect, definitions: Definitions, everywhere: readonly GroupVersion[]) {
    this.#everywhere = everywhere;
    this.#dialect = dialect;
    this.#definitions = definitions;
  }

  /** All paths of a resource, with what they stand for. */
  of(resource: Resource): JsonObject {
    const { tag } = operationNames(resource.group, resource.version);
    return Object.fromEntries(pathsOf(resource).map((path) => [path.path, this.#item(path, resource, tag)]));
  }

  /** A discovery path, e.g. for all resources of a version. */
  discovery(path: string, id: string, tag: string, kind: string): JsonObject {
    const schema = this.#definitions.meta(kind, [core]);
    const types = [...plainTypes, protobuf];
    const consumes = this.#dialect === 'v2' ? { consumes: [...types], produces: [...types], schemes: ['https'] } : {};
    const get = { ...consumes, tags: [tag], operationId: id, responses: this.#responses([200], schema, types) };
    return { [path]: { get } };
  }

  #item(path: Path, resource: Resource, tag: string): JsonObject {
    const operations = path.operations.map((o) => [o.method, this.#operation(o, resource, tag)] as const);
    const common = this.#parameters(path.parameters);
    return { ...Object.fromEntries(operations), ...(common.length === 0 ? {} : { parameters: common }) };
  }

  #operation(operation: Operation, resource: Resource, tag: string): JsonObject {
    const { action, kind, id, codes } = operation;
    const types = answerTypes(operation, resource);
    const own = this.#parameters(operation.parameters);
    const body = this.#body(operation, resource);
    const inV2 = this.#dialect === 'v2';
    const all = [...(inV2 && body ? [body] : []), ...own];
    return {
      tags: [tag],
      operationId: id,
      ...(inV2 ? { consumes: consumedTypes(operation, resource), produces: types, schemes: ['https'] } : {}),
      ...(all.length === 0 ? {} : { parameters: all }),
      ...(!inV2 && body ? { requestBody: body } : {}),
      responses: this.#responses(codes, this.#answer(operation, resource), types),
      ...(action === undefined ? {} : { 'x-kubernetes-action': action }),
      ...(kind === undefined ? {} : { 'x-kubernetes-group-version-kind': named(kind) }),
    };
  }

  #parameters(all: readonly Parameter[]): JsonObject[] {
    const ordered = [...all].sort((a, b) => (a.name === b.name ? (a.in < b.in ? -1 : 1) : a.name < b.name ? -1 : 1));
    return ordered.map(({ name, in: place, type }) => {
      const schema = { type, uniqueItems: true };
      const where = { name, in: place, ...(place === 'path' ? { required: true } : {}) };
      return this.#dialect === 'v3' ? { ...where, schema } : { ...where, ...schema };
    });
  }

  #body(operation: Operation, resource: Resource): JsonObject | undefined {
    const { body } = operation;
    if (body === undefined) return undefined;
    const schema = this.#bodySchema(body, resource);
    const required = body === 'DeleteOptions' ? {} : { required: true };
    if (this.#dialect === 'v2') return { name: 'body', in: 'body', ...required, schema };
    const content = Object.fromEntries(consumedTypes(operation, resource).map((type) => [type, { schema }]));
    return { content, ...required };
  }

  #bodySchema(body: NonNullable<Operation['body']>, resource: Resource): JsonObject {
    if (body === 'Patch') return this.#definitions.meta('Patch');
    if (body === 'DeleteOptions') return this.#definitions.meta(body, this.#everywhere);
    return this.#kind(body, resource);
  }

  #answer({ answer, kind }: Operation, resource: Resource): JsonObject {
    if (answer === 'text') return { type: 'string' };
    if (answer === 'list') {
      if (!resource.builtIn) return customList(this.#definitions, this.#dialect, resource);
      return this.#definitions.list(named(kind ?? resource));
    }
    if (typeof answer === 'object') return this.#kind(answer, resource);
    return this.#definitions.meta(answer, answer === 'WatchEvent' ? this.#everywhere : [core]);
  }

  #kind(gvk: GroupVersionKind, resource: Resource): JsonObject {
    const isOwn = gvk.group === resource.group && gvk.kind === resource.kind;
    if (!resource.builtIn && isOwn) return customKind(this.#definitions, this.#dialect, resource);
    return this.#definitions.kind(named(gvk));
  }

  #responses(codes: readonly number[], schema: JsonObject, types: readonly string[]): JsonObject {
    const answer = (code: number): JsonObject => {
      const description = phrases[code] ?? '';
      if (this.#dialect === 'v2') return { description, schema };
      return { description, content: Object.fromEntries(types.map((type) => [type, { schema }])) };
    };
    const given = codes.map((code) => [String(code), answer(code)]);
    return { ...Object.fromEntries(given), 401: { description: phrases[401] as string } };
  }
}

function named({ group, version, kind }: GroupVersionKind): { group: string; version: string; kind: string } {
  return { group, version, kind };
}

function answerTypes({ action, answer, streams }: Operation, { builtIn }: Resource): string[] {
  if (action === 'connect') return ['*/*'];
  if (!builtIn) return plainTypes;
  const text = answer === 'text' ? ['text/plain'] : [];
  return [...text, ...plainTypes, protobuf, ...(streams ? streamTypes : [])];
}

function consumedTypes({ body }: Operation, { builtIn }: Resource): string[] {
  if (body !== 'Patch') return builtIn ? ['*/*'] : plainTypes;
  const strategic = builtIn ? ['application/strategic-merge-patch+json'] : [];
  return ['application/json-patch+json', 'application/merge-patch+json', ...strategic, 'application/apply-patch+yaml'];
}
