import type { Json, JsonObject } from 'riata/object';
import { metaOf, numberOf, recordOf, recordsOf, stringsOf, textOf } from '../../resource/metadata.js';
import { dnsLabel, dnsSubdomain } from '../../schema/name-rules.js';
import { type FieldError, forbidden, invalid, notSupported, required } from '../../status/field-error.js';
import { checkRange, checkText } from '../checks/basic-checks.js';
import { computed } from '../defaults-table.js';
import type { KindRules } from '../kind-rules.js';

/** Zero stands for the default: the fields are plain numbers upstream. */
const unlessZero = (usual: number) => computed((value) => (value === undefined || value === 0 ? usual : value));

export const flowSchemaRules: KindRules = {
  defaults: { 'spec.matchingPrecedence': unlessZero(1000) },
  validate: (object) => checkFlowSchema(textOf(metaOf(object).name), recordOf(object.spec)),
};

export const priorityLevelRules: KindRules = {
  defaults: {
    'spec.exempt.nominalConcurrencyShares': 0,
    'spec.exempt.lendablePercent': 0,
    'spec.limited.nominalConcurrencyShares': 30,
    'spec.limited.lendablePercent': 0,
    'spec.limited.limitResponse.queuing.handSize': unlessZero(8),
    'spec.limited.limitResponse.queuing.queues': unlessZero(64),
    'spec.limited.limitResponse.queuing.queueLengthLimit': unlessZero(50),
  },
  validate: (object) => checkLevel(textOf(metaOf(object).name), recordOf(object.spec)),
};

const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];

function checkFlowSchema(name: string, spec: JsonObject): FieldError[] {
  const path = 'spec.matchingPrecedence';
  const precedence = numberOf(spec.matchingPrecedence);
  const errors: FieldError[] = [];
  if (precedence <= 0) errors.push(invalid(path, precedence, 'must be a positive value'));
  if (precedence > 10_000) errors.push(invalid(path, precedence, 'must not be greater than 10000'));
  if (precedence === 1 && name !== 'exempt') {
    errors.push(invalid(path, precedence, "only the schema named 'exempt' may have matchingPrecedence 1"));
  }
  const { distinguisherMethod: method } = spec;
  const methods = ['ByNamespace', 'ByUser'];
  if (method !== undefined && !methods.includes(textOf(recordOf(method).type))) {
    errors.push(notSupported('spec.distinguisherMethod.type', { Type: textOf(recordOf(method).type) }, methods));
  }
  const level = textOf(recordOf(spec.priorityLevelConfiguration).name);
  const levelPath = 'spec.priorityLevelConfiguration.name';
  errors.push(
    ...(level === ''
      ? [required(levelPath, 'must reference a priority level')]
      : checkText(dnsSubdomain, level, levelPath)),
    ...recordsOf(spec.rules).flatMap((rule, index) => checkRule(rule, `spec.rules[${index}]`)),
  );
  return errors;
}

function checkRule({ subjects, resourceRules, nonResourceRules }: JsonObject, path: string): FieldError[] {
  const [named, resources, urls] = [recordsOf(subjects), recordsOf(resourceRules), recordsOf(nonResourceRules)];
  const none = 'at least one of resourceRules and nonResourceRules has to be non-empty';
  return [
    ...(named.length === 0 ? [required(`${path}.subjects`, 'subjects must contain at least one value')] : []),
    ...named.flatMap((subject, index) => checkSubject(subject, `${path}.subjects[${index}]`)),
    ...(resources.length + urls.length === 0 ? [required(path, none)] : []),
    ...resources.flatMap((rule, index) => checkResourceRule(rule, `${path}.resourceRules[${index}]`)),
    ...urls.flatMap((rule, index) => checkUrlRule(rule, `${path}.nonResourceRules[${index}]`)),
  ];
}

const subjectKinds: Readonly<Record<string, string>> = {
  Group: 'group',
  ServiceAccount: 'serviceAccount',
  User: 'user',
};

function checkSubject(subject: JsonObject, path: string): FieldError[] {
  const kind = textOf(subject.kind);
  const field = Object.hasOwn(subjectKinds, kind) ? subjectKinds[kind] : undefined;
  if (field === undefined) return [notSupported(`${path}.kind`, kind, Object.keys(subjectKinds))];
  // Upstream looks at the others in this order.
  const others = ['ServiceAccount', 'User', 'Group'].filter((other) => other !== kind);
  const own = subject[field];
  return [
    ...(own === undefined
      ? [required(`${path}.${field}`, `${field} is required when subject kind is '${kind}'`)]
      : checkNamed(kind, recordOf(own), `${path}.${field}`)),
    ...others.flatMap((other) => {
      const name = subjectKinds[other] ?? '';
      if (subject[name] === undefined) return [];
      return [forbidden(`${path}.${name}`, `${name} is forbidden when subject kind is not '${other}'`)];
    }),
  ];
}

function checkNamed(kind: string, { name, namespace }: JsonObject, path: string): FieldError[] {
  const text = textOf(name);
  const errors = text === '' ? [required(`${path}.name`)] : [];
  if (kind !== 'ServiceAccount') return errors;
  if (text !== '' && text !== '*') errors.push(...checkText(dnsSubdomain, text, `${path}.name`));
  const at = `${path}.namespace`;
  const place = textOf(namespace);
  errors.push(
    ...(place === '' ? [required(at, 'must specify namespace for service account')] : checkText(dnsLabel, place, at)),
  );
  return errors;
}

function checkResourceRule(rule: JsonObject, path: string): FieldError[] {
  const namespaces = stringsOf(rule.namespaces);
  const at = `${path}.namespaces`;
  const intro = "each member of this list must be '*' or a DNS-1123 label; ";
  const ofNamespaces =
    namespaces.length === 0 && rule.clusterScope !== true
      ? [required(at, 'resource rules that are not cluster scoped must supply at least one namespace')]
      : namespaces.includes('*')
        ? checkAlone(namespaces, at, 'namespaces')
        : namespaces.flatMap((name, index) =>
            dnsLabel(name).map((why) => invalid(`${at}[${index}]`, name, intro + why)),
          );
  const some = (field: string, words: string, detail: string) => {
    const list = stringsOf(rule[field]);
    if (list.length === 0) return [required(`${path}.${field}`, detail)];
    return list.includes('*') ? checkAlone(list, `${path}.${field}`, words) : [];
  };
  return [
    ...checkVerbs(rule, path),
    ...some('apiGroups', 'api groups', 'resource rules must supply at least one api group'),
    ...some('resources', 'resources', 'resource rules must supply at least one resource'),
    ...ofNamespaces,
  ];
}

function checkUrlRule(rule: JsonObject, path: string): FieldError[] {
  const urls = stringsOf(rule.nonResourceURLs);
  const at = `${path}.nonResourceURLs`;
  const ofUrls =
    urls.length === 0
      ? [required(at, 'nonResourceURLs must contain at least one value')]
      : urls.includes('*')
        ? checkAlone(urls, at, 'non-resource URLs')
        : urls.flatMap((url, index) => checkUrl(url, `${at}[${index}]`));
  return [...checkVerbs(rule, path), ...ofUrls];
}

function checkVerbs(rule: JsonObject, path: string): FieldError[] {
  const given = stringsOf(rule.verbs);
  const at = `${path}.verbs`;
  if (given.length === 0) return [required(at, 'verbs must contain at least one value')];
  if (given.includes('*')) return checkAlone(given, at, 'verbs');
  return given.every((verb) => verbs.includes(verb)) ? [] : [notSupported(at, given, verbs)];
}

function checkAlone(list: readonly string[], path: string, words: string): FieldError[] {
  return list.length > 1 ? [invalid(path, list, `if '*' is present, must not specify other ${words}`)] : [];
}

function checkUrl(url: string, path: string): FieldError[] {
  const stars = url.split('*').length - 1;
  if (url === '') return [invalid(path, url, 'must not be empty')];
  if (!url.startsWith('/')) return [invalid(path, url, 'must start with slash')];
  if (url.includes(' ')) return [invalid(path, url, 'must not contain white-space')];
  if (url.includes('//')) return [invalid(path, url, 'must not contain double slash')];
  const isSuffix = stars === 0 || (stars === 1 && url.endsWith('/*'));
  return isSuffix ? [] : [invalid(path, url, 'wildcard can only do suffix matching')];
}

function checkLevel(name: string, { type, limited, exempt }: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  if ((name === 'exempt') !== (type === 'Exempt')) {
    errors.push(invalid('spec.type', textOf(type), "must be 'Exempt' if and only if `name` is 'exempt'"));
  }
  if (type === 'Exempt') {
    if (limited !== undefined) errors.push(forbidden('spec.limited', 'must be nil if the type is not Limited'));
    return [...errors, ...checkSeats(recordOf(exempt), 'spec.exempt')];
  }
  if (type !== 'Limited') {
    const problem =
      textOf(type) === '' ? required('spec.type') : notSupported('spec.type', type, ['Exempt', 'Limited']);
    return [...errors, problem];
  }
  if (exempt !== undefined) errors.push(forbidden('spec.exempt', 'must be nil if the type is Limited'));
  if (limited === undefined) return [...errors, required('spec.limited', 'must not be empty when type is Limited')];
  return [...errors, ...checkLimited(recordOf(limited))];
}

function checkLimited(limited: JsonObject): FieldError[] {
  const borrowing = numberOf(limited.borrowingLimitPercent);
  const path = 'spec.limited.borrowingLimitPercent';
  const [shares, ...lendable] = checkSeatParts(limited, 'spec.limited');
  return [
    ...(shares ?? []),
    ...checkLimitResponse(recordOf(limited.limitResponse), 'spec.limited.limitResponse'),
    ...lendable.flat(),
    ...(borrowing < 0 ? [invalid(path, borrowing, 'if specified, must be a non-negative integer')] : []),
  ];
}

function checkSeats(seats: JsonObject, path: string): FieldError[] {
  return checkSeatParts(seats, path).flat();
}

function checkSeatParts(seats: JsonObject, path: string): readonly FieldError[][] {
  const shares = numberOf(seats.nominalConcurrencyShares);
  const at = `${path}.nominalConcurrencyShares`;
  return [
    shares < 0 ? [invalid(at, shares, 'must be a non-negative integer')] : [],
    checkRange(seats.lendablePercent as Json | undefined, 0, 100, `${path}.lendablePercent`),
  ];
}

function checkLimitResponse({ type, queuing }: JsonObject, path: string): FieldError[] {
  const at = `${path}.queuing`;
  if (type === 'Reject') {
    if (queuing === undefined) return [];
    return [forbidden(at, 'must be nil if limited.limitResponse.type is not Limited')];
  }
  if (type !== 'Queue') {
    if (textOf(type) === '') return [required(`${path}.type`)];
    return [notSupported(`${path}.type`, type, ['Queue', 'Reject'])];
  }
  if (queuing === undefined) return [required(at, 'must not be empty if limited.limitResponse.type is Limited')];
  return checkQueuing(recordOf(queuing), at);
}

const maxQueues = 10_000_000;
/** A flow is dealt its queues by a hash of so many bits. */
const maxHashBits = 60;

function checkQueuing(queuing: JsonObject, path: string): FieldError[] {
  const [queues, hand] = [numberOf(queuing.queues), numberOf(queuing.handSize)];
  const length = numberOf(queuing.queueLengthLimit);
  const errors: FieldError[] = [];
  if (length <= 0) errors.push(invalid(`${path}.queueLengthLimit`, length, 'must be positive'));
  if (queues <= 0) errors.push(invalid(`${path}.queues`, queues, 'must be positive'));
  else if (queues > maxQueues) {
    errors.push(invalid(`${path}.queues`, queues, `must not be greater than ${maxQueues}`));
  }
  const refuseHand = (why: string) => errors.push(invalid(`${path}.handSize`, hand, why));
  if (hand <= 0) refuseHand('must be positive');
  else if (hand > queues) refuseHand(`should not be greater than queues (${queues})`);
  else if (Math.ceil(Math.log2(queues) * hand) > maxHashBits) {
    const bits = `required entropy bits of deckSize ${queues} and handSize ${hand}`;
    refuseHand(`${bits} should not be greater than ${maxHashBits}`);
  }
  return errors;
}
