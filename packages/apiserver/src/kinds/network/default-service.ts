import type { JsonObject } from 'riata/object';
import { once } from '../../once.js';
import { isGiven, numberOf, recordOf, recordsOf, textOf } from '../../resource/metadata.js';
import { compileDefaults, computed, type DefaultsTable } from '../defaults-table.js';
import { isExposed } from './service-parts.js';

/** How long the same client stays with the same endpoint, in seconds. */
const affinitySeconds = 10_800;

const fill = once(() => compileDefaults(table));

/** The defaults of the table, without the session affinity config of Services that have no session affinity. */
export function defaultService(service: JsonObject): JsonObject {
  const filled = fill()(service);
  const { sessionAffinityConfig, ...spec } = recordOf(filled.spec);
  return spec.sessionAffinity === 'None' && sessionAffinityConfig !== undefined ? { ...filled, spec } : filled;
}

const table: DefaultsTable = {
  'spec.sessionAffinity': 'None',
  'spec.sessionAffinityConfig': computed((config, { sessionAffinity }) => {
    if (sessionAffinity !== 'ClientIP') return config;
    const { timeoutSeconds } = recordOf(recordOf(config).clientIP);
    return isGiven(timeoutSeconds) ? config : { clientIP: { timeoutSeconds: affinitySeconds } };
  }),
  'spec.type': 'ClusterIP',
  'spec.ports[].protocol': 'TCP',
  'spec.ports[].targetPort': computed((target, { port }) =>
    isGiven(target) && target !== 0 && target !== '' ? target : numberOf(port),
  ),
  'spec.externalTrafficPolicy': (spec) => (isExposed(spec) ? 'Cluster' : undefined),
  'spec.internalTrafficPolicy': ({ type }) =>
    ['NodePort', 'LoadBalancer', 'ClusterIP'].includes(textOf(type)) ? 'Cluster' : undefined,
  'spec.allocateLoadBalancerNodePorts': ({ type }) => (type === 'LoadBalancer' ? true : undefined),
  'status.loadBalancer.ingress': computed((ingress, _, { spec }) =>
    recordOf(spec).type === 'LoadBalancer' ? withModes(recordsOf(ingress), ingress) : ingress,
  ),
};

/** How traffic reaches the nodes, where an address is known. */
function withModes<T>(addresses: readonly JsonObject[], same: T): readonly JsonObject[] | T {
  if (addresses.every(({ ip, ipMode }) => textOf(ip) === '' || isGiven(ipMode))) return same;
  return addresses.map((one) => (textOf(one.ip) === '' || isGiven(one.ipMode) ? one : { ...one, ipMode: 'VIP' }));
}
