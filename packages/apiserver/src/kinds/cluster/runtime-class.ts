import { recordOf, recordsOf, textOf } from '../../resource/metadata.js';
import { dnsLabel } from '../../schema/name-rules.js';
import { checkImmutable, checkLabels } from '../../schema/object-meta.js';
import { duplicate, type FieldError, required } from '../../status/field-error.js';
import { checkText } from '../checks/basic-checks.js';
import type { KindRules } from '../kind-rules.js';
import { checkContainerResources } from '../pods/checks/resource-checks.js';
import { checkTolerations } from '../pods/checks/scheduling-checks.js';

export const runtimeClassRules: KindRules = {
  validate(object, before) {
    if (before !== undefined) return [];
    const handler = textOf(object.handler);
    const { nodeSelector, tolerations } = recordOf(object.scheduling);
    const limits = recordOf(object.overhead).podFixed;
    return [
      ...(handler === '' ? [required('handler')] : checkText(dnsLabel, handler, 'handler')),
      ...checkContainerResources(limits === undefined ? {} : { limits }, new Set(), 'overhead'),
      ...checkLabels(recordOf(nodeSelector), 'scheduling.nodeSelector'),
      ...checkTolerations(tolerations, 'scheduling.tolerations'),
      ...checkUnique(recordsOf(tolerations)),
    ];
  },
  validateUpdate: (object, before) => checkImmutable(textOf(object.handler), textOf(before.handler), 'handler'),
};

function checkUnique(tolerations: ReturnType<typeof recordsOf>): FieldError[] {
  const ids = tolerations.map(({ key, operator, value, effect }) => JSON.stringify([key, operator, value, effect]));
  return tolerations.flatMap(({ key, operator, value, effect, tolerationSeconds }, i) => {
    if (ids.indexOf(ids[i] as string) === i) return [];
    // As Go prints what has no names for JSON.
    const shown = {
      Key: textOf(key),
      Operator: textOf(operator),
      Value: textOf(value),
      Effect: textOf(effect),
      TolerationSeconds: tolerationSeconds ?? null,
    };
    return [duplicate(`scheduling.tolerations[${i}]`, shown)];
  });
}
