import { metaOf, textOf } from '../../resource/metadata.js';
import { Refusal } from '../../status/refusal.js';
import type { AdmissionAttributes } from '../admission.js';

const codes: Readonly<Record<string, number>> = {
  Forbidden: 403,
  Unauthorized: 401,
  RequestEntityTooLarge: 413,
  Invalid: 422,
};

/** The response to a request that a ValidatingAdmissionPolicy denies: "forbidden", whatever the reason. */
export function policyDenial(attributes: AdmissionAttributes, message: string, reason: string): Refusal {
  const { group, plural } = attributes.resource;
  const name = nameOf(attributes);
  const named = group === '' ? plural : `${plural}.${group}`;
  const details = { name, ...(group === '' ? {} : { group }), kind: plural, causes: [{ message }] };
  return new Refusal(codes[reason] ?? 422, reason, `${named} "${name}" is forbidden: ${message}`, details);
}

/** The name of an object in messages, which may have only `generateName`. */
export function nameOf({ name, object }: AdmissionAttributes): string {
  if (name !== '') return name;
  const meta = object === undefined ? {} : metaOf(object);
  return textOf(meta.name) || textOf(meta.generateName) || 'Unknown';
}
