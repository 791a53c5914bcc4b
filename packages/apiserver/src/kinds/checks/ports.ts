import type { Json } from 'riata/object';
import type { FieldError } from '../../status/field-error.js';
import { checkPort, checkText } from './basic-checks.js';
import { portName } from './text-rules.js';

/** What a port can speak. */
export const protocols: readonly string[] = ['SCTP', 'TCP', 'UDP'];

/** A port's number or name (`ValidatePortNumOrName`). */
export function checkPortOrName(port: Json | undefined, path: string): FieldError[] {
  return typeof port === 'string' ? checkText(portName, port, path) : checkPort(port, path);
}
