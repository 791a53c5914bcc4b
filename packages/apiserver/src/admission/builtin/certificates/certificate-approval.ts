import { equal } from 'riata/object';
import type { Authorizer } from '../../../authorization/authorizer.js';
import { recordOf, textOf } from '../../../resource/metadata.js';
import { goQuote } from '../../../status/go-quote.js';
import type { AdmissionPlugin } from '../../admission.js';
import { forbiddenRequest, synchronousPlugin } from '../synchronous-plugin.js';
import { mayUseSigner } from './may-use-signer.js';

const table = 'certificates.k8s.io/certificatesigningrequests';

/** Dependencies of the plugins. */
export interface SignerParts {
  readonly authorizer: Authorizer;
}

/** Requires permission to `approve` for the signer to approve or deny requests (`CertificateApproval`). */
export function certificateApproval({ authorizer }: SignerParts): AdmissionPlugin {
  return synchronousPlugin({
    name: 'CertificateApproval',
    handles: ({ operation, resource, subresource }) =>
      operation === 'UPDATE' && resource.table === table && subresource === 'approval',
    check(_, attributes) {
      const signer = textOf(recordOf(attributes.oldObject?.spec).signerName);
      if (mayUseSigner(authorizer, attributes.user, 'approve', signer)) return;
      const why = `user not permitted to approve requests with signerName ${goQuote(signer)}`;
      throw forbiddenRequest(attributes, why);
    },
  });
}

/** Requires permission to `sign` for the signer to issue certificates (`CertificateSigning`). */
export function certificateSigning({ authorizer }: SignerParts): AdmissionPlugin {
  return synchronousPlugin({
    name: 'CertificateSigning',
    handles: ({ operation, resource, subresource }) =>
      operation === 'UPDATE' && resource.table === table && subresource === 'status',
    check(request, attributes) {
      const [now, then] = [recordOf(request.status), recordOf(attributes.oldObject?.status)];
      const isSame = ['certificate', 'conditions'].every((field) => equal(now[field] ?? null, then[field] ?? null));
      if (isSame) return;
      const signer = textOf(recordOf(attributes.oldObject?.spec).signerName);
      if (mayUseSigner(authorizer, attributes.user, 'sign', signer)) return;
      throw forbiddenRequest(attributes, `user not permitted to sign requests with signerName ${goQuote(signer)}`);
    },
  });
}
