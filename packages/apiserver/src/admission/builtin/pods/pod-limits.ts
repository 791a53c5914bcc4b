import { type Json, type JsonObject, type KubeObject, parseQuantity, type Quantity } from 'riata/object';
import { containerTotals } from '../../../kinds/pods/pod-totals.js';
import { metaOf, recordOf, recordsOf, textOf, withMeta } from '../../../resource/metadata.js';

const note = 'kubernetes.io/limit-ranger';
const lists = { containers: 'container', initContainers: 'init container' } as const;

type Amounts = Readonly<Record<string, Quantity>>;

/** The limits that a namespace sets, one list for each LimitRange. */
export function limitsOf(ranges: readonly KubeObject[]): readonly (readonly JsonObject[])[] {
  return ranges.map((range) => recordsOf(recordOf((range as unknown as JsonObject).spec).limits));
}

/** A Pod with the defaults of its namespace for containers that specify nothing (`LimitRanger`). */
export function withLimits(pod: JsonObject, ranges: readonly (readonly JsonObject[])[]): JsonObject {
  return ranges.reduce((made, limits) => withDefaults(made, limits), pod);
}

function withDefaults(pod: JsonObject, limits: readonly JsonObject[]): JsonObject {
  const ofContainers = limits.filter(({ type }) => type === 'Container');
  const merged = (field: string) =>
    Object.assign({}, ...ofContainers.map((limit) => recordOf(limit[field]))) as JsonObject;
  const [requests, most] = [merged('defaultRequest'), merged('default')];
  const notes: string[] = [];
  const spec: Record<string, Json | undefined> = { ...recordOf(pod.spec) };
  for (const [list, called] of Object.entries(lists)) {
    if (spec[list] === undefined) continue;
    spec[list] = recordsOf(spec[list]).map((container) => {
      const resources = recordOf(container.resources);
      const given = { requests: recordOf(resources.requests), limits: recordOf(resources.limits) };
      const made = { requests: { ...requests, ...given.requests }, limits: { ...most, ...given.limits } };
      for (const [field, word] of [
        ['requests', 'request'],
        ['limits', 'limit'],
      ] as const) {
        const added = Object.keys(made[field]).filter((name) => given[field][name] === undefined);
        if (added.length > 0) notes.push(`${added.sort().join(', ')} ${word} for ${called} ${textOf(container.name)}`);
      }
      return { ...container, resources: { ...resources, ...filled(made) } };
    });
  }
  if (notes.length === 0) return pod;
  const annotations = { ...recordOf(metaOf(pod).annotations), [note]: `LimitRanger plugin set: ${notes.join('; ')}` };
  return withMeta({ ...pod, spec: spec as JsonObject }, { annotations });
}

function filled(resources: Record<'requests' | 'limits', JsonObject>): JsonObject {
  return Object.fromEntries(Object.entries(resources).filter(([, amounts]) => Object.keys(amounts).length > 0));
}

/** Why a Pod is too small or too large for its namespace; undefined if it is not. */
export function limitProblem(pod: JsonObject, ranges: readonly (readonly JsonObject[])[]): string | undefined {
  const spec = recordOf(pod.spec);
  return firstProblem(ranges, (limit) => {
    if (limit.type === 'Pod') return checkAll(limit, totals(spec, 'requests'), totals(spec, 'limits'));
    if (limit.type !== 'Container') return [];
    return Object.keys(lists).flatMap((list) =>
      recordsOf(spec[list]).flatMap(({ resources }) => {
        const { requests, limits: most } = recordOf(resources);
        return checkAll(limit, amountsOf(requests), amountsOf(most));
      }),
    );
  });
}

/** Why a claim is too small or too large for its namespace; undefined if it is not. */
export function claimLimitProblem(claim: JsonObject, ranges: readonly (readonly JsonObject[])[]): string | undefined {
  const requests = amountsOf(recordOf(recordOf(claim.spec).resources).requests);
  return firstProblem(ranges, (limit) =>
    limit.type === 'PersistentVolumeClaim'
      ? [...checkMin(limit, requests, {}), ...checkMaxRequest(limit, requests)]
      : [],
  );
}

/** The violations of the first LimitRange that has any. */
function firstProblem(
  ranges: readonly (readonly JsonObject[])[],
  check: (limit: JsonObject) => readonly string[],
): string | undefined {
  for (const limits of ranges) {
    const problems = [...new Set(limits.flatMap(check))];
    if (problems.length > 0) return problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`;
  }
  return undefined;
}

function totals(spec: JsonObject, list: 'requests' | 'limits'): Amounts {
  const { cpu, memory } = amountsOf(recordOf(spec.resources)[list]);
  const whole = Object.entries({ cpu, memory }).filter(([, amount]) => amount !== undefined);
  return { ...Object.fromEntries(containerTotals(spec, list)), ...(Object.fromEntries(whole) as Amounts) };
}

function amountsOf(given: Json | undefined): Amounts {
  return Object.fromEntries(Object.entries(recordOf(given)).map(([name, v]) => [name, parseQuantity(String(v))]));
}

function checkAll(limit: JsonObject, requests: Amounts, limits: Amounts): string[] {
  return [
    ...checkMin(limit, requests, limits),
    ...each(limit, 'max', (name, bound, type) => {
      const [asked, most] = [requests[name], limits[name]];
      const words = `maximum ${name} usage per ${type} is ${bound}`;
      if (most === undefined) return `${words}.  No limit is specified`;
      if (most.compare(bound) > 0) return `${words}, but limit is ${most}`;
      return asked !== undefined && asked.compare(bound) > 0 ? `${words}, but request is ${asked}` : undefined;
    }),
    ...each(limit, 'maxLimitRequestRatio', (name, bound, type) =>
      checkRatio(name, type, bound, requests[name], limits[name]),
    ),
  ];
}

function checkMin(limit: JsonObject, requests: Amounts, limits: Amounts): string[] {
  return each(limit, 'min', (name, bound, type) => {
    const [asked, most] = [requests[name], limits[name]];
    const words = `minimum ${name} usage per ${type} is ${bound}`;
    if (asked === undefined) return `${words}.  No request is specified`;
    if (asked.compare(bound) < 0) return `${words}, but request is ${asked}`;
    return most !== undefined && most.compare(bound) < 0 ? `${words}, but limit is ${most}` : undefined;
  });
}

function checkMaxRequest(limit: JsonObject, requests: Amounts): string[] {
  return each(limit, 'max', (name, bound, type) => {
    const asked = requests[name];
    const words = `maximum ${name} usage per ${type} is ${bound}`;
    if (asked === undefined) return `${words}.  No request is specified`;
    return asked.compare(bound) > 0 ? `${words}, but request is ${asked}` : undefined;
  });
}

function each(
  limit: JsonObject,
  field: string,
  check: (name: string, bound: Quantity, type: string) => string | undefined,
): string[] {
  const type = textOf(limit.type);
  return Object.entries(amountsOf(limit[field])).flatMap(([name, bound]) => check(name, bound, type) ?? []);
}

function checkRatio(
  name: string,
  type: string,
  bound: Quantity,
  asked: Quantity | undefined,
  most: Quantity | undefined,
): string | undefined {
  const words = `${name} max limit to request ratio per ${type} is ${bound}`;
  if (asked === undefined || asked.isZero()) return `${words}, but no request is specified or request is 0`;
  if (most === undefined || most.isZero()) return `${words}, but no limit is specified or limit is 0`;
  const ratio = most.toNumber() / asked.toNumber();
  return ratio > bound.toNumber() ? `${words}, but provided ratio is ${ratio.toFixed(6)}` : undefined;
}
