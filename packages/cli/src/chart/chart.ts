import type { WriteObject } from 'riata/client';
import type { JsonObject } from 'riata/object';
import { optionNames, refuseUnknownOptions } from 'riata/runtime';
import { isOperatorConfig, type OperatorConfig } from '../config/operator.js';
import type { Operator } from '../config/resolve-operator.js';
import type { Release } from './evaluate-objects.js';

/** The values of a chart: any Standard JSON Schema, as zod, arktype and valibot make them. */
export interface ValuesSchema<Values> {
  readonly '~standard': {
    readonly types?: { readonly output: Values } | undefined;
    readonly jsonSchema: { readonly input: (options: { readonly target: 'draft-07' }) => Record<string, unknown> };
  };
}

/** What the objects of a chart depend on beside its values. */
export interface ChartContext {
  /** Use its `namespace` for objects; Helm does not create it. */
  readonly release: Release;
  readonly operator: Operator;
}

/** Options of {@link chart}. */
export interface ChartOptions<Values extends object> {
  /** With descriptions and defaults, which become `values.yaml` and `values.schema.json`. */
  readonly values: ValuesSchema<Values>;
  /**
   * The objects of a release. Called with placeholders: `v.replicas` becomes `{{ .Values.replicas }}`. Pass values on, name
   * them in template literals, spread lists and maps, and use `onlyIf` for objects that some releases lack. Comparing or
   * computing with values is an error.
   */
  readonly objects: (values: Values, context: ChartContext) => Promise<readonly WriteObject[]> | readonly WriteObject[];
  /** @default the operator's */
  readonly name?: string;
  /** For `NOTES.txt`, shown after an installation; a template. @default how to see that the operator runs */
  readonly notes?: string;
}

export const chartOptionNames = optionNames<ChartOptions<object>>({
  values: true,
  objects: true,
  name: true,
  notes: true,
});

const brand = Symbol.for('riata.dev/chart');

/** A chart as `riata.config.ts` describes it; made by {@link chart}. */
export interface ChartConfig {
  readonly [brand]: true;
  readonly operator: OperatorConfig;
  readonly schema: JsonObject;
  readonly name: string | undefined;
  readonly notes: string | undefined;
  /** With values, or with placeholders for them. */
  objects(values: unknown, context: ChartContext): Promise<readonly WriteObject[]>;
}

/**
 * Describes a Helm chart to `riata chart`; a named export of `riata.config.ts`, beside the operator.
 *
 * @example
 * export const siteChart = chart(siteOperator, {
 *   values: z.object({ replicas: z.int().default(2), nodeSelector: z.record(z.string(), z.string()).optional() }),
 *   objects: (v, { release }) =>
 *     deployment(siteOperator, { namespace: release.namespace, replicas: v.replicas, pod: { nodeSelector: v.nodeSelector } }),
 * });
 */
export function chart<Values extends object>(operator: OperatorConfig, options: ChartOptions<Values>): ChartConfig {
  if (!isOperatorConfig(operator)) throw new TypeError('chart: the first argument must be made by operator(…)');
  const subject = `chart of "${operator.name}"`;
  refuseUnknownOptions(subject, options, chartOptionNames);
  const { values, objects, name, notes } = options;
  if (typeof objects !== 'function') {
    throw new TypeError(`${subject}: objects must be a function of values, got ${typeof objects}`);
  }
  return chartOf(operator, {
    schema: schemaOf(subject, values),
    objects: objects as ChartConfig['objects'],
    name,
    notes,
  });
}

/** A chart whose schema is known. */
export function chartOf(
  operator: OperatorConfig,
  parts: Pick<ChartConfig, 'schema'> & {
    readonly objects: (values: never, context: ChartContext) => ReturnType<ChartOptions<object>['objects']>;
    readonly name?: string | undefined;
    readonly notes?: string | undefined;
  },
): ChartConfig {
  const { schema, name, notes } = parts;
  return {
    ...{ [brand]: true as const, operator, schema, name, notes },
    objects: async (values, context) => parts.objects(values as never, context),
  };
}

/** Whether a value was made by {@link chart}, of whichever copy of this package. */
export function isChart(value: unknown): value is ChartConfig {
  return typeof value === 'object' && value !== null && (value as Partial<ChartConfig>)[brand] === true;
}

function schemaOf(subject: string, values: ValuesSchema<object>): JsonObject {
  const converter = values?.['~standard']?.jsonSchema;
  if (typeof converter?.input !== 'function') {
    throw new TypeError(
      `${subject}: values must be a Standard JSON Schema, e.g. z.object({ replicas: z.int().default(2) }) of zod ≥ 4.2`,
    );
  }
  return JSON.parse(JSON.stringify(converter.input({ target: 'draft-07' })));
}
