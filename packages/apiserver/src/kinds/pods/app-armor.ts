import { equal, type Json, type JsonObject } from 'riata/object';
import { metaOf, recordOf, recordsOf, textOf } from '../../resource/metadata.js';
import { type FieldError, forbidden } from '../../status/field-error.js';

/** Begins the annotations that say what the field `appArmorProfile` of a container says nowadays. */
export const appArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/';

const local = 'localhost/';
const lists = ['initContainers', 'containers', 'ephemeralContainers'];

/** Annotations of a new Pod become fields, where these are missing; writers of annotations get a warning. */
export function withAppArmor(pod: JsonObject, warn: (text: string) => void): JsonObject {
  const spec = recordOf(pod.spec);
  const annotations = recordOf(metaOf(pod).annotations);
  if (isWindows(spec) || !Object.keys(annotations).some((key) => key.startsWith(appArmorPrefix))) return pod;
  const { appArmorProfile: ofPod } = recordOf(spec.securityContext);
  const made: Record<string, Json | undefined> = { ...spec };
  for (const list of lists) {
    if (spec[list] === undefined) continue;
    made[list] = recordsOf(spec[list]).map((container) => {
      const key = appArmorPrefix + textOf(container.name);
      const securityContext = recordOf(container.securityContext);
      if (annotations[key] === undefined || securityContext.appArmorProfile !== undefined) return container;
      const appArmorProfile = profileOf(textOf(annotations[key]));
      if (appArmorProfile !== undefined && equal(appArmorProfile, ofPod ?? null)) return container;
      warn(oldAppArmor(key));
      return appArmorProfile === undefined
        ? container
        : { ...container, securityContext: { ...securityContext, appArmorProfile } };
    });
  }
  return { ...pod, spec: made as JsonObject };
}

/** Warnings for the writer of a template, whose annotations stay. */
export function appArmorWarnings(template: JsonObject, at: string): string[] {
  const spec = recordOf(template.spec);
  const annotations = recordOf(metaOf(template).annotations);
  const { appArmorProfile: ofPod } = recordOf(spec.securityContext);
  return ['initContainers', 'containers'].flatMap((list) =>
    recordsOf(spec[list]).flatMap(({ name, securityContext }) => {
      const key = appArmorPrefix + textOf(name);
      if (annotations[key] === undefined || recordOf(securityContext).appArmorProfile !== undefined) return [];
      const said = profileOf(textOf(annotations[key]));
      return ofPod !== undefined && said !== undefined && equal(ofPod, said) ? [] : [`${at}${oldAppArmor(key)}`];
    }),
  );
}

/** Where annotations and fields say different things. */
export function checkAppArmorFields(annotations: JsonObject, spec: JsonObject, path: string): FieldError[] {
  if (isWindows(spec)) return [];
  const { appArmorProfile: ofPod } = recordOf(spec.securityContext);
  return lists.flatMap((list) =>
    recordsOf(spec[list]).flatMap(({ name, securityContext }, i) => {
      const annotation = annotations[appArmorPrefix + textOf(name)];
      const profile = recordOf(securityContext).appArmorProfile ?? ofPod;
      if (annotation === undefined || profile === undefined) return [];
      return mismatch(textOf(annotation), recordOf(profile), `${path}.${list}[${i}].securityContext.appArmorProfile`);
    }),
  );
}

function mismatch(annotation: string, profile: JsonObject, path: string): FieldError[] {
  const type = forbidden(`${path}.type`, 'apparmor type in annotation and field must match');
  switch (profile.type) {
    case 'Unconfined':
      return annotation === 'unconfined' ? [] : [type];
    case 'RuntimeDefault':
      return annotation === 'runtime/default' ? [] : [type];
    case 'Localhost':
      if (!annotation.startsWith(local)) return [type];
      return annotation === `${local}${profile.localhostProfile}`
        ? []
        : [forbidden(`${path}.localhostProfile`, 'apparmor profile in annotation and field must match')];
    default:
      return [];
  }
}

/** The meaning of an annotation; undefined if there is no field for it. */
function profileOf(annotation: string): JsonObject | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' };
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' };
  const localhostProfile = annotation.startsWith(local) ? annotation.slice(local.length) : '';
  const isName = localhostProfile.trim() === localhostProfile && localhostProfile !== '';
  return isName ? { type: 'Localhost', localhostProfile } : undefined;
}

function oldAppArmor(key: string): string {
  return `metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`;
}

function isWindows(spec: JsonObject): boolean {
  return recordOf(spec.os).name === 'windows';
}
