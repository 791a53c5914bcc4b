import type { Resource, Subresource } from '../resource/resource.js';
import { builtInTable, customScaleTable, plainTable, scaleTable } from './built-in-tables.js';
import { customTable } from './custom-table.js';
import type { TablePrinter } from './table-printer.js';

const custom = new WeakMap<Resource, TablePrinter>();

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
