import { type Json, type JsonObject, parseQuantity } from 'riata/object';
import { recordOf, recordsOf, textOf } from '../../../resource/metadata.js';
import { dnsLabel, qualifiedName } from '../../../schema/name-rules.js';
import { append } from '../../../status/append.js';
import {
  absent,
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../status/field-error.js';
import { checkText } from '../../checks/basic-checks.js';

const ofContainers: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);
const standard: ReadonlySet<string> = new Set([
  ...ofContainers,
  ...['limits.cpu', 'limits.memory', 'limits.ephemeral-storage'],
  ...['requests.cpu', 'requests.memory', 'requests.ephemeral-storage', 'requests.storage', 'storage'],
  ...['pods', 'resourcequotas', 'services', 'replicationcontrollers', 'secrets', 'configmaps'],
  ...['persistentvolumeclaims', 'services.nodeports', 'services.loadbalancers'],
]);
const whole: ReadonlySet<string> = new Set(
  'pods resourcequotas services replicationcontrollers secrets configmaps persistentvolumeclaims services.nodeports services.loadbalancers'.split(
    ' ',
  ),
);
const podLevel = ['cpu', 'hugepages-', 'memory'];

type NameCheck = (name: string, path: string) => FieldError[];

/** The requests and limits of a container (`ValidateContainerResourceRequirements`). */
export function checkContainerResources(resources: Json | undefined, claims: ReadonlySet<string>, path: string) {
  const given = recordOf(resources);
  if (Object.keys(given).length === 0) return [];
  return [...checkAmounts(given, checkContainerResourceName, path), ...checkClaims(given, claims, `${path}.claims`)];
}

/** The requests of a Pod as a whole. */
export function checkPodResources(spec: JsonObject, claims: ReadonlySet<string>, path: string): FieldError[] {
  const resources = recordOf(spec.resources);
  if (spec.resources === undefined) return [];
  return [
    ...(resources.claims === undefined
      ? []
      : [forbidden(`${path}.claims`, 'claims may not be set for Resources at pod-level')]),
    ...checkAmounts(resources, podResource, path),
    ...checkClaims(resources, claims, `${path}.claims`),
    ...recordsOf(spec.containers).flatMap((container, index) =>
      checkWithinPod(recordOf(recordOf(container.resources).limits), recordOf(resources.limits), index, path),
    ),
  ];
}

/** An amount of a resource (`ValidateResourceQuantityValue`). */
export function checkAmount(name: string, amount: Json | undefined, path: string): FieldError[] {
  const text = String(amount);
  const errors: FieldError[] = [];
  if (text.startsWith('-') && parseQuantity(text).sign() < 0) {
    errors.push(invalid(path, text, 'must be greater than or equal to 0'));
  }
  if ((whole.has(name) || isExtended(name)) && isFractional(text))
    errors.push(invalid(path, text, 'must be an integer'));
  return errors;
}

/** The name of a resource, of whatever it is one (`validateResourceName`). */
export function checkResourceName(name: string, path: string): FieldError[] {
  const errors = checkText(qualifiedName, name, path);
  if (errors.length > 0 || name.includes('/') || standard.has(name) || isHugePages(name)) return errors;
  return [invalid(path, name, 'must be a standard resource type or fully qualified')];
}

/** Whether an amount is not an integer. Most are recognised by their form. */
export function isFractional(amount: string): boolean {
  return !/^[0-9]+([KMGTPE]i|[kMGTPE])?$/.test(amount) && parseQuantity(amount).milliValue() % 1000n !== 0n;
}

export function isHugePages(name: string): boolean {
  return name.startsWith('hugepages-');
}

function checkAmounts(resources: JsonObject, checkName: NameCheck, path: string): FieldError[] {
  const [limits, requests] = [recordOf(resources.limits), recordOf(resources.requests)];
  const named = [...Object.keys(limits), ...Object.keys(requests)];
  const alone = named.some(isHugePages) && !named.some((name) => name === 'cpu' || name === 'memory');
  return [
    ...Object.entries(limits).flatMap(([name, amount]) => checkOne(name, amount, checkName, `${path}.limits[${name}]`)),
    ...Object.entries(requests).flatMap(([name, amount]) => [
      ...checkOne(name, amount, checkName, `${path}.requests[${name}]`),
      ...checkBelowLimit(name, String(amount), limits[name], path),
    ]),
    ...(alone ? [forbidden(path, 'HugePages require cpu or memory')] : []),
  ];
}

function checkOne(name: string, amount: Json | undefined, checkName: NameCheck, path: string): FieldError[] {
  const errors = [...checkName(name, path), ...checkAmount(name, amount, path)];
  if (!isHugePages(name)) return errors;
  const page = sizeOf(name);
  const value = parseQuantity(String(amount)).value();
  if (page !== undefined && page > 0n && value % page === 0n) return errors;
  return [...errors, invalid(path, String(amount), `${amount} is not positive integer multiple of ${name}`)];
}

function checkBelowLimit(name: string, asked: string, limit: Json | undefined, path: string): FieldError[] {
  const elastic = isNative(name) && !isHugePages(name);
  if (limit === undefined) {
    return elastic ? [] : [required(`${path}.limits`, 'Limit must be set for non overcommitable resources')];
  }
  const order = asked === limit ? 0 : parseQuantity(asked).compare(String(limit));
  const detail = (words: string) => [invalid(`${path}.requests`, asked, `${words} ${name} limit of ${limit}`)];
  if (order !== 0 && !elastic) return detail('must be equal to');
  return order > 0 ? detail('must be less than or equal to') : [];
}

/** The name of a resource that a container can have (`validateContainerResourceName`). */
export function checkContainerResourceName(name: string, path: string): FieldError[] {
  const errors = checkResourceName(name, path);
  if (!name.includes('/')) {
    if (ofContainers.has(name) || isHugePages(name)) return errors;
    return [...errors, invalid(path, name, 'must be a standard resource for containers')];
  }
  if (isNative(name) || isExtended(name)) return errors;
  return [...errors, invalid(path, name, "doesn't follow extended resource name standard")];
}

function podResource(name: string, path: string): FieldError[] {
  const errors = checkResourceName(name, path);
  if (errors.length > 0 || name === 'cpu' || name === 'memory' || isHugePages(name)) return errors;
  return [notSupported(path, name, podLevel)];
}

function checkWithinPod(limits: JsonObject, ofPod: JsonObject, index: number, path: string): FieldError[] {
  return Object.entries(limits).flatMap(([name, limit]) => {
    const most = ofPod[name];
    if (most === undefined || parseQuantity(String(limit)).compare(String(most)) <= 0) return [];
    const detail = `must be less than or equal to pod limits of ${most}`;
    return [invalid(`${path}.containers[${index}][${name}].limits`, String(limit), detail)];
  });
}

/** Resources of Kubernetes itself. */
function isNative(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/');
}

function isExtended(name: string): boolean {
  if (isNative(name) || name.startsWith('requests.')) return false;
  return qualifiedName(`requests.${name}`).length === 0;
}

function sizeOf(name: string): bigint | undefined {
  try {
    return parseQuantity(name.slice('hugepages-'.length)).value();
  } catch {
    return undefined;
  }
}

/** Claims are those of the Pod, each named once, or by different requests. */
function checkClaims(resources: JsonObject, known: ReadonlySet<string>, path: string): FieldError[] {
  const seen = new Set<string>();
  return recordsOf(resources.claims).flatMap((claim, index) => {
    const at = `${path}[${index}]`;
    const [name, request] = [textOf(claim.name), textOf(claim.request)];
    if (name === '') return [required(at)];
    const errors: FieldError[] = [];
    const key = request === '' ? name : `${name}/${request}`;
    if (seen.has(name)) errors.push(duplicate(at, name));
    else {
      if (request !== '') append(errors, checkText(dnsLabel, request, `${at}.request`));
      if (seen.has(key)) errors.push(duplicate(at, key));
      else if (request === '') {
        append(
          errors,
          [...seen].filter((other) => other.startsWith(`${name}/`)).map(() => duplicate(at, name)),
        );
      }
      seen.add(key);
    }
    if (!known.has(name)) {
      const names = known.size === 0 ? ' which is empty' : `: ${[...known].sort().join(', ')}`;
      const { body, ...rest } = absent(at, name);
      errors.push({ ...rest, body: `${body}: must be one of the names in pod.spec.resourceClaims${names}` });
    }
    return errors;
  });
}
