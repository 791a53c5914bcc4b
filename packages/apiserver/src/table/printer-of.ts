import type { Resource, Subresource } from '../resource/resource.js';
import { builtInTable, customScaleTable, plainTable, scaleTable } from './built-in-tables.js';
import { customTable } from './custom-table.js';
import type { TablePrinter } from './table-printer.js';

const custom = new WeakMap<Resource, TablePrinter>();

/** Resources whose status is shown by nobody, though they are. */
const hiddenStatus = [
  'apiextensions.k8s.io/customresourcedefinitions',
  'apiregistration.k8s.io/apiservices',
  'resource.k8s.io/resourceclaims',
];

/** Whether what a path gives can be shown as a Table at all: not what is only ever created, nor most subresources. */
export function canBeShown(resource: Resource, subresource: Subresource | undefined): boolean {
  if (subresource === undefined) return resource.verbs.includes('get');
  if (subresource.name === 'status') return !hiddenStatus.includes(resource.table);
  return subresource.kind === 'Scale';
}

/** How what a path gives is shown as a Table. */
export function printerOf(resource: Resource, subresource: Subresource | undefined): TablePrinter {
  if (subresource?.kind === 'Scale') return resource.builtIn ? scaleTable : customScaleTable;
  if (resource.builtIn) return builtInTable(resource) ?? plainTable;
  let printer = custom.get(resource);
  if (printer === undefined) {
    printer = customTable(resource.definition?.additionalPrinterColumns ?? []);
    custom.set(resource, printer);
  }
  return printer;
}
