import type { JsonObject } from 'riata/object';
import { numberOf, recordOf, recordsOf, stringsOf, textOf } from '../../resource/metadata.js';
import { append } from '../../status/append.js';
import { type FieldError, forbidden, invalid, notSupported, required } from '../../status/field-error.js';
import { checkPort } from '../checks/basic-checks.js';
import { contains, parseCidr } from '../checks/ip-address.js';
import { checkCidr, cidrWarnings } from '../checks/ip-checks.js';
import { checkLabelSelector } from '../checks/label-selector.js';
import { checkPortOrName } from '../checks/ports.js';
import type { KindRules } from '../kind-rules.js';

const policyTypes = ['Ingress', 'Egress'];
/** Where each direction has its rules and their peers. */
const directions = [
  { rules: 'ingress', peers: 'from' },
  { rules: 'egress', peers: 'to' },
] as const;

export const networkPolicyRules: KindRules = {
  defaults: {
    'spec.policyTypes': ({ egress }) => (recordsOf(egress).length > 0 ? policyTypes : ['Ingress']),
    'spec.ingress[].ports[].protocol': 'TCP',
    'spec.egress[].ports[].protocol': 'TCP',
  },
  validate(object, before) {
    const spec = recordOf(object.spec);
    const known = before === undefined ? [] : blocksOf(recordOf(before.spec)).flatMap(({ cidrs }) => cidrs);
    return [
      ...checkLabelSelector(spec.podSelector, 'spec.podSelector'),
      ...directions.flatMap(({ rules, peers }) =>
        recordsOf(spec[rules]).flatMap((rule, i) => checkRule(rule, peers, known, `spec.${rules}[${i}]`)),
      ),
      ...checkTypes(stringsOf(spec.policyTypes)),
    ];
  },
  warnings: (object) =>
    blocksOf(recordOf(object.spec)).flatMap(({ path, cidrs }) =>
      cidrs.flatMap((cidr, i) => cidrWarnings(cidr, i === 0 ? `${path}.cidr` : `${path}.except[${i - 1}]`)),
    ),
};

function checkTypes(types: readonly string[]): FieldError[] {
  if (types.length > 2) return [invalid('spec.policyTypes', types, 'may not specify more than two policyTypes')];
  return types.flatMap((type, i) =>
    policyTypes.includes(type) ? [] : [notSupported(`spec.policyTypes[${i}]`, type, policyTypes)],
  );
}

function checkRule(rule: JsonObject, peers: string, known: readonly string[], path: string): FieldError[] {
  return [
    ...recordsOf(rule.ports).flatMap((port, i) => checkRulePort(port, `${path}.ports[${i}]`)),
    ...recordsOf(rule[peers]).flatMap((peer, i) => checkPeer(peer, known, `${path}.${peers}[${i}]`)),
  ];
}

function checkRulePort({ protocol, port, endPort }: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const known = ['TCP', 'UDP', 'SCTP'];
  if (!known.includes(textOf(protocol))) errors.push(notSupported(`${path}.protocol`, protocol, known));
  if (port !== undefined) append(errors, checkPortOrName(port, `${path}.port`));
  if (endPort === undefined) return errors;
  const at = `${path}.endPort`;
  if (port === undefined) errors.push(invalid(at, endPort, 'may not be specified when `port` is not specified'));
  else if (typeof port === 'string') {
    errors.push(invalid(at, endPort, 'may not be specified when `port` is non-numeric'));
  } else {
    if (numberOf(endPort) < numberOf(port)) errors.push(invalid(at, port, 'must be greater than or equal to `port`'));
    append(errors, checkPort(endPort, at));
  }
  return errors;
}

function checkPeer(peer: JsonObject, known: readonly string[], path: string): FieldError[] {
  const { podSelector, namespaceSelector, ipBlock } = peer;
  const given = [podSelector, namespaceSelector, ipBlock].filter((part) => part !== undefined);
  const errors = [
    ...checkLabelSelector(podSelector, `${path}.podSelector`),
    ...checkLabelSelector(namespaceSelector, `${path}.namespaceSelector`),
    ...(ipBlock === undefined ? [] : checkBlock(recordOf(ipBlock), known, `${path}.ipBlock`)),
  ];
  if (given.length === 0) errors.push(required(path, 'must specify a peer'));
  else if (given.length > 1 && ipBlock !== undefined) {
    errors.push(forbidden(path, 'may not specify both ipBlock and another peer'));
  }
  return errors;
}

function checkBlock(block: JsonObject, known: readonly string[], path: string): FieldError[] {
  const cidr = textOf(block.cidr);
  if (cidr === '') return [required(`${path}.cidr`)];
  const errors = checkCidr(cidr, `${path}.cidr`, known);
  const whole = parseCidr(cidr);
  if (whole === undefined) return errors;
  for (const [i, except] of stringsOf(block.except).entries()) {
    const at = `${path}.except[${i}]`;
    append(errors, checkCidr(except, at, known));
    const part = parseCidr(except);
    if (part !== undefined && (!contains(whole, part.ip) || whole.prefix >= part.prefix)) {
      errors.push(invalid(at, except, 'must be a strict subset of `cidr`'));
    }
  }
  return errors;
}

/** All blocks of addresses: where each stands, its network and what is left out of it. */
function blocksOf(spec: JsonObject): { readonly path: string; readonly cidrs: readonly string[] }[] {
  return directions.flatMap(({ rules, peers }) =>
    recordsOf(spec[rules]).flatMap((rule, i) =>
      recordsOf(rule[peers]).flatMap(({ ipBlock }, j) => {
        if (ipBlock === undefined) return [];
        const { cidr, except } = recordOf(ipBlock);
        return [{ path: `spec.${rules}[${i}].${peers}[${j}].ipBlock`, cidrs: [textOf(cidr), ...stringsOf(except)] }];
      }),
    ),
  );
}
