import type { Json, JsonObject } from 'riata/object';
import { isGiven, textOf } from '../../resource/metadata.js';
import { dnsLabel, qualifiedName } from '../../schema/name-rules.js';
import { type FieldError, required } from '../../status/field-error.js';
import { checkPort, checkRequiredEnum, checkText } from './basic-checks.js';
import { portName } from './text-rules.js';

/** The protocols of a port. */
export const protocols: readonly string[] = ['SCTP', 'TCP', 'UDP'];

/** A port's number or name (`ValidatePortNumOrName`). */
export function checkPortOrName(port: Json | undefined, path: string): FieldError[] {
  return typeof port === 'string' ? checkText(portName, port, path) : checkPort(port, path);
}

/** A port of a Service or of its endpoints: where there are several, they have names. */
export function checkNamedPort(one: JsonObject, needsName: boolean, path: string): FieldError[] {
  const { port, protocol, appProtocol } = one;
  const name = textOf(one.name);
  return [
    ...(name === '' && needsName ? [required(`${path}.name`)] : []),
    ...(name === '' ? [] : checkText(dnsLabel, name, `${path}.name`)),
    ...checkPort(port, `${path}.port`),
    ...checkRequiredEnum(protocol, protocols, `${path}.protocol`),
    ...(isGiven(appProtocol) ? checkText(qualifiedName, textOf(appProtocol), `${path}.appProtocol`) : []),
  ];
}
