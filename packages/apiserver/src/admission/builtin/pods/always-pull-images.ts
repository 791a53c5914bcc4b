import type { JsonObject } from 'riata/object';
import { isGiven, recordOf, recordsOf, textOf } from '../../../resource/metadata.js';
import { type FieldError, formatFieldError, notSupported } from '../../../status/field-error.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../../admission.js';
import { forbiddenRequest, synchronousPlugin } from '../synchronous-plugin.js';

const lists = ['initContainers', 'containers', 'ephemeralContainers'];
const always = 'Always';

/** Sets `imagePullPolicy: Always`, so that Pods use only images that they can pull (`AlwaysPullImages`). */
export function alwaysPullImages(): AdmissionPlugin {
  return synchronousPlugin({
    name: 'AlwaysPullImages',
    handles: (attributes) =>
      attributes.resource.table === '/pods' && attributes.subresource === '' && hasNewImages(attributes),
    change(pod) {
      const spec = recordOf(pod.spec);
      const made: Record<string, JsonObject[string]> = { ...spec };
      for (const list of lists) {
        if (spec[list] === undefined) continue;
        made[list] = recordsOf(spec[list]).map((container) => ({ ...container, imagePullPolicy: always }));
      }
      if (spec.volumes !== undefined) {
        made.volumes = recordsOf(spec.volumes).map((volume) =>
          isGiven(volume.image) ? { ...volume, image: { ...recordOf(volume.image), pullPolicy: always } } : volume,
        );
      }
      return { ...pod, spec: made };
    },
    check(pod, attributes) {
      const problems = problemsOf(recordOf(pod.spec)).map(formatFieldError);
      const [first] = problems;
      if (first !== undefined) throw forbiddenRequest(attributes, first);
    },
  });
}

/** Another plugin may have changed the policy after this one. */
function problemsOf(spec: JsonObject): FieldError[] {
  return [
    ...lists.flatMap((list) =>
      recordsOf(spec[list]).flatMap(({ imagePullPolicy }, index) =>
        imagePullPolicy === always
          ? []
          : [notSupported(`spec.${list}[${index}].imagePullPolicy`, textOf(imagePullPolicy), [always])],
      ),
    ),
    ...recordsOf(spec.volumes).flatMap(({ image }, index) => {
      const { pullPolicy } = recordOf(image);
      if (!isGiven(image) || pullPolicy === always) return [];
      return [notSupported(`spec.volumes[${index}].image.pullPolicy`, textOf(pullPolicy), [always])];
    }),
  ];
}

function hasNewImages({ operation, object = {}, oldObject = {} }: AdmissionAttributes): boolean {
  if (operation !== 'UPDATE') return operation === 'CREATE';
  const images = ({ spec }: JsonObject) =>
    lists.flatMap((list) => recordsOf(recordOf(spec)[list]).map(({ image }) => textOf(image)));
  const known = new Set(images(oldObject));
  return images(object).some((image) => !known.has(image));
}
