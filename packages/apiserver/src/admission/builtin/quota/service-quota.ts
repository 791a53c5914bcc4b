import { type JsonObject, Quantity } from 'riata/object';
import { numberOf, recordOf, recordsOf } from '../../../resource/metadata.js';
import type { Amounts } from './amounts.js';
import type { QuotaEvaluator } from './quota-evaluator.js';

const one = Quantity.of(1);
const named: ReadonlySet<string> = new Set([
  ...['count/services', 'services', 'services.nodeports', 'services.loadbalancers'],
]);

/** The usage of Services. Node ports are counted by type, since they are allocated later. */
export const serviceQuota: QuotaEvaluator = {
  covers: (name) => named.has(name),
  handles: ({ operation, subresource }) => subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'),
  isInScope: () => false,
  usage,
};

function usage(service: JsonObject): Amounts {
  const { type, ports, allocateLoadBalancerNodePorts } = recordOf(service.spec);
  const all = recordsOf(ports);
  const isBalanced = type === 'LoadBalancer';
  const isExplicit = isBalanced && allocateLoadBalancerNodePorts === false;
  const open = isExplicit ? all.filter(({ nodePort }) => numberOf(nodePort) !== 0) : all;
  return new Map([
    ['count/services', one],
    ['services', one],
    ['services.nodeports', Quantity.of(isBalanced || type === 'NodePort' ? open.length : 0)],
    ['services.loadbalancers', Quantity.of(isBalanced ? 1 : 0)],
  ]);
}
