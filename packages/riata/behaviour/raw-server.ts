import { type Json, type JsonObject, type MergeSchema, type MergeType, mergeTypeFromSchema } from 'riata/object';
import type { RawAnswer, RawConnections } from './raw-connections.js';

/** A server that says what its kinds look like, as the engine has to know. */
export class RawServer {
  readonly #connections: RawConnections;
  readonly #documents = new Map<string, Promise<Schemas>>();

  constructor(connections: RawConnections) {
    this.#connections = connections;
  }

  send(method: string, path: string, body?: Json, type?: string): Promise<RawAnswer> {
    return this.#connections.send(method, path, body, type);
  }

  /** The schemas of a group version as the server publishes them, e.g. of `apps/v1`. */
  async schemas(apiVersion: string): Promise<Schemas> {
    const place = apiVersion.includes('/') ? `apis/${apiVersion}` : `api/${apiVersion}`;
    let found = this.#documents.get(place);
    if (found === undefined) {
      found = this.send('GET', `/openapi/v3/${place}`).then(({ code, body }) => {
        if (code !== 200) throw new Error(`no OpenAPI document for ${place}: ${code}`);
        return new Schemas((body.components as JsonObject).schemas as unknown as Record<string, OpenApiSchema>);
      });
      this.#documents.set(place, found);
    }
    return found;
  }

  /** What the engine has to know of a built-in kind. */
  async kind(apiVersion: string, kind: string) {
    const schemas = await this.schemas(apiVersion);
    return { apiVersion, kind, type: schemas.typeOf(kind), empty: schemas.emptyOf(apiVersion, kind) };
  }
}

interface OpenApiSchema extends MergeSchema {
  readonly required?: readonly string[];
  readonly 'x-kubernetes-group-version-kind'?: readonly { group: string; version: string; kind: string }[];
}

const prefix = '#/components/schemas/';

export class Schemas {
  readonly #schemas: Record<string, OpenApiSchema>;

  constructor(schemas: Record<string, OpenApiSchema>) {
    this.#schemas = schemas;
  }

  typeOf(kind: string): MergeType {
    return mergeTypeFromSchema(this.#ofKind(kind), { resolve: (ref) => this.#schemas[ref.slice(prefix.length)] });
  }

  /** What a Go struct of this kind holds when nothing is set: empty structs, and null where nothing may be left out. */
  emptyOf(apiVersion: string, kind: string): JsonObject {
    return { apiVersion, kind, ...(this.#empty(this.#ofKind(kind)) as JsonObject) };
  }

  #ofKind(kind: string): OpenApiSchema {
    const found = Object.values(this.#schemas).find((schema) =>
      schema['x-kubernetes-group-version-kind']?.some((gvk) => gvk.kind === kind),
    );
    if (found === undefined) throw new Error(`no schema of kind ${kind}`);
    return found;
  }

  #empty(schema: OpenApiSchema): Json {
    const ref = schema.$ref ?? schema.allOf?.[0]?.$ref;
    if (ref !== undefined) return this.#empty(this.#schemas[ref.slice(prefix.length)]!);
    const out: Record<string, Json> = {};
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      const fallback = property?.default;
      if (typeof fallback === 'object' && fallback !== null) out[name] = this.#empty(property!);
      else if (schema.required?.includes(name)) out[name] = fallback ?? null;
    }
    return out;
  }
}
