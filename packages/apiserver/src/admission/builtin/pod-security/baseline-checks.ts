import type { Json, JsonObject } from 'riata/object';
import { isGiven, numberOf, recordOf, recordsOf, stringsOf, textOf } from '../../../resource/metadata.js';
import { goQuote } from '../../../status/go-quote.js';
import {
  type CheckedPod,
  type CheckPod,
  containers,
  containersOf,
  containersWhere,
  contextOf,
  hasUserNamespace,
  plural,
  quoted,
  type SecurityCheck,
  setters,
  unique,
  type Violation,
} from './security-check.js';

const baseline = 'baseline';
const defaultCapabilities = [
  ...['AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'MKNOD', 'NET_BIND_SERVICE'],
  ...['SETFCAP', 'SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT'],
];
const seLinuxTypes = ['', 'container_t', 'container_init_t', 'container_kvm_t'];
const safeSysctls = [
  ...['kernel.shm_rmid_forced', 'net.ipv4.ip_local_port_range', 'net.ipv4.tcp_syncookies'],
  ...['net.ipv4.ping_group_range', 'net.ipv4.ip_unprivileged_port_start'],
];
const safeSysctls27 = [...safeSysctls, 'net.ipv4.ip_local_reserved_ports'];
const safeSysctls29 = [
  ...[...safeSysctls27, 'net.ipv4.tcp_keepalive_time', 'net.ipv4.tcp_fin_timeout'],
  ...['net.ipv4.tcp_keepalive_intvl', 'net.ipv4.tcp_keepalive_probes'],
];
const safeSysctls32 = [...safeSysctls29, 'net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem'];

/** The rules of the baseline level, except for seccomp profiles. */
export const baselineChecks: readonly SecurityCheck[] = [
  always('appArmorProfile', checkAppArmor),
  always('capabilities_baseline', checkCapabilities),
  always('hostNamespaces', ({ spec }) => {
    const shared = ['hostNetwork', 'hostPID', 'hostIPC'].filter((field) => spec[field] === true);
    if (shared.length === 0) return undefined;
    return { reason: 'host namespaces', detail: shared.map((field) => `${field}=true`).join(', ') };
  }),
  always('hostPathVolumes', ({ spec }) => {
    const bad = recordsOf(spec.volumes).filter(({ hostPath }) => isGiven(hostPath));
    if (bad.length === 0) return undefined;
    const names = quoted(bad.map(({ name }) => textOf(name)));
    return { reason: 'hostPath volumes', detail: `${plural('volume', 'volumes', bad.length)} ${names}` };
  }),
  always('hostPorts', checkHostPorts),
  { id: 'hostProbesAndHostLifecycle', level: baseline, versions: [{ minor: 34, check: checkHosts }] },
  always('privileged', (pod) => {
    const bad = containersWhere(pod, (container) => contextOf(container).privileged === true);
    if (bad.length === 0) return undefined;
    return { reason: 'privileged', detail: `${containers(bad)} must not set securityContext.privileged=true` };
  }),
  {
    id: 'procMount',
    level: baseline,
    versions: [
      { minor: 0, check: checkProcMount },
      { minor: 35, check: (pod) => (hasUserNamespace(pod) ? undefined : checkProcMount(pod)) },
    ],
  },
  {
    id: 'seLinuxOptions',
    level: baseline,
    versions: [
      { minor: 0, check: checkSeLinux(seLinuxTypes) },
      { minor: 31, check: checkSeLinux([...seLinuxTypes, 'container_engine_t']) },
    ],
  },
  {
    id: 'sysctls',
    level: baseline,
    versions: [
      { minor: 0, check: checkSysctls(safeSysctls) },
      { minor: 27, check: checkSysctls(safeSysctls27) },
      { minor: 29, check: checkSysctls(safeSysctls29) },
      { minor: 32, check: checkSysctls(safeSysctls32) },
    ],
  },
  always('windowsHostProcess', (pod) => {
    const isBad = (owner: JsonObject) => recordOf(contextOf(owner).windowsOptions).hostProcess === true;
    const who = setters(isBad(pod.spec), containersWhere(pod, isBad));
    if (who === '') return undefined;
    return { reason: 'hostProcess', detail: `${who} must not set securityContext.windowsOptions.hostProcess=true` };
  }),
];

function always(id: string, check: CheckPod): SecurityCheck {
  return { id, level: baseline, versions: [{ minor: 0, check }] };
}

function checkAppArmor(pod: CheckedPod): Violation | undefined {
  const typeOf = (owner: JsonObject) => textOf(recordOf(contextOf(owner).appArmorProfile).type);
  const isBad = (owner: JsonObject) =>
    isGiven(contextOf(owner).appArmorProfile) && !['RuntimeDefault', 'Localhost'].includes(typeOf(owner));
  const values = unique([pod.spec, ...containersOf(pod)].filter(isBad).map(typeOf));
  const annotations = Object.entries(pod.annotations)
    .filter(([key, value]) => key.startsWith('container.apparmor.security.beta.kubernetes.io/') && !isFineArmor(value))
    .map(([key, value]) => `${key}=${goQuote(textOf(value))}`)
    .sort();
  const set = setters(isBad(pod.spec), containersWhere(pod, isBad));
  const noted = annotations.length === 0 ? '' : plural('annotation', 'annotations', annotations.length);
  const who = [set, noted].filter((one) => one !== '').join(' and ');
  if (who === '') return undefined;
  const all = [...values, ...annotations];
  return {
    reason: plural('forbidden AppArmor profile', 'forbidden AppArmor profiles', all.length),
    detail: `${who} must not set AppArmor profile type to ${quoted(all)}`,
  };
}

function isFineArmor(value: Json | undefined): boolean {
  const text = textOf(value);
  return text === '' || text === 'runtime/default' || text.startsWith('localhost/');
}

function checkCapabilities(pod: CheckedPod): Violation | undefined {
  const added = (container: JsonObject) =>
    stringsOf(recordOf(contextOf(container).capabilities).add).filter((name) => !defaultCapabilities.includes(name));
  const bad = containersWhere(pod, (container) => added(container).length > 0);
  if (bad.length === 0) return undefined;
  const names = quoted(unique(containersOf(pod).flatMap(added)));
  return {
    reason: 'non-default capabilities',
    detail: `${containers(bad)} must not include ${names} in securityContext.capabilities.add`,
  };
}

function checkHostPorts(pod: CheckedPod): Violation | undefined {
  const portsOf = ({ ports }: JsonObject) =>
    recordsOf(ports)
      .map(({ hostPort }) => numberOf(hostPort))
      .filter((port) => port !== 0);
  const bad = containersWhere(pod, (container) => portsOf(container).length > 0);
  if (bad.length === 0) return undefined;
  const ports = unique(containersOf(pod).flatMap(portsOf).map(String));
  const words = `${plural('uses', 'use', bad.length)} ${plural('hostPort', 'hostPorts', ports.length)}`;
  return { reason: 'hostPort', detail: `${containers(bad)} ${words} ${ports.join(', ')}` };
}

function checkHosts(pod: CheckedPod): Violation | undefined {
  const hostsOf = (container: JsonObject) => {
    const { livenessProbe, readinessProbe, startupProbe, lifecycle } = container;
    const { postStart, preStop } = recordOf(lifecycle);
    return [livenessProbe, readinessProbe, startupProbe, postStart, preStop]
      .map(recordOf)
      .flatMap(({ httpGet, tcpSocket }) => [textOf(recordOf(httpGet).host), textOf(recordOf(tcpSocket).host)])
      .filter((host) => host !== '');
  };
  const bad = unique(containersWhere(pod, (container) => hostsOf(container).length > 0));
  if (bad.length === 0) return undefined;
  const hosts = unique(containersOf(pod).flatMap(hostsOf));
  const what = plural('probe or lifecycle host', 'probe or lifecycle hosts', hosts.length);
  const detail = `${containers(bad)} ${plural('uses', 'use', bad.length)} ${what} ${quoted(hosts)}`;
  return { reason: 'probe or lifecycle host', detail };
}

/** Forbids `/proc` mounts that show more than the default. */
export function checkProcMount(pod: CheckedPod): Violation | undefined {
  const mountOf = (container: JsonObject) => textOf(contextOf(container).procMount);
  const isBad = (container: JsonObject) => !['', 'Default'].includes(mountOf(container));
  const bad = containersWhere(pod, isBad);
  if (bad.length === 0) return undefined;
  const values = quoted(unique(containersOf(pod).filter(isBad).map(mountOf)));
  return { reason: 'procMount', detail: `${containers(bad)} must not set securityContext.procMount to ${values}` };
}

function checkSeLinux(types: readonly string[]): CheckPod {
  const optionsOf = (owner: JsonObject) => recordOf(contextOf(owner).seLinuxOptions);
  const isBad = (owner: JsonObject) => {
    const { type, user, role } = optionsOf(owner);
    return !types.includes(textOf(type)) || textOf(user) !== '' || textOf(role) !== '';
  };
  return (pod) => {
    const bad = [pod.spec, ...containersOf(pod)].filter(isBad).map(optionsOf);
    if (bad.length === 0) return undefined;
    const wrong = unique(bad.map(({ type }) => textOf(type)).filter((type) => !types.includes(type)));
    const data = [
      ...(wrong.length > 0 ? [`${plural('type', 'types', wrong.length)} ${quoted(wrong)}`] : []),
      ...(bad.some(({ user }) => textOf(user) !== '') ? ['user may not be set'] : []),
      ...(bad.some(({ role }) => textOf(role) !== '') ? ['role may not be set'] : []),
    ];
    const who = setters(isBad(pod.spec), containersWhere(pod, isBad));
    const detail = `${who} set forbidden securityContext.seLinuxOptions: ${data.join('; ')}`;
    return { reason: 'seLinuxOptions', detail };
  };
}

function checkSysctls(allowed: readonly string[]): CheckPod {
  return ({ spec }) => {
    const names = recordsOf(contextOf(spec).sysctls).map(({ name }) => textOf(name));
    const bad = names.filter((name) => !allowed.includes(name));
    return bad.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: bad.join(', ') };
  };
}
