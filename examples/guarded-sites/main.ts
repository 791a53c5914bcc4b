import { control } from 'riata';
import { Deployment } from 'riata/kinds';
import { admit, conversion, policy } from 'riata/webhook';
import { Site } from './site.js';

/** Annotation of Sites that nobody may delete by mistake. */
export const keep = 'guarded-sites.riata.dev/keep';

/** Defaults and checks Sites before they are stored. */
export const siteRules = admit(Site)
  .reads(Site)
  .mutates((site) => {
    site.spec.zone ??= 'a';
  })
  .validates(async ({ object: site, old, client, deny, warn, path }) => {
    if (old && old.spec.zone !== site.spec.zone) deny(path.spec.zone, 'is immutable');
    if (site.spec.replicas > 10) warn('more than 10 replicas cost money');
    const { namespace, name } = site.metadata;
    const { items } = await client.list(Site); // from the cache, by `reads`
    const isOther = ({ metadata }: Site) => metadata.namespace !== namespace || metadata.name !== name;
    const taken = items.find((other) => other.spec.host === site.spec.host && isOther(other));
    if (taken) deny(path.spec.host, `belongs to Site ${taken.metadata.namespace}/${taken.metadata.name}`);
  })
  .validates({ on: ['delete'], timeout: '5s' }, ({ old, deny }) => {
    if (old.metadata.annotations?.[keep] === 'true') deny(`remove the annotation ${keep} first`);
  });

/** Lets clients read and write v1, too. */
export const siteVersions = conversion(Site);

/** Enforced by the API server itself: it compiles to CEL, and no webhook is called for it. */
export const ownRegistry = policy(Site, { name: 'guarded-sites-registry' }).require(
  ({ object: site }) => site.spec.image.name.startsWith('registry.example.com/'),
  { message: 'images must come from registry.example.com' },
);

/** Runs a Deployment for each Site. */
export const sites = control(Site)
  .owns(Deployment)
  .reconcile(async ({ object: { metadata, spec }, apply, status }) => {
    const labels = { site: metadata.name };
    const { name, tag = 'latest' } = spec.image;
    const deployment = await apply(
      Deployment({
        metadata: { name: metadata.name, labels },
        spec: {
          replicas: spec.replicas,
          selector: { matchLabels: labels },
          template: {
            metadata: { labels: { ...labels, zone: spec.zone ?? 'a' } },
            spec: { containers: [{ name: 'web', image: `${name}:${tag}` }] },
          },
        },
      }),
    );
    await status({ availableReplicas: deployment.status.availableReplicas ?? 0 });
  });
