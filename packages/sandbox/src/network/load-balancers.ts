import { type Client, control, type KubeObject, type ReconcileContext } from 'riata';
import type { Request } from 'riata/controller';
import { Ingress, Service } from 'riata/kinds';
import { optionNames } from 'riata/runtime';
import { says } from '../workloads/says.js';
import { AddressPool } from './address-pool.js';

const finalizer = 'service.kubernetes.io/load-balancer-cleanup';
/** No host name looks like this. */
const ipAddress = /^\d+(\.\d+){3}$|:/;
/** By which an object says itself under which address it is reached. */
const addressAnnotation = 'sandbox.riata.dev/address';

/** Under which addresses pretend load balancers are reached. */
export interface LoadBalancerOptions {
  /**
   * The address of a Service or an Ingress: an IP address, a host name, or 'none' to leave it to another controller.
   *
   * @default the annotation `sandbox.riata.dev/address`, or the next free IP address
   */
  readonly address?: (object: Service | Ingress) => string | undefined;
}

export const loadBalancerOptionNames = optionNames<LoadBalancerOptions>({ address: true });

/** Gives Services of type LoadBalancer, and Ingresses, an address, as the load balancers of a cloud provider do. */
export function loadBalancers({ address = () => undefined }: LoadBalancerOptions = {}) {
  const pool = new AddressPool();
  const asked = (object: Service | Ingress) => address(object) ?? object.metadata.annotations?.[addressAnnotation];
  const services = control(Service, { name: 'service-lb' })
    .reads(Ingress)
    .evenWhenGone()
    .reconcile(async (context) => {
      const { object: service } = context;
      const owner = ownerOf('Service', context.key);
      const own = service && asked(service);
      if (service === undefined) pool.release(owner);
      else if (isBalanced(service) && own !== 'none') {
        await ensure({ ...context, object: service }, await entryFor(service, context.client, own));
      } else {
        pool.release(owner);
        await remove({ ...context, object: service });
      }
    });
  const ingresses = control(Ingress, { name: 'ingress' })
    .reads(Service)
    .evenWhenGone()
    .reconcile(async ({ object: ingress, key, client }) => {
      const own = ingress && asked(ingress);
      if (ingress === undefined || own === 'none') return pool.release(ownerOf('Ingress', key));
      if (ingress.metadata.deletionTimestamp !== undefined) return undefined;
      const status = { loadBalancer: { ingress: [await entryFor(ingress, client, own)] } };
      if (says(ingress.status, status)) return undefined;
      await client.status.patch(Ingress, ingress.metadata, { type: 'merge', body: { status } });
      return undefined;
    });
  const entryFor = async (object: Service | Ingress, client: Client, own: string | undefined) => {
    const { spec, status } = object;
    const isService = object.kind === 'Service';
    const given = own ?? (isService ? (spec as Service['spec']).loadBalancerIP : undefined);
    const owner = ownerOf(isService ? 'Service' : 'Ingress', object.metadata);
    if (given) {
      pool.release(owner);
      return ipAddress.test(given) ? { ip: given } : { hostname: given };
    }
    const isIpv6 = isService && (spec as Service['spec']).ipFamilies?.includes('IPv4') === false;
    const [known] = status?.loadBalancer?.ingress ?? [];
    if (known?.ip && known.ip.includes(':') === isIpv6) return { ip: known.ip };
    return { ip: pool.take(owner, { isIpv6, taken: await addressesIn(client) }) };
  };
  return [services, ingresses];
}

const ownerOf = (kind: string, { namespace, name }: Request | KubeObject['metadata']) => `${kind} ${namespace}/${name}`;

function isBalanced({ metadata, spec }: Service): boolean {
  return (
    spec.type === 'LoadBalancer' && spec.loadBalancerClass === undefined && metadata.deletionTimestamp === undefined
  );
}

async function addressesIn(client: Client): Promise<ReadonlySet<string>> {
  const [services, ingresses] = await Promise.all([client.list(Service), client.list(Ingress)]);
  const entries = [...services.items, ...ingresses.items].flatMap(({ status }) => status?.loadBalancer?.ingress ?? []);
  return new Set(entries.flatMap(({ ip }) => (ip === undefined ? [] : [ip])));
}

async function ensure(
  { object: service, client, event }: ReconcileContext<Service>,
  entry: { readonly ip?: string; readonly hostname?: string },
): Promise<void> {
  const { metadata } = service;
  const { finalizers = [] } = metadata;
  if (!finalizers.includes(finalizer)) {
    await client.patch(Service, metadata, { type: 'strategic', body: { metadata: { finalizers: [finalizer] } } });
  }
  const [known, ...more] = service.status?.loadBalancer?.ingress ?? [];
  if (more.length === 0 && known?.ip === entry.ip && known?.hostname === entry.hostname) return;
  event({ type: 'Normal', reason: 'EnsuringLoadBalancer', message: 'Ensuring load balancer' });
  const body = { status: { loadBalancer: { ingress: [entry] } } };
  await client.status.patch(Service, metadata, { type: 'merge', body });
  event({ type: 'Normal', reason: 'EnsuredLoadBalancer', message: 'Ensured load balancer' });
}

/** The Service was deleted, or is no longer of type LoadBalancer. */
async function remove({ object: service, client, event }: ReconcileContext<Service>): Promise<void> {
  const { metadata, status } = service;
  const { finalizers = [] } = metadata;
  if (!finalizers.includes(finalizer)) return;
  event({ type: 'Normal', reason: 'DeletingLoadBalancer', message: 'Deleting load balancer' });
  if ((status?.loadBalancer?.ingress ?? []).length > 0) {
    await client.status.patch(Service, metadata, { type: 'merge', body: { status: { loadBalancer: null } } });
  }
  // Last, as the Service may go with it. A strategic patch leaves the finalizers of others alone.
  const body = { metadata: { '$deleteFromPrimitiveList/finalizers': [finalizer] } };
  await client.patch(Service, metadata, { type: 'strategic', body });
  event({ type: 'Normal', reason: 'DeletedLoadBalancer', message: 'Deleted load balancer' });
}
