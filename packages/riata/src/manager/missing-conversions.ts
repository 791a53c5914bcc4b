import type { ControllerDefinition } from '../controller/define/controller-definition.js';
import type { KindRef } from '../object/kind.js';
import type { ObjectConverter } from '../object/version/object-converter.js';
import type { Logger } from '../runtime/log/logger.js';

/** The part of a manager that is needed here. */
interface Extensible {
  extension<T>(key: symbol, make: () => T): T;
}

const extension: unique symbol = Symbol('riata.conversions');

/** The names of the CustomResourceDefinitions that this manager converts objects of. */
export function servedConversions(manager: Extensible): Set<string> {
  return manager.extension(extension, () => new Set<string>());
}

/**
 * Warns of kinds with versions that a controller uses and this manager does not convert. It is no error: another process
 * may, and objects that are stored in the version asked for are read without.
 */
export function warnMissingConversions(
  manager: Extensible,
  definitions: Iterable<ControllerDefinition>,
  log: Logger,
): void {
  const served = servedConversions(manager);
  const warned = new Set<string>();
  for (const { name: controller, kind, watches, reads } of definitions) {
    const watched = watches.flatMap((watch) => (watch.through === 'source' ? [] : [watch.kind]));
    for (const used of [kind, ...watched, ...reads]) {
      const versions = versionsOf(used);
      const crd = `${used.plural}.${used.group}`;
      if (versions.length < 2 || served.has(crd) || warned.has(crd)) continue;
      warned.add(crd);
      log.warn('no conversion webhook for a kind with several versions', {
        ...{ controller, kind: used.kind, versions },
        hint: `add conversion(${used.kind}) of riata/webhook to what is run, unless another process does; without it, objects stored in another version cannot be read`,
      });
    }
  }
}

function versionsOf(kind: KindRef): readonly string[] {
  const { converter } = kind as { readonly converter?: ObjectConverter };
  return (converter?.apiVersions ?? []).map((apiVersion) => apiVersion.slice(apiVersion.indexOf('/') + 1));
}
