import type { JsonObject } from 'riata/object';
import { isGiven, recordOf, textOf } from '../../../resource/metadata.js';
import { goQuote } from '../../../status/go-quote.js';
import {
  type CheckedPod,
  containers,
  containersOf,
  containersWhere,
  contextOf,
  isWindows,
  plural,
  quoted,
  type SecurityCheck,
  setters,
  unique,
  type Violation,
} from './security-check.js';

const reason = 'seccompProfile';
const podAnnotation = 'seccomp.security.alpha.kubernetes.io/pod';
const containerAnnotation = 'container.seccomp.security.alpha.kubernetes.io/';

/** The rules about seccomp profiles of both levels. */
export const seccompChecks: readonly SecurityCheck[] = [
  {
    id: 'seccompProfile_baseline',
    level: 'baseline',
    versions: [
      { minor: 0, check: checkAnnotations },
      { minor: 19, check: checkSetProfiles },
    ],
  },
  {
    id: 'seccompProfile_restricted',
    level: 'restricted',
    versions: [
      { minor: 19, check: checkAllProfiles, overrides: 'seccompProfile_baseline' },
      {
        minor: 25,
        check: (pod) => (isWindows(pod) ? undefined : checkAllProfiles(pod)),
        overrides: 'seccompProfile_baseline',
      },
    ],
  },
];

function checkAnnotations(pod: CheckedPod): Violation | undefined {
  const keys = [podAnnotation, ...containersOf(pod).map(({ name }) => `${containerAnnotation}${textOf(name)}`)];
  const bad = unique(
    keys.flatMap((key) => {
      const value = pod.annotations[key];
      if (value === undefined) return [];
      const text = textOf(value);
      const isAllowed = text === 'runtime/default' || text === 'docker/default' || text.startsWith('localhost/');
      return isAllowed ? [] : [`${key}=${goQuote(text)}`];
    }),
  );
  if (bad.length === 0) return undefined;
  return { reason, detail: `forbidden ${plural('annotation', 'annotations', bad.length)} ${bad.join(', ')}` };
}

const typeOf = (owner: JsonObject) => textOf(recordOf(contextOf(owner).seccompProfile).type);
const isSet = (owner: JsonObject) => isGiven(contextOf(owner).seccompProfile);
const isBad = (owner: JsonObject) => isSet(owner) && !['Localhost', 'RuntimeDefault'].includes(typeOf(owner));

function checkSetProfiles(pod: CheckedPod): Violation | undefined {
  const bad = [pod.spec, ...containersOf(pod)].filter(isBad);
  if (bad.length === 0) return undefined;
  const who = setters(isBad(pod.spec), containersWhere(pod, isBad));
  const values = quoted(unique(bad.map(typeOf)));
  return { reason, detail: `${who} must not set securityContext.seccompProfile.type to ${values}` };
}

function checkAllProfiles(pod: CheckedPod): Violation | undefined {
  const wrong = checkSetProfiles(pod);
  if (wrong !== undefined || (isSet(pod.spec) && !isBad(pod.spec))) return wrong;
  const missing = containersWhere(pod, (container) => !isSet(container));
  if (missing.length === 0) return undefined;
  const detail = `pod or ${containers(missing)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`;
  return { reason, detail };
}
