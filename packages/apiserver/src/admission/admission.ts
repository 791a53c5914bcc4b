import type { GroupVersionKind, JsonObject } from 'riata/object';
import type { UserInfo } from '../authentication/user-info.js';
import type { Resource } from '../resource/resource.js';
import type { Steps } from '../steps.js';
import type { StorageEvent } from '../storage/storage.js';
import type { Reinvocation } from './reinvocation.js';

/** What a request does, as admission control names it. */
export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** A request as admission control sees it (`admission.Attributes`). */
export interface AdmissionAttributes {
  readonly operation: AdmissionOperation;
  /** The requested resource; for a subresource, its parent. */
  readonly resource: Resource;
  /** The kind of `object` and `oldObject`: `Scale` for a scale, that of the resource for most others. */
  readonly kind: GroupVersionKind;
  /** `''` for the object itself. */
  readonly subresource: string;
  /** `''` for cluster-scoped objects, but a Namespace is in the namespace of its own name. */
  readonly namespace: string;
  /** `''` for a new object whose name is yet to be generated, and for each object of a deleted collection. */
  readonly name: string;
  /** In the requested version. Undefined on DELETE; on CONNECT the options of the connection. */
  readonly object: JsonObject | undefined;
  /** As stored, in the requested version; undefined on CREATE and CONNECT. */
  readonly oldObject: JsonObject | undefined;
  /** CreateOptions, UpdateOptions or DeleteOptions, with `kind` and `apiVersion`; a patch has those of its effect. */
  readonly options: JsonObject;
  readonly dryRun: boolean;
  readonly user: UserInfo;
  /** Sends the caller a warning. */
  warn(text: string): void;
  /** Adds an annotation to the audit event of the request, if its level is at least this. @default any level */
  annotate(key: string, value: string, level?: 'Request'): void;
  /** Requests a second run of the mutating phase. @default there is only one run */
  readonly reinvocation?: Reinvocation | undefined;
}

/** One admission plugin of upstream, by upstream's name. */
export interface AdmissionPlugin {
  readonly name: string;
  /**
   * Whether the plugin handles a request; called before each phase, so that other requests cost nothing.
   * @default every request
   */
  handles?(attributes: AdmissionAttributes): boolean;
  /**
   * Whether the plugin needs the object's `metadata.managedFields`. They are costly; without this they are computed
   * after validation, and only for objects that are stored.
   * @default never
   */
  needsManagedFields?(attributes: AdmissionAttributes): boolean;
  /** Returns the changed object, or the same reference. The result is ignored on DELETE. Throws a `Refusal`. */
  admit?(attributes: AdmissionAttributes): Steps<JsonObject | undefined>;
  /** Validates the object that is about to be stored. Throws a `Refusal`. */
  validate?(attributes: AdmissionAttributes): Steps<void>;
  /**
   * Called right before an admitted object is stored, in the same turn, so that no other write comes in between. Not
   * called for dry runs and deletions. Throws a `Refusal`.
   */
  commit?(attributes: AdmissionAttributes): void;
  /** Observes every write, synchronously. */
  observe?(table: string, event: StorageEvent): void;
}

/** Which admission plugins run. */
export interface AdmissionOptions {
  /** Plugins to run besides those that are on by default (`--enable-admission-plugins`). @default none */
  readonly enable?: readonly string[];
  /** Default plugins not to run (`--disable-admission-plugins`). @default none */
  readonly disable?: readonly string[];
}
