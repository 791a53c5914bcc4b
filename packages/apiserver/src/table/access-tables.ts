import type {
  APIService,
  CertificateSigningRequest,
  ClusterRoleBinding,
  FlowSchema,
  MutatingWebhookConfiguration,
  PriorityLevelConfiguration,
  RoleBinding,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
} from 'riata/kinds';
import { bareSelectorText, none, orNone, unset } from './cell-texts.js';
import { humanDuration } from './human-duration.js';
import { ageColumn, integers, nameColumn, printer, type TablePrinter, texts, wide } from './table-printer.js';

const roleBindings = printer<RoleBinding | ClusterRoleBinding>(
  [nameColumn, ...texts('Role'), ageColumn, ...wide('Users', 'Groups', 'ServiceAccounts')],
  ({ metadata, roleRef, subjects }, ages) => {
    const named = (kind: string) => (subjects ?? []).filter((subject) => subject.kind === kind);
    const plain = (kind: string) => named(kind).map(({ name }) => name);
    return [
      metadata.name,
      `${roleRef.kind}/${roleRef.name}`,
      ages.since(metadata.creationTimestamp),
      plain('User').join(', '),
      plain('Group').join(', '),
      named('ServiceAccount')
        .map(({ namespace = '', name }) => `${namespace}/${name}`)
        .join(', '),
    ];
  },
);

const signingRequests = printer<CertificateSigningRequest>(
  [nameColumn, ageColumn, ...texts('SignerName', 'Requestor', 'RequestedDuration', 'Condition')],
  (request, ages) => {
    const { metadata, spec } = request;
    const seconds = spec.expirationSeconds;
    return [
      metadata.name,
      ages.since(metadata.creationTimestamp),
      orNone(spec.signerName),
      spec.username ?? '',
      seconds === undefined ? none : humanDuration(seconds * 1000),
      signingState(request),
    ];
  },
);

function signingState({ status }: CertificateSigningRequest): string {
  const has = (expected: string) => status?.conditions?.some(({ type }) => type === expected) ?? false;
  const decision = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending';
  return `${decision}${has('Failed') ? ',Failed' : ''}${status?.certificate ? ',Issued' : ''}`;
}

const webhookConfigurations = printer<ValidatingWebhookConfiguration | MutatingWebhookConfiguration>(
  [nameColumn, ...integers('Webhooks'), ageColumn],
  ({ metadata, webhooks }, ages) => [metadata.name, (webhooks ?? []).length, ages.since(metadata.creationTimestamp)],
);

/** Policies, validating or mutating. */
type Policy = ValidatingAdmissionPolicy & { readonly spec?: { readonly mutations?: readonly unknown[] } };

const policies = (counted: 'Validations' | 'Mutations') =>
  printer<Policy>([nameColumn, ...integers(counted), ...texts('ParamKind'), ageColumn], ({ metadata, spec }, ages) => {
    const kind = spec?.paramKind;
    const all = counted === 'Mutations' ? spec?.mutations : spec?.validations;
    return [
      metadata.name,
      (all ?? []).length,
      kind ? `${kind.apiVersion ?? ''}/${kind.kind ?? ''}` : unset,
      ages.since(metadata.creationTimestamp),
    ];
  });

const policyBindings = printer<ValidatingAdmissionPolicyBinding>(
  [nameColumn, ...texts('PolicyName', 'ParamRef'), ageColumn],
  ({ metadata, spec }, ages) => {
    const { name, namespace, selector } = spec?.paramRef ?? {};
    const named = name ? `${namespace || '*'}/${name}` : undefined;
    const selected = selector ? bareSelectorText(selector, unset) : unset;
    return [metadata.name, spec?.policyName ?? '', named ?? selected, ages.since(metadata.creationTimestamp)];
  },
);

const flowSchemaRows = printer<FlowSchema>(
  [
    nameColumn,
    ...texts('PriorityLevel', 'MatchingPrecedence', 'DistinguisherMethod'),
    ageColumn,
    ...texts('MissingPL'),
  ],
  ({ metadata, spec, status }, ages) => [
    metadata.name,
    spec?.priorityLevelConfiguration.name ?? '',
    spec?.matchingPrecedence ?? 0,
    spec?.distinguisherMethod?.type ?? none,
    ages.since(metadata.creationTimestamp),
    status?.conditions?.find(({ type }) => type === 'Dangling')?.status ?? '?',
  ],
);
/** In the order in which they are tried. */
const flowSchemas: TablePrinter = {
  ...flowSchemaRows,
  compare: (a, b) => precedenceOf(a as FlowSchema) - precedenceOf(b as FlowSchema),
};

function precedenceOf({ spec }: FlowSchema): number {
  return spec?.matchingPrecedence ?? 0;
}

const priorityLevels = printer<PriorityLevelConfiguration>(
  [nameColumn, ...texts('Type', 'NominalConcurrencyShares', 'Queues', 'HandSize', 'QueueLengthLimit'), ageColumn],
  ({ metadata, spec }, ages) => {
    const { limited } = spec ?? {};
    const queuing = limited?.limitResponse?.queuing;
    return [
      metadata.name,
      spec?.type ?? '',
      limited ? (limited.nominalConcurrencyShares ?? 0) : none,
      queuing?.queues ?? none,
      queuing?.handSize ?? none,
      queuing?.queueLengthLimit ?? none,
      ages.since(metadata.creationTimestamp),
    ];
  },
);

const apiServices = printer<APIService>(
  [nameColumn, ...texts('Service', 'Available'), ageColumn],
  ({ metadata, spec, status }, ages) => {
    const available = status?.conditions?.find(({ type }) => type === 'Available');
    const { status: is = 'Unknown', reason } = available ?? {};
    return [
      metadata.name,
      spec?.service ? `${spec.service.namespace ?? ''}/${spec.service.name ?? ''}` : 'Local',
      is !== 'True' && reason ? `${is} (${reason})` : is,
      ages.since(metadata.creationTimestamp),
    ];
  },
);

/** Tables of access control and admission, by where the kind is stored. */
export const accessTables = {
  'rbac.authorization.k8s.io/rolebindings': roleBindings,
  'rbac.authorization.k8s.io/clusterrolebindings': roleBindings,
  'certificates.k8s.io/certificatesigningrequests': signingRequests,
  'admissionregistration.k8s.io/validatingwebhookconfigurations': webhookConfigurations,
  'admissionregistration.k8s.io/mutatingwebhookconfigurations': webhookConfigurations,
  'admissionregistration.k8s.io/validatingadmissionpolicies': policies('Validations'),
  'admissionregistration.k8s.io/validatingadmissionpolicybindings': policyBindings,
  'admissionregistration.k8s.io/mutatingadmissionpolicies': policies('Mutations'),
  'admissionregistration.k8s.io/mutatingadmissionpolicybindings': policyBindings,
  'flowcontrol.apiserver.k8s.io/flowschemas': flowSchemas,
  'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations': priorityLevels,
  'apiregistration.k8s.io/apiservices': apiServices,
};
