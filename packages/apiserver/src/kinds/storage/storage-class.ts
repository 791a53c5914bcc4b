import { equal, type JsonObject } from 'riata/object';
import { recordOf, recordsOf, stringsOf, textOf } from '../../resource/metadata.js';
import { byteLength, qualifiedName } from '../../schema/name-rules.js';
import { checkImmutable } from '../../schema/object-meta.js';
import { duplicate, type FieldError, invalid, required, tooLong } from '../../status/field-error.js';
import { checkEnum, checkText } from '../checks/basic-checks.js';
import type { KindRules } from '../kind-rules.js';

const max = { parameters: 512, parameterBytes: 256 * 1024 } as const;

export const storageClassRules: KindRules = {
  defaults: { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' },
  validate(object) {
    const provisioner = textOf(object.provisioner);
    return [
      ...(provisioner === '' ? [required('provisioner')] : []),
      ...(provisioner === '' ? [] : checkText(qualifiedName, provisioner.toLowerCase(), 'provisioner')),
      ...checkParameters(recordOf(object.parameters), 'parameters'),
      ...(textOf(object.reclaimPolicy) === ''
        ? []
        : checkEnum(object.reclaimPolicy, ['Delete', 'Retain'], 'reclaimPolicy')),
      ...checkEnum(object.volumeBindingMode, ['Immediate', 'WaitForFirstConsumer'], 'volumeBindingMode'),
      ...checkTopologies(recordsOf(object.allowedTopologies), 'allowedTopologies'),
    ];
  },
  validateUpdate: (object, before) =>
    ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'].flatMap((field) =>
      checkImmutable(object[field] ?? null, before[field] ?? null, field),
    ),
};

function checkParameters(parameters: JsonObject, path: string): FieldError[] {
  const entries = Object.entries(parameters);
  if (entries.length > max.parameters) return [tooLong(path, max.parameters)];
  const size = entries.reduce((sum, [key, value]) => sum + byteLength(key) + byteLength(textOf(value)), 0);
  return [
    ...entries.filter(([key]) => key === '').map(([key]) => invalid(path, key, 'field can not be empty.')),
    ...(size > max.parameterBytes ? [tooLong(path, max.parameterBytes)] : []),
  ];
}

function checkTopologies(terms: readonly JsonObject[], path: string): FieldError[] {
  const known: unknown[] = [];
  return terms.flatMap((term, i) => {
    const at = `${path}[${i}].matchLabelExpressions`;
    const expressions = recordsOf(term.matchLabelExpressions);
    const keys = expressions.map(({ key }) => textOf(key));
    const expected = Object.fromEntries(expressions.map((one) => [textOf(one.key), [...stringsOf(one.values)].sort()]));
    // A term that asks for nothing is taken for a repeated one, wherever it stands.
    const isKnown = expressions.length === 0 || known.some((other) => equal(other, expected));
    known.push(expected);
    return [
      ...expressions.flatMap((one, j) => [
        ...checkExpression(one, `${at}[${j}]`),
        ...(keys.indexOf(keys[j] as string) < j ? [duplicate(`${at}[${j}].key`, keys[j])] : []),
      ]),
      ...(isKnown ? [duplicate(at, '')] : []),
    ];
  });
}

function checkExpression(one: JsonObject, path: string): FieldError[] {
  const values = stringsOf(one.values);
  return [
    ...(values.length === 0 ? [required(`${path}.values`)] : []),
    ...values.flatMap((value, i) => (values.indexOf(value) < i ? [duplicate(`${path}.values[${i}]`, value)] : [])),
    ...checkText(qualifiedName, textOf(one.key), `${path}.key`),
  ];
}
