import { equal, isJsonObject, type JsonObject } from 'riata/object';
import { metaOf, recordOf, recordsOf, stringsOf, textOf } from '../../resource/metadata.js';
import { dnsLabel, dnsSubdomain, labelValue, qualifiedName } from '../../schema/name-rules.js';
import { checkImmutable } from '../../schema/object-meta.js';
import { duplicate, type FieldError, invalid, notSupported, required, tooMany } from '../../status/field-error.js';
import { checkEnum, checkText } from '../checks/basic-checks.js';
import { checkDomainName } from '../checks/domain-names.js';
import { parseIp } from '../checks/ip-address.js';
import { checkCanonicalIp, checkEndpointIp, checkIp, ipWarnings } from '../checks/ip-checks.js';
import { protocols } from '../checks/ports.js';
import type { TextRule } from '../checks/text-rules.js';
import { withoutEmptyList } from '../checks/without-empty-list.js';
import type { KindRules } from '../kind-rules.js';

const addressTypes = ['FQDN', 'IPv4', 'IPv6'];
const max = { endpoints: 1000, addresses: 100, ports: 20_000, hints: 8 } as const;
/** Their controllers know how to write addresses. */
const knownWriters = ['endpointslice-controller.k8s.io', 'endpointslicemirroring-controller.k8s.io'];

export const endpointSliceRules: KindRules = {
  defaults: { 'ports[].name': '', 'ports[].protocol': 'TCP' },
  prepare: (object, before) =>
    withoutEmptyList(withoutEmptyList(withoutTopology(object, before), 'endpoints'), 'ports'),
  validate(object, before) {
    const type = textOf(object.addressType);
    const isSame = before !== undefined && equal(object.endpoints ?? null, before.endpoints ?? null);
    return [
      ...(type === '' ? [required('addressType')] : []),
      ...(type === '' || addressTypes.includes(type) ? [] : [notSupported('addressType', type, addressTypes)]),
      ...checkPorts(recordsOf(object.ports)),
      ...(isSame ? [] : checkEndpoints(recordsOf(object.endpoints), type)),
    ];
  },
  validateUpdate: (object, before) =>
    checkImmutable(textOf(object.addressType), textOf(before.addressType), 'addressType'),
  warnings(object, before) {
    const { labels } = metaOf(object);
    const writer = textOf(recordOf(labels)['endpointslice.kubernetes.io/managed-by']);
    const old = before === undefined && object.addressType === 'FQDN';
    const deprecated = old ? ['spec.addressType: FQDN endpoints are deprecated'] : [];
    if (knownWriters.includes(writer) || object.addressType === 'FQDN') return deprecated;
    const all = recordsOf(object.endpoints).flatMap((endpoint, i) =>
      stringsOf(endpoint.addresses).flatMap((ip, j) => ipWarnings(ip, `endpoints[${i}].addresses[${j}]`)),
    );
    return [...deprecated, ...all];
  },
};

/** A field of an older version, which is not written by this one. */
function withoutTopology(object: JsonObject, before: JsonObject | undefined): JsonObject {
  const endpoints = recordsOf(object.endpoints);
  if (!endpoints.some(({ deprecatedTopology }) => isJsonObject(deprecatedTopology))) return object;
  if (before !== undefined && equal(object.endpoints, before.endpoints)) return object;
  return { ...object, endpoints: endpoints.map(({ deprecatedTopology: _, ...endpoint }) => endpoint) };
}

function checkPorts(ports: readonly JsonObject[]): FieldError[] {
  if (ports.length > max.ports) return [tooMany('ports', ports.length, max.ports)];
  const names = new Set<string>();
  return ports.flatMap(({ name, protocol, appProtocol }, i) => {
    const text = textOf(name);
    const isKnown = names.has(text);
    names.add(text);
    return [
      ...(text === '' ? [] : checkText(dnsLabel, text, `ports[${i}].name`)),
      ...(isKnown ? [duplicate(`ports[${i}].name`, text)] : []),
      ...checkEnum(protocol, protocols, `ports[${i}].protocol`),
      ...(appProtocol === undefined ? [] : checkText(qualifiedName, textOf(appProtocol), `ports[${i}].appProtocol`)),
    ];
  });
}

function checkEndpoints(endpoints: readonly JsonObject[], type: string): FieldError[] {
  if (endpoints.length > max.endpoints) return [tooMany('endpoints', endpoints.length, max.endpoints)];
  return endpoints.flatMap((endpoint, i) => checkEndpoint(endpoint, type, `endpoints[${i}]`));
}

function checkEndpoint(endpoint: JsonObject, type: string, path: string): FieldError[] {
  const { nodeName, hostname, hints } = endpoint;
  const addresses = stringsOf(endpoint.addresses);
  const at = `${path}.addresses`;
  return [
    ...(addresses.length > 0 ? [] : [required(at, 'must contain at least 1 address')]),
    ...(addresses.length > max.addresses ? [tooMany(at, addresses.length, max.addresses)] : []),
    ...addresses.flatMap((address, i) => checkAddress(address, type, at, i)),
    ...(nodeName === undefined ? [] : checkText(dnsSubdomain, textOf(nodeName), `${path}.nodeName`)),
    ...(hostname === undefined ? [] : checkText(dnsLabel, textOf(hostname), `${path}.hostname`)),
    ...checkHints(recordsOf(recordOf(hints).forZones), labelValue, `${path}.hints.forZones`),
    ...checkHints(recordsOf(recordOf(hints).forNodes), dnsSubdomain, `${path}.hints.forNodes`),
  ];
}

function checkAddress(address: string, type: string, list: string, index: number): FieldError[] {
  const path = `${list}[${index}]`;
  if (type === 'FQDN') return checkDomainName(address, path);
  if (type !== 'IPv4' && type !== 'IPv6') return [];
  const errors = type === 'IPv4' ? checkIp(address, path) : checkCanonicalIp(address, path);
  if (errors.length > 0) return errors;
  const isOther = parseIp(address)?.family !== type;
  return [
    ...(isOther ? [invalid(list, address, `must be an ${type} address`)] : []),
    ...checkEndpointIp(address, path),
  ];
}

function checkHints(hints: readonly JsonObject[], rule: TextRule, path: string): FieldError[] {
  if (hints.length > max.hints) return [tooMany(path, hints.length, max.hints)];
  const names = hints.map(({ name }) => textOf(name));
  return names.flatMap((name, i) => [
    ...(names.indexOf(name) < i ? [duplicate(`${path}[${i}].name`, name)] : []),
    ...checkText(rule, name, `${path}[${i}].name`),
  ]);
}
