import type { JsonObject, KubeObject } from 'riata/object';
import { recordOf, recordsOf, textOf } from '../resource/metadata.js';
import type { Resource } from '../resource/resource.js';
import { badRequest, Refusal } from '../status/refusal.js';
import type { PodObject } from './container-runtime.js';

/** What a proxied request goes to. */
export type ProxyTarget =
  | { readonly pod: PodObject; readonly address: string; readonly port: string; readonly scheme: 'http' | 'https' }
  | { readonly node: KubeObject; readonly port: string; readonly scheme: 'http' | 'https' };

/** Reads objects of the core group. Throws 404. */
export interface CoreReader {
  get(plural: string, namespace: string, name: string): KubeObject;
  find(plural: string, namespace: string, name: string): KubeObject | undefined;
}

/** Finds what a proxy leads to, by the name in its path (`ResourceLocation`). Throws a Refusal. */
export function proxyTarget(resource: Resource, namespace: string, id: string, reader: CoreReader): ProxyTarget {
  const kind = resource.kind.toLowerCase();
  const parts = splitSchemeNamePort(id);
  if (parts === undefined) throw badRequest(`invalid ${kind} request ${JSON.stringify(id)}`);
  const { scheme, name, port } = parts;
  if (kind === 'node') return { node: reader.get('nodes', '', name), port, scheme: port === '' ? 'https' : scheme };
  if (kind === 'pod') return podTarget(reader.get('pods', namespace, name), port, scheme);
  return serviceTarget(reader, namespace, id, { scheme, name, port });
}

/** `name`, `name:port` or `scheme:name:port` (`SplitSchemeNamePort`); undefined for anything else. */
export function splitSchemeNamePort(id: string) {
  const parts = id.split(':');
  const [scheme, name, port] =
    parts.length === 1 ? ['', parts[0], ''] : parts.length === 2 ? ['', parts[0], parts[1]] : parts;
  if (parts.length > 3 || !name || !['', 'http', 'https'].includes(scheme ?? '')) return undefined;
  return { scheme: scheme === 'https' ? ('https' as const) : ('http' as const), name, port: port ?? '' };
}

function podTarget(pod: KubeObject, asked: string, scheme: 'http' | 'https'): ProxyTarget {
  const { spec, status } = pod as unknown as { readonly spec?: JsonObject; readonly status?: JsonObject };
  const [first] = recordsOf(spec?.containers).flatMap(({ ports }) => recordsOf(ports));
  const port = asked !== '' || first === undefined ? asked : String(first.containerPort);
  const address = textOf(recordOf(status).podIP);
  if (address === '') throw badRequest('address not allowed');
  return { pod: pod as PodObject, address, port, scheme };
}

function serviceTarget(
  reader: CoreReader,
  namespace: string,
  id: string,
  { scheme, name, port }: { readonly scheme: 'http' | 'https'; readonly name: string; readonly port: string },
): ProxyTarget {
  let portName = port;
  if (/^\d+$/.test(port)) {
    const service = reader.get('services', namespace, name) as unknown as JsonObject;
    const found = recordsOf(recordOf(service.spec).ports).find((one) => String(one.port) === port);
    if (found === undefined) throw unavailable(`no service port ${port} found for service ${JSON.stringify(name)}`);
    portName = textOf(found.name);
  }
  const endpoints = reader.get('endpoints', namespace, name) as unknown as JsonObject;
  const subsets = recordsOf(endpoints.subsets);
  if (subsets.length === 0) throw unavailable(`no endpoints available for service ${JSON.stringify(name)}`);
  for (const subset of subsets) {
    const found = recordsOf(subset.ports).find((one) => textOf(one.name) === portName);
    if (found === undefined) continue;
    for (const address of recordsOf(subset.addresses)) {
      const reference = recordOf(address.targetRef);
      if (textOf(reference.kind) !== 'Pod') continue;
      const pod = reader.find('pods', textOf(reference.namespace) || namespace, textOf(reference.name));
      if (pod === undefined) continue;
      return { pod: pod as PodObject, address: textOf(address.ip), port: String(found.port), scheme };
    }
  }
  throw unavailable(`no endpoints available for service ${JSON.stringify(id)}`);
}

/** 503, as for a target that cannot be reached. */
export function unavailable(message: string): Refusal {
  return new Refusal(503, 'ServiceUnavailable', message);
}
