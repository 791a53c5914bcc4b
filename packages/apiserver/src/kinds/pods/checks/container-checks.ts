import type { Json, JsonObject } from 'riata/object';
import { numberOf, recordOf, recordsOf, textOf } from '../../../resource/metadata.js';
import { dnsLabel } from '../../../schema/name-rules.js';
import { append } from '../../../status/append.js';
import {
  absent,
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
  tooMany,
} from '../../../status/field-error.js';
import { checkPort, checkRequiredEnum, checkText } from '../../checks/basic-checks.js';
import { protocols } from '../../checks/ports.js';
import { portName } from '../../checks/text-rules.js';
import { checkLifecycle } from './check-lifecycle.js';
import { checkMounts, type Volumes } from './check-mounts.js';
import { checkEnvironment } from './env-checks.js';
import { checkContainerResources } from './resource-checks.js';
import { checkContainerSecurity } from './security-checks.js';

/** The facts that containers are checked against. */
export interface ContainerContext {
  readonly spec: JsonObject;
  readonly volumes: Volumes;
  /** The names of the Pod's claims. */
  readonly claims: ReadonlySet<string>;
}

/** The problems of the containers of a Pod, of all sorts. */
export function checkContainers(around: ContainerContext, path: string): FieldError[] {
  const { spec } = around;
  const [containers, init] = [recordsOf(spec.containers), recordsOf(spec.initContainers)];
  const names = new Set<string>();
  return [
    ...checkRegular(containers, around, names, `${path}.containers`),
    ...init.flatMap((one, index) => checkInit(one, around, names, `${path}.initContainers`, index)),
    ...checkEphemeral(around, `${path}.ephemeralContainers`),
  ];
}

function checkRegular(
  containers: readonly JsonObject[],
  around: ContainerContext,
  names: Set<string>,
  path: string,
): FieldError[] {
  if (containers.length === 0) return [required(path)];
  return [
    ...containers.flatMap((container, index) => {
      const at = `${path}[${index}]`;
      const name = textOf(container.name);
      const errors = [
        ...checkCommon(container, around, at),
        ...checkLifecycle(container, around.spec, at),
        ...checkRestart(container, at),
      ];
      if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
      names.add(name);
      return errors;
    }),
    ...checkHostPorts(containers, path),
  ];
}

function checkInit(
  container: JsonObject,
  around: ContainerContext,
  names: Set<string>,
  path: string,
  index: number,
): FieldError[] {
  const at = `${path}[${index}]`;
  const name = textOf(container.name);
  const isSidecar = container.restartPolicy === 'Always';
  const errors = [
    ...checkCommon(container, around, at),
    ...checkRestart(container, at).slice(0, container.restartPolicy === undefined ? 1 : undefined),
    ...checkHostPorts([container], path),
  ];
  if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
  else if (name !== '') names.add(name);
  if (isSidecar) return [...errors, ...checkLifecycle(container, around.spec, at)];
  const never = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'].filter(
    (f) => container[f] !== undefined,
  );
  const detail = 'may not be set for init containers without restartPolicy=Always';
  const restarted = recordsOf(container.resizePolicy).flatMap(({ restartPolicy }, i) => {
    const why = "must not be set to 'RestartContainer' for non-sidecar initContainers";
    const where = `${at}.resizePolicy[${i}].restartPolicy`;
    return restartPolicy === 'RestartContainer' ? [invalid(where, restartPolicy, why)] : [];
  });
  return [...errors, ...never.map((field) => forbidden(`${at}.${field}`, detail)), ...restarted];
}

const refusedFields = [
  ...['ports', 'livenessProbe', 'readinessProbe', 'startupProbe', 'lifecycle'],
  ...['resizePolicy', 'restartPolicy', 'restartPolicyRules'],
];

function checkEphemeral(around: ContainerContext, path: string): FieldError[] {
  const { containers, initContainers } = around.spec;
  const others = new Set([...recordsOf(containers), ...recordsOf(initContainers)].map(({ name }) => textOf(name)));
  const names = new Set(others);
  return recordsOf(around.spec.ephemeralContainers).flatMap((container, index) => {
    const at = `${path}[${index}]`;
    const [name, target] = [textOf(container.name), textOf(container.targetContainerName)];
    const errors = [...checkCommon(container, around, at), ...checkImageBlanks(container, at)];
    if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
    names.add(name);
    if (target !== '' && !others.has(target)) errors.push(absent(`${at}.targetContainerName`, target));
    const refused = refusedFields.filter((field) => container[field] !== undefined);
    if (Object.keys(recordOf(container.resources)).length > 0) refused.push('resources');
    for (const [i, mount] of recordsOf(container.volumeMounts).entries()) {
      const below = ['subPath', 'subPathExpr'].filter((field) => textOf(mount[field]) !== '');
      append(
        refused,
        below.map((field) => `volumeMounts[${i}].${field}`),
      );
    }
    return [...errors, ...refused.map((f) => forbidden(`${at}.${f}`, 'cannot be set for an Ephemeral Container'))];
  });
}

/** Of Pods, but not of templates. */
export function checkImageBlanks(container: JsonObject, path: string): FieldError[] {
  const image = textOf(container.image);
  if (image.trim() === image) return [];
  return [invalid(`${path}.image`, image, 'must not have leading or trailing whitespace')];
}

function checkCommon(container: JsonObject, { spec, volumes, claims }: ContainerContext, path: string): FieldError[] {
  const name = textOf(container.name);
  const policies = ['File', 'FallbackToLogsOnError'];
  const policy = container.terminationMessagePolicy;
  return [
    ...(name === '' ? [required(`${path}.name`)] : checkText(dnsLabel, name, `${path}.name`)),
    ...(textOf(container.image) === '' ? [required(`${path}.image`)] : []),
    ...(policies.includes(textOf(policy)) ? [] : [notSupported(`${path}.terminationMessagePolicy`, policy, policies)]),
    ...checkPorts(container.ports, `${path}.ports`),
    ...checkEnvironment(container, path),
    ...checkMounts(container, volumes, path),
    ...checkRequiredEnum(container.imagePullPolicy, ['Always', 'IfNotPresent', 'Never'], `${path}.imagePullPolicy`),
    ...checkContainerResources(container.resources, claims, `${path}.resources`),
    ...checkResizePolicy(container.resizePolicy, textOf(spec.restartPolicy), `${path}.resizePolicy`),
    ...checkContainerSecurity(container.securityContext, spec.hostUsers !== false, `${path}.securityContext`),
  ];
}

function checkPorts(given: Json | undefined, path: string): FieldError[] {
  const names = new Set<string>();
  return recordsOf(given).flatMap((port, index) => {
    const at = `${path}[${index}]`;
    const name = textOf(port.name);
    const errors = name === '' ? [] : checkText(portName, name, `${at}.name`);
    if (errors.length === 0 && name !== '') {
      if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
      names.add(name);
    }
    if (numberOf(port.containerPort) === 0) errors.push(required(`${at}.containerPort`));
    else append(errors, checkPort(port.containerPort, `${at}.containerPort`));
    if (numberOf(port.hostPort) !== 0) append(errors, checkPort(port.hostPort, `${at}.hostPort`));
    append(errors, checkRequiredEnum(port.protocol, protocols, `${at}.protocol`));
    return errors;
  });
}

function checkHostPorts(containers: readonly JsonObject[], path: string): FieldError[] {
  const seen = new Set<string>();
  return containers.flatMap((container, index) =>
    recordsOf(container.ports).flatMap((port, i) => {
      if (numberOf(port.hostPort) === 0) return [];
      const id = `${textOf(port.protocol)}/${textOf(port.hostIP)}/${port.hostPort}`;
      if (seen.has(id)) return [duplicate(`${path}[${index}].ports[${i}].hostPort`, id)];
      seen.add(id);
      return [];
    }),
  );
}

function checkResizePolicy(given: Json | undefined, restartPolicy: string, path: string): FieldError[] {
  const seen = new Set<string>();
  return recordsOf(given).flatMap((one, index) => {
    const [resource, policy] = [textOf(one.resourceName), textOf(one.restartPolicy)];
    const errors = [
      ...(seen.has(resource) ? [duplicate(`${path}[${index}]`, resource)] : []),
      ...checkRequiredEnum(resource, ['cpu', 'memory'], path),
      ...checkRequiredEnum(policy, ['NotRequired', 'RestartContainer'], path),
    ];
    seen.add(resource);
    if (restartPolicy === 'Never' && policy !== 'NotRequired') {
      errors.push(invalid(path, policy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'"));
    }
    return errors;
  });
}

function checkRestart({ restartPolicy: policy, restartPolicyRules }: JsonObject, path: string): FieldError[] {
  const rules = recordsOf(restartPolicyRules);
  if (policy === undefined && rules.length === 0) return [];
  const at = `${path}.restartPolicyRules`;
  const errors: FieldError[] = [];
  if (policy === undefined) {
    errors.push(required(`${path}.restartPolicy`, 'must specify restartPolicy when restart rules are used'));
  } else if (!restartPolicies.includes(textOf(policy))) {
    errors.push(notSupported(`${path}.restartPolicy`, policy, restartPolicies));
  }
  if (rules.length > 20) errors.push(tooMany(at, rules.length, 20));
  return [...errors, ...rules.flatMap((rule, index) => checkRestartRule(rule, `${at}[${index}]`))];
}

const restartPolicies = ['Always', 'Never', 'OnFailure'];

function checkRestartRule({ action, exitCodes }: JsonObject, path: string): FieldError[] {
  const actions = ['Restart', 'RestartAllContainers'];
  const errors = actions.includes(textOf(action)) ? [] : [notSupported(`${path}.action`, textOf(action), actions)];
  if (exitCodes === undefined) return [...errors, required(`${path}.exitCodes`, 'must be specified')];
  const { operator, values } = recordOf(exitCodes);
  if (operator !== 'In' && operator !== 'NotIn') {
    errors.push(notSupported(`${path}.exitCodes.operator`, textOf(operator), ['In', 'NotIn']));
  }
  const count = Array.isArray(values) ? values.length : 0;
  return count > 255 ? [...errors, tooMany(`${path}.exitCodes.values`, count, 255)] : errors;
}
