import type { KubeList, KubeObject } from 'riata/object';
import { type Choice, matcherOf } from '../resource/list-objects.js';
import type { Resource } from '../resource/resource.js';
import { notFound } from '../status/refusal.js';

/** Where the components of a control plane that are not this server would answer. */
const others: Readonly<Record<string, string>> = {
  'controller-manager': '127.0.0.1:10257',
  scheduler: '127.0.0.1:10259',
};

/** Which components run in the process of the server. */
export interface RunningComponents {
  readonly controllers: boolean;
  readonly scheduler: boolean;
}

/** Whether a resource is `componentstatuses`. */
export function isComponentStatus(resource: Resource): boolean {
  return resource.builtIn && resource.table === '/componentstatuses';
}

/** One part of the control plane. Throws 404. */
export function componentStatus(resource: Resource, name: string, running: RunningComponents): KubeObject {
  const found = statuses(running).find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw notFound({ ...resource, plural: 'componentstatus' }, name);
  const { kind, apiVersion } = resource;
  return { ...{ kind, apiVersion }, ...found };
}

/** All of them. They are asked, not stored: the list is of no revision. */
export function componentStatuses(
  resource: Resource,
  choice: Choice,
  running: RunningComponents,
): KubeList<KubeObject> {
  const { listKind: kind, apiVersion } = resource;
  const isMeant = matcherOf(resource, choice);
  const items = statuses(running).filter((object) => isMeant({ key: '', revision: 0, object }));
  return { kind, apiVersion, metadata: {}, items } as unknown as KubeList<KubeObject>;
}

/** A component runs in this process or elsewhere; nothing listens where the real server would probe the others. */
function statuses({ controllers, scheduler }: RunningComponents): readonly KubeObject[] {
  const runs: Readonly<Record<string, boolean>> = { 'controller-manager': controllers, scheduler };
  const names = [...Object.keys(others), 'etcd-0'];
  return names.map((name) => {
    const host = runs[name] === true ? undefined : others[name];
    const refused = `Get "https://${host}/healthz": dial tcp ${host}: connect: connection refused`;
    const [status, message] = host === undefined ? ['True', 'ok'] : ['False', refused];
    return { metadata: { name }, conditions: [{ type: 'Healthy', status, message }] } as unknown as KubeObject;
  });
}
