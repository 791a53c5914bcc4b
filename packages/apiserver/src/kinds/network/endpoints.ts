import { equal, type JsonObject } from 'riata/object';
import { metaOf, recordOf, recordsOf, textOf } from '../../resource/metadata.js';
import { dnsLabel, dnsSubdomain } from '../../schema/name-rules.js';
import { type FieldError, required } from '../../status/field-error.js';
import { checkText } from '../checks/basic-checks.js';
import { checkEndpointIp, checkIp, ipWarnings } from '../checks/ip-checks.js';
import { checkNamedPort } from '../checks/ports.js';
import type { KindRules } from '../kind-rules.js';

const addressLists = ['addresses', 'notReadyAddresses'] as const;

export const endpointsRules: KindRules = {
  defaults: { 'subsets[].ports[].protocol': 'TCP' },
  validate(object, before) {
    if (before !== undefined && equal(object.subsets ?? null, before.subsets ?? null)) return [];
    return recordsOf(object.subsets).flatMap((subset, i) => checkSubset(subset, `subsets[${i}]`));
  },
  warnings(object) {
    const { labels } = metaOf(object);
    // The controller that has made them knows how to write addresses.
    const isOwn = recordOf(labels)['endpoints.kubernetes.io/managed-by'] === 'endpoint-controller';
    const bad = recordsOf(object.subsets).flatMap((subset, i) =>
      addressLists.flatMap((list) =>
        recordsOf(subset[list]).flatMap(({ ip }, j) => ipWarnings(textOf(ip), `subsets[${i}].${list}[${j}].ip`)),
      ),
    );
    return isOwn ? [] : bad;
  },
};

function checkSubset(subset: JsonObject, path: string): FieldError[] {
  const ports = recordsOf(subset.ports);
  const addresses = addressLists.flatMap((list) =>
    recordsOf(subset[list]).map((address, i) => ({ address, at: `${path}.${list}[${i}]` })),
  );
  return [
    ...(addresses.length > 0 ? [] : [required(path, 'must specify `addresses` or `notReadyAddresses`')]),
    ...addresses.flatMap(({ address, at }) => checkAddress(address, at)),
    ...ports.flatMap((port, i) => checkNamedPort(port, ports.length > 1, `${path}.ports[${i}]`)),
  ];
}

function checkAddress({ ip, hostname, nodeName }: JsonObject, path: string): FieldError[] {
  return [
    ...checkIp(textOf(ip), `${path}.ip`),
    ...(textOf(hostname) === '' ? [] : checkText(dnsLabel, textOf(hostname), `${path}.hostname`)),
    ...(nodeName === undefined ? [] : checkText(dnsSubdomain, textOf(nodeName), `${path}.nodeName`)),
    ...checkEndpointIp(textOf(ip), `${path}.ip`),
  ];
}
