import { isGiven, metaOf, recordOf, recordsOf, textOf } from '../../resource/metadata.js';
import type { KindRules } from '../kind-rules.js';

const annotation = 'kubernetes.io/enforce-mountable-secrets';

export const serviceAccountRules: KindRules = {
  /** Secrets are known by their names alone. */
  prepare(object) {
    const secrets = recordsOf(object.secrets);
    if (secrets.every((secret) => Object.keys(secret).every((field) => field === 'name'))) return object;
    return { ...object, secrets: secrets.map(({ name }) => (textOf(name) === '' ? {} : { name: textOf(name) })) };
  },
  warnings(object, before) {
    const isSet = (of: typeof object | undefined) =>
      of !== undefined && isGiven(recordOf(metaOf(of).annotations)[annotation]);
    if (!isSet(object) || isSet(before)) return [];
    return [
      `metadata.annotations[${annotation}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`,
    ];
  },
};
