import type { HorizontalPodAutoscaler } from 'riata/kinds';
import { inVersion } from '../resource/custom/in-version.js';
import { none, unknown, unset } from './cell-texts.js';
import { ageColumn, nameColumn, printer, texts } from './table-printer.js';

type Spec = NonNullable<HorizontalPodAutoscaler['spec']>;
type Metric = NonNullable<Spec['metrics']>[number];

/** Parts of a metric, target or current. */
interface Amount {
  readonly averageUtilization?: number;
  readonly averageValue?: string;
  readonly value?: string;
}

interface Source {
  readonly name?: string;
  readonly target?: Amount;
  readonly current?: Amount;
}

/** HorizontalPodAutoscalers. */
export const autoscalerTable = printer<HorizontalPodAutoscaler>(
  [nameColumn, ...texts('Reference', 'Targets', 'MinPods', 'MaxPods', 'Replicas'), ageColumn],
  (shown, ages) => {
    // All versions are shown by what the newest one says.
    const autoscaler = inVersion(shown, 'autoscaling/v2') as HorizontalPodAutoscaler;
    const { metadata, spec, status } = autoscaler;
    return [
      metadata.name,
      `${spec?.scaleTargetRef.kind ?? ''}/${spec?.scaleTargetRef.name ?? ''}`,
      targetsText(autoscaler),
      spec?.minReplicas === undefined ? unset : String(spec.minReplicas),
      spec?.maxReplicas ?? 0,
      status?.currentReplicas ?? 0,
      ages.since(metadata.creationTimestamp),
    ];
  },
);

function targetsText({ spec, status }: HorizontalPodAutoscaler): string {
  const metrics = spec?.metrics ?? [];
  if (metrics.length === 0) return none;
  const texts = metrics.map((metric, index) =>
    metricText(metric, status?.currentMetrics?.[index] as Metric | undefined),
  );
  const shown = texts.slice(0, 2).join(', ');
  return texts.length > 2 ? `${shown} + ${texts.length - 2} more...` : shown;
}

function metricText(metric: Metric, measured: Metric | undefined): string {
  switch (metric.type) {
    case 'External':
      return valueText(metric.external, measured?.external);
    case 'Object':
      return valueText(metric.object, measured?.object);
    case 'Pods':
      return `${(measured?.pods as Source | undefined)?.current?.averageValue ?? unknown}/${metric.pods?.target.averageValue ?? ''}`;
    case 'Resource':
      return resourceText(metric.resource, measured?.resource);
    case 'ContainerResource':
      return resourceText(metric.containerResource, measured?.containerResource);
    default:
      return '<unknown type>';
  }
}

function valueText(expected: Source | undefined, measured: Source | undefined): string {
  const { averageValue, value = '' } = expected?.target ?? {};
  if (averageValue === undefined) return `${measured?.current?.value ?? unknown}/${value}`;
  return `${measured?.current?.averageValue ?? unknown}/${averageValue} (avg)`;
}

function resourceText(expected: Source | undefined, measured: Source | undefined): string {
  const { averageValue, averageUtilization } = expected?.target ?? {};
  const name = `${expected?.name ?? ''}: `;
  if (averageValue !== undefined) return `${name}${measured?.current?.averageValue ?? unknown}/${averageValue}`;
  return `${name}${percent(measured?.current?.averageUtilization) ?? unknown}/${percent(averageUtilization) ?? '<auto>'}`;
}

function percent(value: number | undefined): string | undefined {
  return value === undefined ? undefined : `${value}%`;
}
