import { isJsonObject, type JsonObject } from 'riata/object';
import { textOf } from '../resource/metadata.js';
import type { Storage } from '../storage/storage.js';

/** A port of a Service that a webhook or an aggregated API server is reached by. */
export interface ServiceReference {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** Where something listens. */
export interface ServiceAddress {
  readonly host: string;
  readonly port: number;
}

/** Says where a Service is reached; undefined: by what is stored of it. */
export type ResolveService = (service: ServiceReference) => ServiceAddress | undefined;

/** What a {@link ServiceResolver} looks at. */
export interface ServiceResolverParts {
  readonly storage: Storage;
  /** @default by what is stored alone */
  readonly resolve?: ResolveService | undefined;
}

/**
 * Finds the address of a Service. Cluster addresses lead nowhere without a network of Pods, so one of its ready endpoints
 * is taken, as kube-apiserver does with `--enable-aggregator-routing`.
 */
export class ServiceResolver {
  readonly #parts: ServiceResolverParts;

  constructor(parts: ServiceResolverParts) {
    this.#parts = parts;
  }

  /** Throws an `Error` with kube-apiserver's words if nothing can be reached. */
  resolve(service: ServiceReference): ServiceAddress {
    return this.#parts.resolve?.(service) ?? this.#stored(service);
  }

  #stored({ namespace, name, port }: ServiceReference): ServiceAddress {
    const stored = this.#parts.storage.get('/services', `${namespace}/${name}`);
    if (stored === undefined) throw new Error(`service "${name}" not found`);
    const spec = (stored.object as unknown as { readonly spec?: JsonObject }).spec ?? {};
    const type = textOf(spec.type) || 'ClusterIP';
    if (type === 'ExternalName') return { host: textOf(spec.externalName), port };
    const known = listOf(spec.ports).find((one) => one.port === port);
    if (known === undefined) throw new Error(`no service port ${port} found for service "${name}"`);
    const found = this.#endpoint(namespace, name, textOf(known.name));
    if (found === undefined) throw new Error(`no endpoints available for service "${name}"`);
    return found;
  }

  #endpoint(namespace: string, name: string, portName: string): ServiceAddress | undefined {
    for (const slice of endpointSlicesOf(this.#parts.storage, namespace, name)) {
      const port = listOf(slice.ports).find((one) => textOf(one.name) === portName && typeof one.port === 'number');
      const ready = listOf(slice.endpoints).find(isReady);
      const [host] = Array.isArray(ready?.addresses) ? ready.addresses : [];
      if (port !== undefined && typeof host === 'string') return { host, port: Number(port.port) };
    }
    return undefined;
  }
}

/** The EndpointSlices of a Service. */
export function endpointSlicesOf(storage: Storage, namespace: string, service: string): readonly JsonObject[] {
  const { items } = storage.list('discovery.k8s.io/endpointslices', { prefix: `${namespace}/` });
  return items
    .filter(({ object }) => object.metadata.labels?.['kubernetes.io/service-name'] === service)
    .map(({ object }) => object as unknown as JsonObject);
}

/** Whether an endpoint takes requests. */
export function isReady(endpoint: JsonObject): boolean {
  return !isJsonObject(endpoint.conditions) || endpoint.conditions.ready !== false;
}

function listOf(value: unknown): readonly JsonObject[] {
  return (Array.isArray(value) ? value : []).filter(isJsonObject);
}
