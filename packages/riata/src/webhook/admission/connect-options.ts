import type { TokenRequest } from '../../kinds/generated/types/authentication-v1.js';
import type { Scale } from '../../kinds/generated/types/autoscaling-v1.js';
import type { Binding } from '../../kinds/generated/types/core-v1.js';
import type { Eviction } from '../../kinds/generated/types/policy-v1.js';
import type { KubeObject, TypeMeta } from '../../object/meta.js';

/** The object of a connect to `pods/exec` (`core.PodExecOptions`). */
export interface PodExecOptions extends TypeMeta {
  readonly kind: 'PodExecOptions';
  readonly stdin?: boolean;
  readonly stdout?: boolean;
  readonly stderr?: boolean;
  readonly tty?: boolean;
  readonly container?: string;
  readonly command: readonly string[];
}

/** The object of a connect to `pods/attach` (`core.PodAttachOptions`). */
export interface PodAttachOptions extends TypeMeta {
  readonly kind: 'PodAttachOptions';
  readonly stdin?: boolean;
  readonly stdout?: boolean;
  readonly stderr?: boolean;
  readonly tty?: boolean;
  readonly container?: string;
}

/** The object of a connect to `pods/portforward` (`core.PodPortForwardOptions`). */
export interface PodPortForwardOptions extends TypeMeta {
  readonly kind: 'PodPortForwardOptions';
  readonly ports?: readonly number[];
}

/** The object of a connect to `pods/proxy`, `services/proxy` or `nodes/proxy` (`core.PodProxyOptions` and others). */
export interface ProxyOptions extends TypeMeta {
  readonly kind: 'PodProxyOptions' | 'ServiceProxyOptions' | 'NodeProxyOptions';
  readonly path?: string;
}

/** The objects of subresources that are not the object they belong to. */
interface ForeignObjects {
  readonly scale: Scale;
  readonly exec: PodExecOptions;
  readonly attach: PodAttachOptions;
  readonly portforward: PodPortForwardOptions;
  readonly proxy: ProxyOptions;
  readonly eviction: Eviction;
  readonly binding: Binding;
  readonly token: TokenRequest;
}

/**
 * The object of a request: `T` itself, also for `status`, `resize`, `ephemeralcontainers` and the like, or what the
 * subresource takes, such as a `Scale`. Of any subresource (`*`) only `apiVersion` and `kind` are known.
 */
export type SubresourceObject<T, Sub extends string> = Sub extends keyof ForeignObjects
  ? ForeignObjects[Sub]
  : Sub extends '*'
    ? TypeMeta & { readonly metadata?: KubeObject['metadata'] }
    : T;
