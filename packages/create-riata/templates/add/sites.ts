import { control } from 'riata';
import { Site } from './site.js';

/** Brings the cluster closer to what each Site asks for. */
export const sites = control(Site).reconcile(async ({ object: site, status, log }) => {
  log.debug('reconciling', { generation: site.metadata.generation });
  await status({});
});
