import type { KubeObject } from 'riata/object';
import type { Resource } from '../resource/resource.js';
import { accessTables } from './access-tables.js';
import { autoscalerTable } from './autoscaler-table.js';
import { coreTables } from './core-tables.js';
import { deviceTables } from './device-tables.js';
import { eventTable } from './event-table.js';
import { networkTables } from './network-tables.js';
import { podTable } from './pod-table.js';
import { storageTables } from './storage-tables.js';
import { type Ages, ageColumn, integers, nameColumn, printer, type TablePrinter, texts } from './table-printer.js';
import { workloadTables } from './workload-tables.js';

const tables: Readonly<Record<string, TablePrinter>> = {
  ...{ ...coreTables, ...workloadTables, ...networkTables, ...storageTables, ...accessTables, ...deviceTables },
  '/pods': podTable,
  '/events': eventTable,
  'autoscaling/horizontalpodautoscalers': autoscalerTable,
};

/** How a built-in kind is shown; undefined for one that has no columns of its own. */
export function builtInTable({ table }: Resource): TablePrinter | undefined {
  return Object.hasOwn(tables, table) ? tables[table] : undefined;
}

/** The table of a kind without one of its own. */
export const plainTable = printer<KubeObject>([nameColumn, { name: 'Created At', type: 'date' }], ({ metadata }) => [
  metadata.name,
  metadata.creationTimestamp ?? '0001-01-01T00:00:00Z',
]);

interface ScaleObject {
  readonly metadata: { readonly name: string; readonly creationTimestamp?: string };
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas?: number };
}

function scaleCells({ metadata, spec, status }: ScaleObject, ages: Ages) {
  return [metadata.name, spec?.replicas ?? 0, status?.replicas ?? 0, ages.since(metadata.creationTimestamp)];
}

/** The table of the Scale of a built-in kind. */
export const scaleTable = printer([...texts('Name'), ...integers('Desired', 'Available'), ageColumn], scaleCells);

/** The table of the Scale of a custom kind. */
export const customScaleTable = printer(
  [nameColumn, ...integers('Desired', 'Available'), { ...ageColumn, type: 'date' }],
  scaleCells,
);
