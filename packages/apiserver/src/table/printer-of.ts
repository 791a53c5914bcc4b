import type { Resource, Subresource } from '../resource/resource.js';
import { builtInTable, customScaleTable, plainTable, scaleTable } from './built-in-tables.js';
import { customTable } from './custom-table.js';
import type { TablePrinter } from './table-printer.js';

/** The printer for what a path serves. */
export function printerOf(resource: Resource, subresource: Subresource | undefined): TablePrinter {
  if (subresource?.kind === 'Scale') return resource.builtIn ? scaleTable : customScaleTable;
  if (resource.builtIn) return builtInTable(resource) ?? plainTable;
  return customTable(resource.definition?.additionalPrinterColumns ?? []);
}
