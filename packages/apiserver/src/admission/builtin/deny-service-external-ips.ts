import type { JsonObject } from 'riata/object';
import { recordOf, stringsOf } from '../../resource/metadata.js';
import type { AdmissionPlugin } from '../admission.js';
import { forbiddenRequest, synchronousPlugin } from './synchronous-plugin.js';

/** Refuses new external IPs of Services (`DenyServiceExternalIPs`). */
export function denyServiceExternalIps(): AdmissionPlugin {
  return synchronousPlugin({
    name: 'DenyServiceExternalIPs',
    handles: ({ operation, resource, subresource }) =>
      resource.table === '/services' && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'),
    check(service, attributes) {
      const known = new Set(externalIps(attributes.oldObject ?? {}));
      if (externalIps(service).every((ip) => known.has(ip))) return;
      throw forbiddenRequest(attributes, 'Use of external IPs is denied by admission control');
    },
  });
}

function externalIps({ spec }: JsonObject): readonly string[] {
  return stringsOf(recordOf(spec).externalIPs);
}
