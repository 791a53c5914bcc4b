import { type JsonObject, parseQuantity } from 'riata/object';
import { numberOf, recordOf, textOf } from '../../resource/metadata.js';
import { dnsLabel, pathSegmentName } from '../../schema/name-rules.js';
import { append } from '../../status/append.js';
import { type FieldError, forbidden, invalid, notSupported, required } from '../../status/field-error.js';
import { checkText } from '../checks/basic-checks.js';
import { checkContainerResourceName } from '../pods/checks/resource-checks.js';
import { checkReference } from './check-reference.js';

type Check = (source: JsonObject, path: string) => FieldError[];

/** The types of metrics, by field. */
const sources: Readonly<Record<string, { readonly type: string; readonly check: Check }>> = {
  object: { type: 'Object', check: checkObject },
  external: { type: 'External', check: checkExternal },
  pods: { type: 'Pods', check: checkPods },
  resource: { type: 'Resource', check: checkResource },
  containerResource: { type: 'ContainerResource', check: checkContainerResource },
};
const types = Object.values(sources)
  .map(({ type }) => type)
  .sort();

/** The problems of a metric. */
export function checkMetric(metric: JsonObject, path: string): FieldError[] {
  const type = textOf(metric.type);
  const given = Object.keys(sources).filter((field) => metric[field] !== undefined);
  const [first] = given;
  const errors: FieldError[] = [];
  if (type === '') errors.push(required(`${path}.type`, 'must specify a metric source type'));
  // Reported twice, as upstream does.
  if (!types.includes(type)) {
    errors.push(notSupported(`${path}.type`, type, types), notSupported(`${path}.type`, type, types));
  }
  if (first !== undefined) append(errors, sources[first]?.check(recordOf(metric[first]), `${path}.${first}`) ?? []);
  const expected = Object.keys(sources).find((field) => sources[field]?.type === type);
  if (expected !== undefined && metric[expected] === undefined) {
    errors.push(required(`${path}.${expected}`, 'must populate information for the given metric source'));
  }
  if (given.length === 1) return errors;
  const others = given.filter((field) => field !== expected);
  return [...errors, ...others.map((f) => forbidden(`${path}.${f}`, 'must populate the given metric source only'))];
}

function checkObject(source: JsonObject, path: string): FieldError[] {
  const { value, averageValue } = recordOf(source.target);
  const none = value === undefined && averageValue === undefined;
  return [
    ...checkReference(recordOf(source.describedObject), `${path}.describedObject`, { coreGroup: true }),
    ...checkIdentifier(source, path),
    ...checkTarget(source, path),
    ...(none ? [required(`${path}.target.averageValue`, 'must set either a target value or averageValue')] : []),
  ];
}

function checkExternal(source: JsonObject, path: string): FieldError[] {
  const { value, averageValue } = recordOf(source.target);
  const errors = [...checkIdentifier(source, path), ...checkTarget(source, path)];
  if (value === undefined && averageValue === undefined) {
    const detail = 'must set either a target value for metric or a per-pod target';
    errors.push(required(`${path}.target.averageValue`, detail));
  }
  if (value !== undefined && averageValue !== undefined) {
    const detail = 'may not set both a target value for metric and a per-pod target';
    errors.push(forbidden(`${path}.target.value`, detail));
  }
  return errors;
}

function checkPods(source: JsonObject, path: string): FieldError[] {
  const errors = [...checkIdentifier(source, path), ...checkTarget(source, path)];
  if (recordOf(source.target).averageValue !== undefined) return errors;
  return [...errors, required(`${path}.target.averageValue`, 'must specify a positive target averageValue')];
}

function checkResource(source: JsonObject, path: string): FieldError[] {
  return [
    ...(textOf(source.name) === '' ? [required(`${path}.name`, 'must specify a resource name')] : []),
    ...checkTarget(source, path),
    ...checkUtilization(source, path),
  ];
}

function checkContainerResource(source: JsonObject, path: string): FieldError[] {
  const [name, container] = [textOf(source.name), textOf(source.container)];
  return [
    ...(name === ''
      ? [required(`${path}.name`, 'must specify a resource name')]
      : checkContainerResourceName(name, `${path}.name`)),
    ...(container === ''
      ? [required(`${path}.container`, 'must specify a container')]
      : checkText(dnsLabel, container, `${path}.container`)),
    ...checkTarget(source, path),
    ...checkUtilization(source, path),
  ];
}

function checkUtilization(source: JsonObject, path: string): FieldError[] {
  const { averageUtilization, averageValue } = recordOf(source.target);
  if (averageUtilization === undefined && averageValue === undefined) {
    const detail = 'must set either a target raw value or a target utilization';
    return [required(`${path}.target.averageUtilization`, detail)];
  }
  if (averageUtilization === undefined || averageValue === undefined) return [];
  return [forbidden(`${path}.target.averageValue`, 'may not set both a target raw value and a target utilization')];
}

function checkTarget(source: JsonObject, path: string): FieldError[] {
  const at = `${path}.target`;
  const target = recordOf(source.target);
  const type = textOf(target.type);
  const errors = type === '' ? [required(`${at}.type`, 'must specify a metric target type')] : [];
  if (!['Utilization', 'Value', 'AverageValue'].includes(type)) {
    errors.push(invalid(`${at}.type`, type, 'must be either Utilization, Value, or AverageValue'));
  }
  for (const field of ['value', 'averageValue']) {
    const amount = target[field];
    if (amount === undefined || parseQuantity(String(amount)).sign() > 0) continue;
    errors.push(invalid(`${at}.${field}`, amount, 'must be positive'));
  }
  const { averageUtilization } = target;
  if (averageUtilization !== undefined && numberOf(averageUtilization) < 1) {
    errors.push(invalid(`${at}.averageUtilization`, averageUtilization, 'must be greater than 0'));
  }
  return errors;
}

function checkIdentifier(source: JsonObject, path: string): FieldError[] {
  const name = textOf(recordOf(source.metric).name);
  if (name === '') return [required(`${path}.metric.name`, 'must specify a metric name')];
  return checkText(pathSegmentName, name, `${path}.metric.name`);
}
