import type { GroupVersionKind, JsonObject } from 'riata/object';
import type { UserInfo } from '../authentication/user-info.js';
import type { Resource } from '../resource/resource.js';
import type { Steps } from '../steps.js';
import type { StorageEvent } from '../storage/storage.js';
import type { Reinvocation } from './reinvocation.js';

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** A request as admission control sees it (`admission.Attributes`). */
export interface AdmissionAttributes {
  readonly operation: AdmissionOperation;
  /** As requested: of a subresource, the resource that it belongs to. */
  readonly resource: Resource;
  /** What `object` and `oldObject` are: a `Scale` for a scale, the kind of the resource for most others. */
  readonly kind: GroupVersionKind;
  /** `''`: the object itself. */
  readonly subresource: string;
  /** `''` for cluster-scoped objects, but a Namespace is in the namespace of its own name. */
  readonly namespace: string;
  /** `''` for a new object whose name is yet to be generated, and for each object of a deleted collection. */
  readonly name: string;
  /** In the requested version. Undefined on DELETE; on CONNECT the options of the connection. */
  readonly object: JsonObject | undefined;
  /** As stored, in the requested version; undefined on CREATE and CONNECT. */
  readonly oldObject: JsonObject | undefined;
  /** CreateOptions, UpdateOptions or DeleteOptions, with `kind` and `apiVersion`; a patch has those of what it does. */
  readonly options: JsonObject;
  readonly dryRun: boolean;
  readonly user: UserInfo;
  /** Sends the caller a warning. */
  warn(text: string): void;
  /** Adds an annotation to the audit event of the request, if its level is at least this. @default any level */
  annotate(key: string, value: string, level?: 'Request'): void;
  /** Lets plugins run a second time, for the mutating phase. @default nobody can ask for it */
  readonly reinvocation?: Reinvocation | undefined;
}

/** One admission plugin of upstream, by upstream's name. */
export interface AdmissionPlugin {
  readonly name: string;
  /**
   * Whether it does anything about a request; asked before each phase, so that a request costs nothing that it has no
   * interest in. @default every request
   */
  handles?(attributes: AdmissionAttributes): boolean;
  /**
   * Whether it is going to need the object with its `metadata.managedFields`. They are costly, and otherwise written once
   * the object is known to be valid, and not at all for what is not stored. @default never
   */
  needsManagedFields?(attributes: AdmissionAttributes): boolean;
  /** Gives back the object, changed or the same reference. On DELETE the result is ignored. Throws a `Refusal`. */
  admit?(attributes: AdmissionAttributes): Steps<JsonObject | undefined>;
  /** Looks at the object as it is about to be stored. Throws a `Refusal`. */
  validate?(attributes: AdmissionAttributes): Steps<void>;
  /**
   * Called right before an object is stored that passed both phases, in one turn with that: nobody else writes in
   * between. Not for dry runs and deletions. Throws a `Refusal`.
   */
  commit?(attributes: AdmissionAttributes): void;
  /** Hears of every write, as part of it. */
  observe?(table: string, event: StorageEvent): void;
}

/** Which admission plugins run. */
export interface AdmissionOptions {
  /** Plugins to run beside those that are on by default (`--enable-admission-plugins`). @default none */
  readonly enable?: readonly string[];
  /** Plugins that are on by default and do not run (`--disable-admission-plugins`). @default none */
  readonly disable?: readonly string[];
}
