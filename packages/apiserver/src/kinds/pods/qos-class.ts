import { type JsonObject, parseQuantity, type Quantity } from 'riata/object';
import { recordOf, recordsOf } from '../../resource/metadata.js';

const counted = ['cpu', 'memory'];

/** How sure a Pod can be of what it asks for (`qos.ComputePodQOS`). */
export function qosClass(pod: JsonObject): 'BestEffort' | 'Burstable' | 'Guaranteed' {
  const spec = recordOf(pod.spec);
  const whole = spec.resources !== undefined;
  const parts = whole ? [spec] : [...recordsOf(spec.containers), ...recordsOf(spec.initContainers)];
  const resources = parts.map((part) => recordOf(part.resources));
  const requests = sums(resources.map((r) => recordOf(r.requests)));
  const limits = sums(resources.map((r) => recordOf(r.limits)));
  if (requests.size === 0 && limits.size === 0) return 'BestEffort';
  const bounded = resources.every((r) => {
    const own = recordOf(r.limits);
    if (whole && Object.keys(own).length === 0) return true;
    return counted.every((name) => Object.hasOwn(own, name) && parseQuantity(String(own[name])).sign() > 0);
  });
  const same = [...requests].every(([name, amount]) => limits.get(name)?.equals(amount) === true);
  return bounded && same && requests.size === limits.size ? 'Guaranteed' : 'Burstable';
}

function sums(lists: readonly JsonObject[]): Map<string, Quantity> {
  const total = new Map<string, Quantity>();
  for (const list of lists) {
    for (const name of counted) {
      const amount = list[name] === undefined ? undefined : parseQuantity(String(list[name]));
      if (amount === undefined || amount.sign() <= 0) continue;
      total.set(name, total.get(name)?.add(amount) ?? amount);
    }
  }
  return total;
}
