import { equal, type Json, type JsonObject } from 'riata/object';
import { isGiven, metaOf, numberOf, recordOf, textOf } from '../../resource/metadata.js';
import { byteLength, dnsSubdomain, pathSegmentName, qualifiedName } from '../../schema/name-rules.js';
import { append } from '../../status/append.js';
import { type FieldError, invalid, required } from '../../status/field-error.js';
import { checkText } from '../checks/basic-checks.js';
import type { KindRules } from '../kind-rules.js';
import { eventToCore } from './event-conversion.js';

const max = { reportingInstance: 128, action: 128, reason: 128, message: 1024 } as const;

/** Events of `v1`: nearly anything goes. */
export const coreEventRules: KindRules = {
  nameRule: pathSegmentName,
  validate: (event) => checkEvent(event, 'reportingComponent'),
};

/** Events of `events.k8s.io/v1`, whose errors use the field names of `v1`. */
export const eventRules: KindRules = {
  validate(event, before) {
    const core = eventToCore(event);
    return [...checkEvent(core, 'reportingController'), ...(before === undefined ? checkNew(core) : [])];
  },
  validateUpdate: (event, before) => checkKept(eventToCore(event), eventToCore(before)),
};

function checkEvent(event: JsonObject, controller: string): FieldError[] {
  const namespace = textOf(metaOf(event).namespace);
  const about = textOf(recordOf(event.involvedObject).namespace);
  const mismatch = invalid('involvedObject.namespace', about, 'does not match event.namespace');
  const errors: FieldError[] = [];
  if (isGiven(event.eventTime)) {
    if (about === '' && namespace !== 'default' && namespace !== 'kube-system') errors.push(mismatch);
    append(errors, checkReport(event, controller));
  } else if (about === '' ? namespace !== 'default' : namespace !== about) errors.push(mismatch);
  return [...errors, ...checkText(dnsSubdomain, namespace, 'namespace')];
}

/** The reporter and the action: required of events with a microsecond timestamp. */
function checkReport(event: JsonObject, controller: string): FieldError[] {
  const given = (field: string) => (textOf(event[field]) === '' ? [required(field)] : []);
  const short = (field: keyof typeof max) =>
    byteLength(textOf(event[field])) > max[field]
      ? [invalid(field, '', `can have at most ${max[field]} characters`)]
      : [];
  const reporter = textOf(event.reportingComponent);
  return [
    ...(reporter === '' ? [required(controller)] : []),
    ...checkText(qualifiedName, reporter, controller),
    ...['reportingInstance', 'action', 'reason'].flatMap(given),
    ...(['reportingInstance', 'action', 'reason', 'message'] as const).flatMap(short),
  ];
}

function checkNew(event: JsonObject): FieldError[] {
  const unset = (field: string, isSet: boolean) => (isSet ? [invalid(field, '', 'needs to be unset')] : []);
  const { component, host } = recordOf(event.source);
  const type = textOf(event.type);
  return [
    ...checkSeries(event),
    ...(isGiven(event.eventTime) ? [] : [required('eventTime')]),
    ...(type === 'Normal' || type === 'Warning' ? [] : [invalid('type', '', `has invalid value: ${type}`)]),
    ...unset('firstTimestamp', isGiven(event.firstTimestamp)),
    ...unset('lastTimestamp', isGiven(event.lastTimestamp)),
    ...unset('count', numberOf(event.count) !== 0),
    ...unset('source', textOf(component) !== '' || textOf(host) !== ''),
  ];
}

function checkSeries({ series }: JsonObject): FieldError[] {
  if (!isGiven(series)) return [];
  const { count, lastObservedTime } = recordOf(series);
  return [
    ...(numberOf(count) < 2 ? [invalid('series.count', '', 'should be at least 2')] : []),
    ...(isGiven(lastObservedTime) ? [] : [required('series.lastObservedTime')]),
  ];
}

/** The immutable fields of an Event, in the order of their errors, and how Go prints them. */
const kept: Readonly<Record<string, (value: Json | undefined) => unknown>> = {
  involvedObject: goReference,
  reason: textOf,
  message: textOf,
  source: (value) => ({ Component: textOf(recordOf(value).component), Host: textOf(recordOf(value).host) }),
  firstTimestamp: (value) => value ?? null,
  lastTimestamp: (value) => value ?? null,
  count: numberOf,
  type: textOf,
  eventTime: (value) => value ?? null,
  action: textOf,
  related: (value) => (isGiven(value) ? goReference(value) : null),
  reportingController: textOf,
  reportingInstance: textOf,
};

function checkKept(event: JsonObject, before: JsonObject): FieldError[] {
  const isNewSeries = !equal(event.series ?? null, before.series ?? null);
  const changed = Object.entries(kept).flatMap(([field, show]) => {
    const member = field === 'reportingController' ? 'reportingComponent' : field;
    const [now, old] = [show(event[member]), show(before[member])];
    return equal(now, old) ? [] : [invalid(field, now, 'field is immutable')];
  });
  return [...(isNewSeries ? checkSeries(event) : []), ...changed];
}

function goReference(value: Json | undefined): object {
  const { kind, namespace, name, uid, apiVersion, resourceVersion, fieldPath } = recordOf(value);
  return {
    Kind: textOf(kind),
    Namespace: textOf(namespace),
    Name: textOf(name),
    UID: textOf(uid),
    APIVersion: textOf(apiVersion),
    ResourceVersion: textOf(resourceVersion),
    FieldPath: textOf(fieldPath),
  };
}
