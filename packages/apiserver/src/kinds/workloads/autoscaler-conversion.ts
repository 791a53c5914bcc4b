import { isJsonObject, type Json, type JsonObject } from 'riata/object';
import { metaOf, recordOf, recordsOf, textOf, withMeta } from '../../resource/metadata.js';
import { builtInSchema } from '../../schema/built-in/built-in-schema.js';
import { decodeTyped } from '../../schema/built-in/decode-typed.js';

/** Fields that the old version doesn't have are in annotations. */
const annotation = (name: string) => `autoscaling.alpha.kubernetes.io/${name}`;
const [metricsNote, statusesNote, conditionsNote, behaviorNote] = [
  annotation('metrics'),
  annotation('current-metrics'),
  annotation('conditions'),
  annotation('behavior'),
];
const notes = [
  ...[metricsNote, statusesNote, conditionsNote, behaviorNote],
  ...[annotation('scale-down-tolerance'), annotation('scale-up-tolerance')],
];

/** A HorizontalPodAutoscaler of `autoscaling/v1` in `autoscaling/v2`. */
export function autoscalerFromV1(old: JsonObject): JsonObject {
  const [spec, status] = [recordOf(old.spec), recordOf(old.status)];
  const annotations = recordOf(metaOf(old).annotations);
  const others = noted(annotations, metricsNote);
  const { targetCPUUtilizationPercentage: percent, ...rest } = spec;
  const own = percent === undefined ? [] : [cpuMetric(percent)];
  const metrics = [...recordsOf(others).map((metric) => metricFrom(metric, sourceFrom)), ...own];
  const behavior = noted(annotations, behaviorNote);
  const { currentCPUUtilizationPercentage: current, ...counts } = status;
  const reported = noted(annotations, statusesNote);
  const currentMetrics = isList(reported)
    ? recordsOf(reported).map((metric) => metricFrom(metric, statusFrom))
    : current === undefined
      ? undefined
      : [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: current } } }];
  const conditions = noted(annotations, conditionsNote);
  return canonical('v2', old, annotations, {
    spec: {
      ...rest,
      metrics: metrics.length === 0 ? [cpuMetric(80)] : metrics,
      ...(isJsonObject(behavior) ? { behavior: renamed(behavior, lower) } : {}),
    },
    status: { ...counts, ...(currentMetrics && { currentMetrics }), ...(isList(conditions) && { conditions }) },
  });
}

/** A HorizontalPodAutoscaler of `autoscaling/v2` in `autoscaling/v1`. */
export function autoscalerToV1(object: JsonObject): JsonObject {
  const { metrics, behavior, ...spec } = recordOf(object.spec);
  const { currentMetrics, conditions, ...status } = recordOf(object.status);
  const isOwn = (metric: JsonObject) => targetOf(metric) !== undefined;
  const percent = recordsOf(metrics)
    .map(targetOf)
    .find((found) => found !== undefined);
  const others = recordsOf(metrics).filter((metric) => !isOwn(metric));
  const current = recordsOf(currentMetrics)
    .filter(isCpu)
    .map(({ resource }) => recordOf(recordOf(resource).current));
  const utilization = current.map(({ averageUtilization }) => averageUtilization).findLast((one) => one !== undefined);
  const annotations: Record<string, Json | undefined> = { ...recordOf(metaOf(object).annotations) };
  const note = (name: string, value: Json, isThere: boolean) => {
    if (isThere) annotations[name] = JSON.stringify(value);
  };
  note(
    metricsNote,
    others.map((metric) => metricFrom(metric, sourceTo)),
    others.length > 0,
  );
  const reported = recordsOf(currentMetrics);
  note(
    statusesNote,
    reported.map((metric) => metricFrom(metric, statusTo)),
    reported.length > 0,
  );
  note(behaviorNote, behaviorText(recordOf(behavior)), behavior !== undefined);
  note(conditionsNote, recordsOf(conditions) as Json, recordsOf(conditions).length > 0);
  return canonical('v1', object, annotations as JsonObject, {
    spec: { ...spec, ...(percent === undefined ? {} : { targetCPUUtilizationPercentage: percent }) },
    status: { ...status, ...(utilization === undefined ? {} : { currentCPUUtilizationPercentage: utilization }) },
  });
}

/** As an object of the version is written; the old one alone has notes. */
function canonical(version: 'v1' | 'v2', object: JsonObject, annotations: JsonObject, parts: JsonObject): JsonObject {
  const kept = version === 'v1' ? annotations : without(annotations, notes);
  const any = Object.keys(kept).length > 0;
  const metadata = metaOf(withMeta(object, { annotations: any ? kept : undefined }));
  const kind = 'HorizontalPodAutoscaler';
  const schema = builtInSchema({ group: 'autoscaling', version, kind });
  const made = { kind, apiVersion: `autoscaling/${version}`, metadata, ...parts };
  return { ...(schema === undefined ? made : decodeTyped(made, schema)), metadata };
}

function without(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

function cpuMetric(percent: Json): JsonObject {
  const target = { type: 'Utilization', averageUtilization: percent };
  return { type: 'Resource', resource: { name: 'cpu', target } };
}

const isList = (value: Json | undefined): value is Json[] => Array.isArray(value);
const isCpu = ({ type, resource }: JsonObject) => type === 'Resource' && recordOf(resource).name === 'cpu';
const targetOf = (metric: JsonObject) =>
  isCpu(metric) ? recordOf(recordOf(metric.resource).target).averageUtilization : undefined;

function noted(annotations: JsonObject, name: string): Json | undefined {
  try {
    return annotations[name] === undefined ? undefined : (JSON.parse(textOf(annotations[name])) as Json);
  } catch {
    return undefined;
  }
}

type Source = (kind: string, source: JsonObject) => JsonObject;

/** A metric with its source in another form. */
function metricFrom(metric: JsonObject, convert: Source): JsonObject {
  const { type = '', ...sources } = metric;
  const made = Object.entries(sources).map(
    ([kind, source]) => [kind, defined(convert(kind, recordOf(source)))] as const,
  );
  return { type, ...Object.fromEntries(made) };
}

function sourceFrom(kind: string, source: JsonObject): JsonObject {
  const { metricName, targetValue, targetAverageValue, targetAverageUtilization, averageValue } = source;
  const selector = source.selector ?? source.metricSelector;
  const metric = defined({ name: metricName, selector });
  switch (kind) {
    case 'object': {
      const value = averageValue === undefined || targetValue !== '0' ? targetValue : undefined;
      const type = averageValue === undefined ? 'Value' : 'AverageValue';
      return { describedObject: source.target, metric, target: defined({ type, value, averageValue }) };
    }
    case 'pods':
      return { metric, target: { type: 'AverageValue', averageValue: targetAverageValue } };
    case 'external': {
      const type = targetValue === undefined ? 'AverageValue' : 'Value';
      return { metric, target: defined({ type, value: targetValue, averageValue: targetAverageValue }) };
    }
    default: {
      const { name, container } = source;
      const type = targetAverageUtilization === undefined ? 'AverageValue' : 'Utilization';
      const amounts = { averageUtilization: targetAverageUtilization, averageValue: targetAverageValue };
      return { name, container, target: defined({ type, ...amounts }) };
    }
  }
}

function sourceTo(kind: string, source: JsonObject): JsonObject {
  const { value, averageValue, averageUtilization } = recordOf(source.target);
  const { name: metricName, selector } = recordOf(source.metric);
  switch (kind) {
    case 'object':
      return { target: source.describedObject, metricName, targetValue: value ?? '0', selector, averageValue };
    case 'pods':
      return { metricName, targetAverageValue: averageValue ?? '0', selector };
    case 'external':
      return { metricName, metricSelector: selector, targetValue: value, targetAverageValue: averageValue };
    default: {
      const { name, container } = source;
      return { name, targetAverageUtilization: averageUtilization, targetAverageValue: averageValue, container };
    }
  }
}

function statusFrom(kind: string, source: JsonObject): JsonObject {
  const { metricName: name, currentValue, currentAverageValue, currentAverageUtilization, averageValue } = source;
  const metric = defined({ name, selector: source.selector ?? source.metricSelector });
  switch (kind) {
    case 'object':
      return { describedObject: source.target, metric, current: defined({ value: currentValue, averageValue }) };
    case 'pods':
      return { metric, current: { averageValue: currentAverageValue } };
    case 'external':
      return { metric, current: defined({ value: currentValue, averageValue: currentAverageValue }) };
    default: {
      // The old version cannot leave the value out.
      const isUnset = currentAverageValue === '0' && currentAverageUtilization !== undefined;
      const averageValue = isUnset ? undefined : currentAverageValue;
      const amounts = { averageValue, averageUtilization: currentAverageUtilization };
      return { name: source.name, container: source.container, current: defined(amounts) };
    }
  }
}

function statusTo(kind: string, source: JsonObject): JsonObject {
  const { value, averageValue, averageUtilization } = recordOf(source.current);
  const { name: metricName, selector } = recordOf(source.metric);
  switch (kind) {
    case 'object':
      return { target: source.describedObject, metricName, currentValue: value ?? '0', selector, averageValue };
    case 'pods':
      return { metricName, currentAverageValue: averageValue ?? '0', selector };
    case 'external': {
      const currentAverageValue = averageValue;
      return { metricName, metricSelector: selector, currentValue: value ?? '0', currentAverageValue };
    }
    default: {
      const { name, container } = source;
      const currentAverageValue = averageValue ?? '0';
      return { name, currentAverageUtilization: averageUtilization, currentAverageValue, container };
    }
  }
}

/** The rules for scaling by the names that they have inside the real server: that is how they are noted. */
function behaviorText({ scaleUp, scaleDown }: JsonObject): JsonObject {
  return { ScaleUp: rulesText(scaleUp), ScaleDown: rulesText(scaleDown) };
}

function rulesText(given: Json | undefined): JsonObject | null {
  if (given === undefined) return null;
  const { stabilizationWindowSeconds = null, selectPolicy = null, policies, tolerance = null } = recordOf(given);
  return {
    StabilizationWindowSeconds: stabilizationWindowSeconds,
    SelectPolicy: selectPolicy,
    Policies: policies === undefined ? null : recordsOf(policies).map((policy) => renamed(policy, upper)),
    Tolerance: tolerance,
  };
}

const lower = (name: string) => `${name[0]?.toLowerCase() ?? ''}${name.slice(1)}`;
const upper = (name: string) => `${name[0]?.toUpperCase() ?? ''}${name.slice(1)}`;

/** The object and all below it with other names of members; nulls are left out. */
function renamed(object: JsonObject, name: (old: string) => string): JsonObject {
  const below = (value: Json | undefined): Json | undefined => {
    if (isList(value)) return value.map((item) => below(item) as Json);
    return isJsonObject(value) ? renamed(value, name) : value;
  };
  const entries = Object.entries(object).filter(([, value]) => value !== null);
  return Object.fromEntries(entries.map(([key, value]) => [name(key), below(value)]));
}

function defined(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}
