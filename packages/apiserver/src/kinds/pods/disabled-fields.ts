import type { Json, JsonObject } from 'riata/object';
import { recordOf, recordsOf } from '../../resource/metadata.js';

/** The spec of a Pod without what belongs to features that are off (`dropDisabledFields`). */
export function withoutDisabled(spec: JsonObject): JsonObject {
  const made: Record<string, Json | undefined> = { ...spec };
  delete made.schedulingGroup;
  for (const list of ['containers', 'initContainers', 'ephemeralContainers']) {
    if (recordsOf(spec[list]).some(hasSignal)) made[list] = recordsOf(spec[list]).map(withoutSignal);
  }
  if (recordsOf(spec.volumes).some(hasCertificates)) made.volumes = recordsOf(spec.volumes).map(withoutCertificates);
  const isSame =
    Object.keys(made).length === Object.keys(spec).length && Object.keys(made).every((f) => made[f] === spec[f]);
  return isSame ? spec : (made as JsonObject);
}

/** The same for the template of an object, `path` being where it stands, e.g. `['spec', 'template']`. */
export function withoutDisabledIn(object: JsonObject, [first = 'spec', ...rest]: readonly string[]): JsonObject {
  const below = recordOf(object[first]);
  const made = rest.length === 0 ? withSpec(below) : withoutDisabledIn(below, rest);
  return made === below || object[first] === undefined ? object : { ...object, [first]: made };
}

function withSpec(template: JsonObject): JsonObject {
  const spec = recordOf(template.spec);
  const made = withoutDisabled(spec);
  return made === spec ? template : { ...template, spec: made };
}

function hasSignal({ lifecycle }: JsonObject): boolean {
  return recordOf(lifecycle).stopSignal !== undefined;
}

function withoutSignal(container: JsonObject): JsonObject {
  if (!hasSignal(container)) return container;
  const { stopSignal: _, ...lifecycle } = recordOf(container.lifecycle);
  const { lifecycle: __, ...rest } = container;
  return Object.keys(lifecycle).length === 0 ? rest : { ...rest, lifecycle };
}

function hasCertificates({ projected }: JsonObject): boolean {
  return recordsOf(recordOf(projected).sources).some((s) => s.clusterTrustBundle ?? s.podCertificate);
}

function withoutCertificates(volume: JsonObject): JsonObject {
  if (!hasCertificates(volume)) return volume;
  const projected = recordOf(volume.projected);
  const sources = recordsOf(projected.sources).map(({ clusterTrustBundle: _, podCertificate: __, ...rest }) => rest);
  return { ...volume, projected: { ...projected, sources } };
}
