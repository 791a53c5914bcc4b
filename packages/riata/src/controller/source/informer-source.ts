import type { EventHandlerRegistration } from '../../cache/informer/resource-event-handler.js';
import type { SharedInformer } from '../../cache/informer/shared-informer.js';
import type { KubeObject } from '../../object/meta.js';
import { refuseUnknownOptions } from '../../runtime/option-names.js';
import { resolveRuntime } from '../../runtime/runtime.js';
import { abortable, onAbort } from '../../runtime/signals.js';
import type { RequestQueue } from '../loop/request.js';
import { ChangeIntake } from './change-intake.js';
import type { EventHandler } from './event-handler.js';
import { type KindSourceOptions, kindSourceOptionNames } from './kind-source.js';
import type { SyncingSource } from './source.js';

/**
 * The changes of an informer (`source.Informer`) that is run elsewhere, such as that of a `SharedInformerFactory`. With
 * a `Cache`, use `kindSource`.
 */
export function informerSource<T extends KubeObject>(
  informer: SharedInformer<T>,
  handler: EventHandler<T>,
  options: KindSourceOptions<T> = {},
): SyncingSource {
  const { predicates = [], name = `informer ${informer.name}` } = options;
  refuseUnknownOptions('informerSource', options, kindSourceOptionNames);
  let registration: EventHandlerRegistration | undefined;
  return {
    name,
    async start(queue: RequestQueue, { signal, runtime, cluster, failures }) {
      const parts = {
        ...{ name, kind: undefined, handler, predicates, cluster: options.cluster ?? cluster, failures },
        runtime: resolveRuntime({ ...runtime, ...options.runtime }),
      };
      const intake = new ChangeIntake<T>(parts, queue, signal);
      const made = informer.addEventHandler(intake, { name });
      registration = made;
      onAbort(signal, () => void made.remove());
    },
    async waitForSync({ signal }) {
      if (registration === undefined) throw new Error(`source "${name}" was not started`);
      await abortable(registration.synced({ signal }), signal);
    },
  };
}
