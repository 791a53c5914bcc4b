import type { JsonObject } from 'riata/object';
import { metaOf, recordOf, stringsOf, textOf, withMeta } from '../../resource/metadata.js';
import { dnsLabelName, qualifiedName } from '../../schema/name-rules.js';
import { type FieldError, invalid } from '../../status/field-error.js';
import { checkText } from '../checks/basic-checks.js';
import type { KindRules, PrepareContext } from '../kind-rules.js';

/** Lets selectors find a namespace by its name. */
const nameLabel = 'kubernetes.io/metadata.name';

const standardFinalizers = ['kubernetes', 'orphan', 'foregroundDeletion'];

export const namespaceRules: KindRules = {
  nameRule: dnsLabelName,
  defaults: (object) => withPhase(label(object)),
  prepare,
  validate: (object, before) => (before === undefined ? checkFinalizers(object, () => 'spec.finalizers') : []),
  validateUpdate: (object, _, subresource) =>
    subresource === 'finalize' ? checkFinalizers(object, (index) => `spec.finalizers[${index}]`) : [],
  validateStatus(object) {
    const phase = textOf(recordOf(object.status).phase);
    const isGoing = textOf(metaOf(object).deletionTimestamp) !== '';
    const expected = isGoing ? 'Terminating' : 'Active';
    if (phase === expected) return [];
    const when = isGoing ? 'is not empty' : 'is empty';
    return [invalid('status.Phase', phase, `may only be '${expected}' if \`deletionTimestamp\` ${when}`)];
  },
  whenDeleting: (object) => inPhase(withMeta(object, { deletionGracePeriodSeconds: undefined }), 'Terminating'),
};

function label(object: JsonObject): JsonObject {
  const { name, labels } = metaOf(object);
  const known = recordOf(labels);
  if (textOf(name) === '' || known[nameLabel] === name) return object;
  return withMeta(object, { labels: { ...known, [nameLabel]: name } });
}

function withPhase(object: JsonObject): JsonObject {
  return textOf(recordOf(object.status).phase) === '' ? inPhase(object, 'Active') : object;
}

/** Finalizers of the spec change by `finalize` alone, whatever else is written. */
function prepare(sent: JsonObject, before: JsonObject | undefined, { subresource }: PrepareContext): JsonObject {
  const object = label(sent);
  if (subresource === 'finalize') return object;
  if (before !== undefined) return before.spec === undefined ? object : { ...object, spec: before.spec };
  const spec = recordOf(object.spec);
  const finalizers = [...new Set([...stringsOf(spec.finalizers), 'kubernetes'])];
  return inPhase({ ...object, spec: { ...spec, finalizers } }, 'Active');
}

function checkFinalizers(object: JsonObject, pathOf: (index: number) => string): FieldError[] {
  return stringsOf(recordOf(object.spec).finalizers).flatMap((name, index) => {
    const errors = checkText(qualifiedName, name, pathOf(index));
    if (name.includes('/') || standardFinalizers.includes(name)) return errors;
    const detail = 'name is neither a standard finalizer name nor is it fully qualified';
    return [...errors, invalid(pathOf(index), name, detail)];
  });
}

function inPhase(object: JsonObject, phase: string): JsonObject {
  return { ...object, status: { ...recordOf(object.status), phase } };
}
