import type { Json, JsonObject } from 'riata/object';
import { numberOf, recordOf, recordsOf, stringsOf, textOf } from '../../../resource/metadata.js';
import { append } from '../../../status/append.js';
import { type FieldError, forbidden, invalid, required } from '../../../status/field-error.js';
import { checkEnum, checkNonNegative, checkText } from '../../checks/basic-checks.js';
import { checkPortOrName } from '../../checks/ports.js';
import { headerName } from '../../checks/text-rules.js';

/** The problems of the probes and lifecycle hooks of a container. */
export function checkLifecycle(container: JsonObject, spec: JsonObject, path: string): FieldError[] {
  const grace = spec.terminationGracePeriodSeconds;
  const { lifecycle, livenessProbe, readinessProbe, startupProbe } = container;
  if (!(lifecycle ?? livenessProbe ?? readinessProbe ?? startupProbe)) return [];
  return [
    ...checkHooks(lifecycle, grace, `${path}.lifecycle`),
    ...checkProbe(livenessProbe, grace, `${path}.livenessProbe`, 'once'),
    ...checkProbe(readinessProbe, grace, `${path}.readinessProbe`, 'ready'),
    ...checkProbe(startupProbe, grace, `${path}.startupProbe`, 'once'),
  ];
}

function checkHooks(lifecycle: Json | undefined, grace: Json | undefined, path: string): FieldError[] {
  const { postStart, preStop } = recordOf(lifecycle);
  return [
    ...(postStart === undefined ? [] : checkHandler(recordOf(postStart), hooks, grace, `${path}.postStart`)),
    ...(preStop === undefined ? [] : checkHandler(recordOf(preStop), hooks, grace, `${path}.preStop`)),
  ];
}

function checkProbe(
  given: Json | undefined,
  grace: Json | undefined,
  path: string,
  kind: 'once' | 'ready',
): FieldError[] {
  if (given === undefined) return [];
  const probe = recordOf(given);
  const errors = checkHandler(probe, probes, grace, path);
  for (const field of [
    'initialDelaySeconds',
    'timeoutSeconds',
    'periodSeconds',
    'successThreshold',
    'failureThreshold',
  ]) {
    append(errors, checkNonNegative(probe[field], `${path}.${field}`));
  }
  const own = probe.terminationGracePeriodSeconds;
  const graceAt = `${path}.terminationGracePeriodSeconds`;
  if (own !== undefined && numberOf(own) <= 0) errors.push(invalid(graceAt, own, 'must be greater than 0'));
  if (kind === 'ready' && own !== undefined) {
    errors.push(invalid(graceAt, own, 'must not be set for readinessProbes'));
  }
  if (kind === 'once' && probe.successThreshold !== 1) {
    errors.push(invalid(`${path}.successThreshold`, numberOf(probe.successThreshold), 'must be 1'));
  }
  return errors;
}

type Action = (action: JsonObject, path: string, grace: Json | undefined) => FieldError[];

const exec: Action = ({ command }, path) => (stringsOf(command).length === 0 ? [required(`${path}.command`)] : []);
const httpGet: Action = (action, path) => [
  ...(textOf(action.path) === '' ? [required(`${path}.path`)] : []),
  ...checkPortOrName(action.port, `${path}.port`),
  ...checkEnum(action.scheme, ['HTTP', 'HTTPS'], `${path}.scheme`),
  ...recordsOf(action.httpHeaders).flatMap(({ name }) => checkText(headerName, textOf(name), `${path}.httpHeaders`)),
];
const socket: Action = ({ port }, path) => checkPortOrName(port, `${path}.port`);
const sleep: Action = (action, path, grace) => {
  const seconds = numberOf(action.seconds);
  if (typeof grace !== 'number' || (seconds >= 0 && seconds <= grace)) return [];
  const detail = `must be non-negative and less than terminationGracePeriodSeconds (${grace})`;
  return [invalid(path, seconds, detail)];
};

const probes: Readonly<Record<string, Action>> = { exec, httpGet, tcpSocket: socket, grpc: socket };
const hooks: Readonly<Record<string, Action>> = { exec, httpGet, tcpSocket: socket, sleep };

/** Exactly one thing is done. */
function checkHandler(
  handler: JsonObject,
  actions: Readonly<Record<string, Action>>,
  grace: Json | undefined,
  path: string,
): FieldError[] {
  const [first, ...others] = Object.keys(actions).filter((name) => handler[name] !== undefined);
  if (first === undefined) return [required(path, 'must specify a handler type')];
  return [
    ...(actions[first]?.(recordOf(handler[first]), `${path}.${first}`, grace) ?? []),
    ...others.map((name) => forbidden(`${path}.${name}`, 'may not specify more than 1 handler type')),
  ];
}
