import { createHash } from 'node:crypto';
import type { JsonObject } from 'riata/object';
import type { Scheduler } from 'riata/runtime';
import { writeJson } from '../http/body/write-json.js';
import type { ResourceTable } from '../resource/resource-table.js';
import { Definitions } from './definitions.js';
import type { OtherDocument } from './merge-version2.js';
import { operationNames } from './operations.js';
import { core, type GroupVersion, PathItems } from './path-items.js';

/** A document as it is sent. */
export interface OpenApiDocument {
  readonly text: string;
  /** Of its text: another one for other contents. */
  readonly hash: string;
}

const info = { title: 'Kubernetes', version: '1.36' };
const bearer = { type: 'apiKey', description: 'Bearer Token authentication', name: 'authorization', in: 'header' };

/**
 * The OpenAPI documents of everything that is served: made on first use, and kept until the served resources change.
 * Field by field as kube-apiserver has them, but without its descriptions.
 */
export class OpenApi {
  readonly #table: ResourceTable;
  readonly #clock: Pick<Scheduler, 'yield'>;
  #generation = 0;
  #version2: Promise<OpenApiDocument> | undefined;
  #protobuf: { readonly of: OpenApiDocument; readonly bytes: Uint8Array } | undefined;
  /** The last one that was merged with those of other servers. */
  #merged: { readonly key: string; readonly document: OpenApiDocument } | undefined;
  #index: Promise<OpenApiDocument> | undefined;
  /** Those of built-in groups, by path. They never change. */
  readonly #builtIn = new Map<string, OpenApiDocument>();
  /** Those of custom groups, by path. */
  readonly #custom = new Map<string, OpenApiDocument>();
  /** Documents of OpenAPI 3 in Protobuf, as far as they were requested. */
  readonly #inProtobuf = new WeakMap<OpenApiDocument, Uint8Array>();

  constructor(table: ResourceTable, clock: Pick<Scheduler, 'yield'>) {
    this.#table = table;
    this.#clock = clock;
  }

  /** The document of a path in Protobuf, under the same hash. */
  async version3Protobuf(path: string): Promise<Uint8Array> {
    const document = this.version3(path);
    let bytes = this.#inProtobuf.get(document);
    if (bytes === undefined) {
      const { encodeVersion3 } = await import('./encode-version3.js');
      bytes = encodeVersion3(JSON.parse(document.text) as JsonObject);
      this.#inProtobuf.set(document, bytes);
    }
    return bytes;
  }

  /**
   * The answer of `/openapi/v3`: the path of each document, with its hash. Yields to the event loop while it is made.
   */
  index(): Promise<OpenApiDocument> {
    this.#forget();
    this.#index ??= this.#makeIndex();
    return this.#index;
  }

  /** Whether there is a document for a path below `/openapi/v3`, e.g. `apis/apps/v1`. */
  has(path: string): boolean {
    return this.#paths().includes(path);
  }

  /** The document of a path that {@link has} knows. */
  version3(path: string): OpenApiDocument {
    this.#forget();
    const kept = this.#table.group(placeOf(path).group)?.custom ? this.#custom : this.#builtIn;
    let document = kept.get(path);
    if (document === undefined) {
      document = documentOf(this.#content(path));
      kept.set(path, document);
    }
    return document;
  }

  /** Everything in one document of OpenAPI 2. */
  version2(): Promise<OpenApiDocument> {
    this.#forget();
    this.#version2 ??= this.#swagger();
    return this.#version2;
  }

  /** The same with what other servers serve behind this one. */
  async version2With(others: readonly OtherDocument[]): Promise<OpenApiDocument> {
    const own = await this.version2();
    if (others.length === 0) return own;
    const key = createHash('sha256').update(own.hash).update(JSON.stringify(others)).digest('hex');
    if (this.#merged?.key !== key) {
      const { mergeVersion2 } = await import('./merge-version2.js');
      this.#merged = { key, document: documentOf(mergeVersion2(JSON.parse(own.text) as JsonObject, others)) };
    }
    return this.#merged.document;
  }

  /** A document of {@link version2With} in Protobuf, under the same hash. */
  async version2Protobuf(document: OpenApiDocument): Promise<{ readonly bytes: Uint8Array; readonly hash: string }> {
    if (this.#protobuf?.of !== document) {
      const { encodeVersion2 } = await import('./encode-version2.js');
      this.#protobuf = { of: document, bytes: encodeVersion2(JSON.parse(document.text) as JsonObject) };
    }
    return { bytes: this.#protobuf.bytes, hash: document.hash };
  }

  #forget(): void {
    if (this.#generation === this.#table.generation) return;
    this.#generation = this.#table.generation;
    this.#index = undefined;
    this.#version2 = undefined;
    this.#custom.clear();
  }

  async #makeIndex(): Promise<OpenApiDocument> {
    const paths: Record<string, JsonObject> = {};
    for (const path of this.#paths()) {
      // Removed meanwhile: it has no document any more.
      if (!this.has(path)) continue;
      paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${this.version3(path).hash}` };
      await this.#clock.yield();
    }
    return documentOf({ paths });
  }

  #paths(): readonly string[] {
    const groups = this.#table.groups().flatMap(({ name, versions, custom }) => {
      const base = name === '' ? 'api' : `apis/${name}`;
      return [...(custom ? [] : [base]), ...versions.map((version) => `${base}/${version}`)];
    });
    return ['apis', ...groups].sort();
  }

  #content(path: string): JsonObject {
    const { group, version } = placeOf(path);
    const custom = this.#table.group(group)?.custom ?? false;
    const definitions = new Definitions('v3');
    const items = new PathItems('v3', definitions, custom || group === '' ? [core] : [core, { group, version }]);
    const paths = version === '' ? aboutVersions(items, path) : this.#versionPaths(items, group, version);
    return {
      openapi: '3.0.0',
      info: custom ? { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' } : info,
      paths,
      components: { schemas: definitions.all(), ...(custom ? {} : { securitySchemes: { BearerToken: bearer } }) },
    };
  }

  async #swagger(): Promise<OpenApiDocument> {
    const definitions = new Definitions('v2');
    const groups = this.#table.groups();
    const known = groups.filter(({ custom }) => !custom);
    const everywhere = known.flatMap(({ name: group, versions }) => versions.map((version) => ({ group, version })));
    const items = new PathItems('v2', definitions, everywhere);
    const paths: JsonObject = {};
    for (const path of this.#paths()) {
      const { group, version } = placeOf(path);
      Object.assign(paths, version === '' ? aboutVersions(items, path) : this.#versionPaths(items, group, version));
      await this.#clock.yield();
    }
    const security = { securityDefinitions: { BearerToken: bearer }, security: [{ BearerToken: [] }] };
    return documentOf({ swagger: '2.0', info, paths, definitions: definitions.all(), ...security });
  }

  #versionPaths(items: PathItems, group: string, version: string): JsonObject {
    const { prefix, tag } = operationNames(group, version);
    const base = group === '' ? `/api/${version}/` : `/apis/${group}/${version}/`;
    const custom = this.#table.group(group)?.custom ?? false;
    const discovery = custom ? {} : items.discovery(base, `get${prefix}APIResources`, tag, 'APIResourceList');
    const found = [discovery, ...this.#table.resources(group, version).map((resource) => items.of(resource))];
    const paths = Object.entries(Object.assign({}, ...found) as JsonObject);
    return Object.fromEntries(paths.sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

/** Where one finds out which groups and versions there are. */
function aboutVersions(items: PathItems, path: string): JsonObject {
  if (path === 'api') return items.discovery('/api/', 'getCoreAPIVersions', 'core', 'APIVersions');
  if (path === 'apis') return items.discovery('/apis/', 'getAPIVersions', 'apis', 'APIGroupList');
  const { prefix, tag } = operationNames(placeOf(path).group, '');
  return items.discovery(`/${path}/`, `get${prefix}APIGroup`, tag.slice(0, -1), 'APIGroup');
}

/** The group and version that the document of a path is about; no version where it is about which ones there are. */
function placeOf(path: string): GroupVersion {
  const [first, second = '', third = ''] = path.split('/');
  return first === 'api' ? { group: '', version: second } : { group: second, version: third };
}

function documentOf(content: JsonObject): OpenApiDocument {
  const text = writeJson(content);
  return { text, hash: createHash('sha512').update(text).digest('hex').toUpperCase() };
}
