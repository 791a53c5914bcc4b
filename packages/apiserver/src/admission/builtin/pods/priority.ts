import type { Json, JsonObject } from 'riata/object';
import { metaOf, numberOf, recordOf, textOf } from '../../../resource/metadata.js';
import type { Storage } from '../../../storage/storage.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../../admission.js';
import { findObject, forbiddenRequest, objectsOf, synchronousPlugin } from '../synchronous-plugin.js';

const classes = 'scheduling.k8s.io/priorityclasses';

/** Sets the priority of Pods by their class, and allows one default class only (`Priority`). */
export function priority({ storage }: { readonly storage: Storage }): AdmissionPlugin {
  return synchronousPlugin({
    name: 'Priority',
    handles: ({ operation, resource: { table }, subresource }) =>
      (table === '/pods' || table === classes) &&
      subresource === '' &&
      (operation === 'CREATE' || operation === 'UPDATE'),
    change(object, attributes) {
      if (attributes.resource.table !== '/pods') return object;
      const spec = recordOf(object.spec);
      const made =
        attributes.operation === 'CREATE'
          ? withPriority(spec, attributes, storage)
          : keepPriority(spec, recordOf(attributes.oldObject?.spec));
      return made === spec ? object : { ...object, spec: made };
    },
    check(object, attributes) {
      if (attributes.resource.table !== classes || object.globalDefault !== true) return;
      const other = globalDefault(storage);
      const name = textOf(metaOf(other ?? {}).name);
      if (other === undefined || (attributes.operation === 'UPDATE' && name === metaOf(object).name)) return;
      const why = `PriorityClass ${name} is already marked as default. Only one default can exist`;
      throw forbiddenRequest(attributes, why);
    },
  });
}

function withPriority(spec: JsonObject, attributes: AdmissionAttributes, storage: Storage): JsonObject {
  const asked = textOf(spec.priorityClassName);
  const found = asked === '' ? globalDefault(storage) : findObject(storage, classes, asked);
  if (asked !== '' && found === undefined) {
    throw forbiddenRequest(attributes, `no PriorityClass with name ${asked} was found`);
  }
  const { value, preemptionPolicy = 'PreemptLowerPriority' } = found ?? {};
  const computed = numberOf(value);
  const check = (given: Json | undefined, expected: Json, what: string) => {
    if (given === undefined || given === expected) return;
    const words = 'must not be provided in pod spec; priority admission controller computed';
    throw forbiddenRequest(attributes, `${what} (${given}) ${words} ${expected} from the given PriorityClass name`);
  };
  check(spec.priority, computed, 'the integer value of priority');
  check(spec.preemptionPolicy, preemptionPolicy, 'the string value of PreemptionPolicy');
  const named = found === undefined ? {} : { priorityClassName: textOf(metaOf(found).name) };
  return { ...spec, ...named, priority: computed, preemptionPolicy };
}

function globalDefault(storage: Storage): JsonObject | undefined {
  const all = objectsOf(storage, classes).map((one) => one as unknown as JsonObject);
  return all.filter((one) => one.globalDefault === true).sort((a, b) => numberOf(a.value) - numberOf(b.value))[0];
}

/** An update that doesn't mention the priority leaves it as it is. */
function keepPriority(spec: JsonObject, before: JsonObject): JsonObject {
  const kept = ['priority', 'preemptionPolicy'].filter(
    (field) => spec[field] === undefined && before[field] !== undefined,
  );
  if (kept.length === 0) return spec;
  return { ...spec, ...Object.fromEntries(kept.map((field) => [field, before[field] as Json])) };
}
