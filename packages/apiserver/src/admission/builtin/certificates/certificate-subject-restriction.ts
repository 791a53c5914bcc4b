import { Buffer } from 'node:buffer';
import { privilegedGroup } from '../../../authentication/user-info.js';
import { requestedOrganizations } from '../../../kinds/access/certificate-request.js';
import { recordOf, textOf } from '../../../resource/metadata.js';
import type { AdmissionPlugin } from '../../admission.js';
import { creates, forbiddenRequest, synchronousPlugin } from '../synchronous-plugin.js';

const signer = 'kubernetes.io/kube-apiserver-client';

/** Refuses client certificates for the group `system:masters` (`CertificateSubjectRestriction`). */
export function certificateSubjectRestriction(): AdmissionPlugin {
  return synchronousPlugin({
    name: 'CertificateSubjectRestriction',
    handles: (attributes) => creates(attributes, 'certificates.k8s.io/certificatesigningrequests'),
    check({ spec }, attributes) {
      const { signerName, request } = recordOf(spec);
      if (signerName !== signer) return;
      // The request is valid, since admission comes after validation.
      const text = Buffer.from(textOf(request), 'base64').toString('latin1');
      if (!requestedOrganizations(text).includes(privilegedGroup)) return;
      throw forbiddenRequest(attributes, `use of ${signer} signer with system:masters group is not allowed`);
    },
  });
}
