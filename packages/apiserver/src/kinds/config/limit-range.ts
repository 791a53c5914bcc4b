import { type Json, type JsonObject, parseQuantity, type Quantity } from 'riata/object';
import { recordOf, recordsOf, textOf } from '../../resource/metadata.js';
import { qualifiedName } from '../../schema/name-rules.js';
import { append } from '../../status/append.js';
import { duplicate, type FieldError, forbidden, invalid, required } from '../../status/field-error.js';
import { checkText } from '../checks/basic-checks.js';
import { withoutEmptyList } from '../checks/without-empty-list.js';
import { computed } from '../defaults-table.js';
import type { KindRules } from '../kind-rules.js';
import { checkContainerResourceName, checkResourceName, isHugePages } from '../pods/checks/resource-checks.js';
import { roundAmounts, rounded } from '../pods/pod-defaults.js';

const types = ['Pod', 'Container', 'PersistentVolumeClaim'];
const amounts = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const;

export const limitRangeRules: KindRules = {
  defaults: {
    'spec.limits[].max': rounded,
    'spec.limits[].min': rounded,
    'spec.limits[].maxLimitRequestRatio': rounded,
    'spec.limits[].default': computed((value, { type, max }) =>
      roundAmounts(type === 'Container' ? filled(value, recordOf(max)) : value),
    ),
    'spec.limits[].defaultRequest': computed((value, { type, default: limit, min }) =>
      roundAmounts(type === 'Container' ? filled(value, { ...recordOf(min), ...recordOf(limit) }) : value),
    ),
  },
  prepare(object) {
    const spec = withoutEmptyList(recordOf(object.spec), 'limits');
    return spec === object.spec ? object : { ...object, spec };
  },
  validate(object) {
    const limits = recordsOf(recordOf(object.spec).limits);
    const known = limits.map(({ type }) => textOf(type));
    return limits.flatMap((limit, i) => [
      ...checkLimit(limit, `spec.limits[${i}]`),
      ...(known.indexOf(known[i] as string) < i ? [duplicate(`spec.limits[${i}].type`, known[i])] : []),
    ]);
  },
};

/** Missing values, from elsewhere. */
function filled(value: Json | undefined, from: JsonObject): Json | undefined {
  const missing = Object.entries(from).filter(([name]) => !Object.hasOwn(recordOf(value), name));
  return missing.length === 0 ? value : { ...Object.fromEntries(missing), ...recordOf(value) };
}

function checkLimit(limit: JsonObject, path: string): FieldError[] {
  const type = textOf(limit.type);
  const isPod = type === 'Pod';
  const checkName = isPod || type === 'Container' ? checkContainerResourceName : checkResourceName;
  const ofPod = isPod ? (['default', 'defaultRequest'] as const) : [];
  const used = amounts.filter((field) => !(ofPod as readonly string[]).includes(field));
  const errors = checkType(type, `${path}.type`);
  for (const field of ofPod) {
    if (Object.keys(recordOf(limit[field])).length === 0) continue;
    errors.push(forbidden(`${path}.${field}`, "may not be specified when `type` is 'Pod'"));
  }
  for (const field of used) {
    for (const name of Object.keys(recordOf(limit[field])))
      append(errors, checkName(name, `${path}.${field}[${name}]`));
  }
  if (type === 'PersistentVolumeClaim' && !isGivenIn(limit, 'min') && !isGivenIn(limit, 'max')) {
    const detail = 'either minimum or maximum storage value is required, but neither was provided';
    errors.push(required(`${path}.limits`, detail));
  }
  const names = new Set(used.flatMap((field) => Object.keys(recordOf(limit[field]))));
  return [...errors, ...[...names].flatMap((name) => checkOrder(limit, used, name, path))];
}

function isGivenIn(limit: JsonObject, field: string): boolean {
  return Object.hasOwn(recordOf(limit[field]), 'storage');
}

function checkType(type: string, path: string): FieldError[] {
  const errors = checkText(qualifiedName, type, path);
  if (errors.length > 0 || type.includes('/') || types.includes(type)) return errors;
  return [invalid(path, type, 'must be a standard limit type or fully qualified')];
}

/** min ≤ default request ≤ default ≤ max. */
function checkOrder(limit: JsonObject, used: readonly string[], name: string, path: string): FieldError[] {
  const of = (field: string): Quantity | undefined => {
    const amount = used.includes(field) ? recordOf(limit[field])[name] : undefined;
    return amount === undefined || amount === null ? undefined : parseQuantity(String(amount));
  };
  const [min, max, usual, request, ratio] = ['min', 'max', 'default', 'defaultRequest', 'maxLimitRequestRatio'].map(of);
  const errors: FieldError[] = [];
  const order = (
    field: string,
    shown: 'low' | 'high',
    low: Quantity | undefined,
    high: Quantity | undefined,
    words: string,
  ) => {
    if (low === undefined || high === undefined || low.compare(high) <= 0) return;
    const [a, b] = words.split('|');
    const value = String(shown === 'low' ? low : high);
    errors.push(invalid(`${path}.${field}[${name}]`, value, `${a} value ${low} is greater than ${b} value ${high}`));
  };
  order('min', 'low', min, max, 'min|max');
  order('defaultRequest', 'high', min, request, 'min|default request');
  order('defaultRequest', 'low', request, max, 'default request|max');
  order('defaultRequest', 'low', request, usual, 'default request|default limit');
  order('default', 'low', min, usual, 'min|default');
  order('default', 'high', usual, max, 'default|max');
  if (ratio !== undefined) append(errors, checkRatio(ratio, min, max, `${path}.maxLimitRequestRatio[${name}]`));
  if (!mayOvercommit(name) && usual !== undefined && request !== undefined && usual.compare(request) !== 0) {
    const detail = `default value ${usual} must equal to defaultRequest value ${request} in ${name}`;
    errors.push(invalid(`${path}.defaultRequest[${name}]`, String(request), detail));
  }
  return errors;
}

function checkRatio(ratio: Quantity, min: Quantity | undefined, max: Quantity | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (ratio.compare(parseQuantity('1')) < 0) errors.push(invalid(path, String(ratio), `ratio ${ratio} is less than 1`));
  if (min === undefined || max === undefined) return errors;
  const most = Number(max.milliValue()) / Number(min.milliValue());
  if (Number(ratio.milliValue()) / 1000 > most) {
    errors.push(invalid(path, String(ratio), `ratio ${ratio} is greater than max/min = ${most.toFixed(6)}`));
  }
  return errors;
}

/** Native resources, but for huge pages. */
function mayOvercommit(name: string): boolean {
  return !isHugePages(name) && (!name.includes('/') || name.startsWith('kubernetes.io/'));
}
