import { assertKind } from '../../controller/define/assert-kind.js';
import type { KindOf, KindRef } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import { type AdmittedResource, namesOf } from './admission-entry.js';
import { type AdmitOptions, checkAdmitOptions } from './admission-options.js';
import { AdmissionRules, type AdmissionStart } from './admission-rules.js';
import { schemaHandlers } from './schema-handlers.js';

/** Resources by name, for kinds that are not known when the program is written; `*` stands for all. */
export interface ResourceMatch {
  /** API groups; `''` is the core group. @default ['*'] */
  readonly groups?: readonly string[];
  /** @default ['*'] */
  readonly versions?: readonly string[];
  /** In the plural and in lower case, as in URLs. Handlers name subresources by themselves. @default ['*'] */
  readonly resources?: readonly string[];
}

const resourceMatchNames = optionNames<ResourceMatch>({ groups: true, versions: true, resources: true });

/** An object of a kind that is not known when the program is written. */
export type AnyObject = KubeObject & { readonly [field: string]: unknown };

/** The type of `admit`. */
export interface Admit {
  /**
   * Begins admission webhooks for a kind, or for several of them (`NewWebhookManagedBy(mgr).For()`): add handlers to it
   * with `mutates` and `validates`, then have a manager run it.
   *
   * @example
   * export const siteRules = admit(Site)
   *   .mutates((site) => { site.spec.zone ??= 'a'; })
   *   .validates(({ object, old, deny, path }) => {
   *     if (old && old.spec.zone !== object.spec.zone) deny(path.spec.zone, 'is immutable');
   *   });
   * await run(sites, siteRules);
   */
  <R extends KubeObject>(kind: KindRef<R>, options: AdmitOptions & { readonly schema: true }): AdmissionRules<R>;
  <R extends KubeObject>(kind: KindRef<R>, options?: AdmitOptions): AdmissionStart<R>;
  <const K extends readonly KindRef[]>(kinds: K, options?: AdmitOptions): AdmissionStart<KindOf<K[number]>>;
  /**
   * Begins admission webhooks for resources by name, `*` for all. A webhook for everything is called for every write, of
   * Leases and Events as well, and with the default `failurePolicy` a cluster without it accepts none: give it a selector.
   *
   * @example
   * admit.any({ groups: ['apps'], resources: ['*'] }, { name: 'owners', failurePolicy: 'ignore' })
   *   .validates(({ object, deny }) => {
   *     if (object.metadata.labels?.owner === undefined) deny('metadata.labels[owner]', '', { reason: 'required' });
   *   });
   */
  any(match: ResourceMatch, options?: AdmitOptions): AdmissionStart<AnyObject>;
}

function admitKinds(kinds: KindRef | readonly KindRef[], options: AdmitOptions = {}): AdmissionRules<never> {
  const list: readonly KindRef[] = Array.isArray(kinds) ? kinds : [kinds];
  if (list.length === 0) throw new TypeError('admit: expects at least one kind');
  for (const kind of list) assertKind('admit', kind);
  const names = list.map(({ kind }) => kind).join(', ');
  const shown = `admit(${list.length === 1 ? names : `[${names}]`})`;
  checkAdmitOptions(shown, options);
  const { name, schema = false, ...rules } = options;
  const { reinvocationPolicy, ...shared } = rules;
  return new AdmissionRules({
    ...{ shown, names: namesOf(list, name), rules, reads: [], resources: list },
    handlers: schema ? list.flatMap((kind) => schemaHandlers(shown, kind, rules, shared)) : [],
  });
}

function admitAny(match: ResourceMatch, options: AdmitOptions = {}): AdmissionRules<AnyObject> {
  const shown = 'admit.any';
  refuseUnknownOptions(shown, match, resourceMatchNames);
  checkAdmitOptions(shown, options);
  const { groups = ['*'], versions = ['*'], resources = ['*'] } = match;
  const { name = 'any', schema = false, ...rules } = options;
  if (schema)
    throw new TypeError(`${shown}: schema requires a kind from defineKind; use admit(Kind, { schema: true })`);
  const all = groups.flatMap((group) =>
    versions.flatMap((version) => resources.map((plural): AdmittedResource => ({ group, version, plural }))),
  );
  if (all.length === 0) throw new TypeError(`${shown}: expects at least one group, version and resource`);
  const names = { name, domain: 'riata.dev', pathName: name };
  return new AdmissionRules<AnyObject>({ shown, names, rules, reads: [], resources: all, handlers: [] });
}

/** Begins the definition of admission webhooks; see {@link Admit}. */
export const admit: Admit = Object.assign(admitKinds as unknown as Admit, { any: admitAny });
