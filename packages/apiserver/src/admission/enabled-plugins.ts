import { optionNames, refuseUnknownOptions } from 'riata/runtime';
import { goQuote } from '../status/go-quote.js';
import type { AdmissionOptions } from './admission.js';

/** Every admission plugin of kube-apiserver in the order in which they run, and whether it is on by default. */
const orderedPlugins: Readonly<Record<string, boolean>> = {
  AlwaysAdmit: false,
  NamespaceAutoProvision: false,
  NamespaceLifecycle: true,
  NamespaceExists: false,
  LimitPodHardAntiAffinityTopology: false,
  LimitRanger: true,
  ServiceAccount: true,
  NodeRestriction: false,
  TaintNodesByCondition: true,
  AlwaysPullImages: false,
  ImagePolicyWebhook: false,
  PodSecurity: true,
  PodNodeSelector: false,
  Priority: true,
  DefaultTolerationSeconds: true,
  PodTolerationRestriction: false,
  EventRateLimit: false,
  ExtendedResourceToleration: false,
  DefaultStorageClass: true,
  StorageObjectInUseProtection: true,
  PodGroupProtection: true,
  OwnerReferencesPermissionEnforcement: false,
  PersistentVolumeClaimResize: true,
  RuntimeClass: true,
  CertificateApproval: true,
  CertificateSigning: true,
  ClusterTrustBundleAttest: true,
  CertificateSubjectRestriction: true,
  DefaultIngressClass: true,
  DenyServiceExternalIPs: false,
  PodTopologyLabels: true,
  PodGroupWorkloadExists: true,
  NodeDeclaredFeatureValidator: true,
  JobValidation: true,
  PodResizeValidator: true,
  MutatingAdmissionPolicy: true,
  MutatingAdmissionWebhook: true,
  ValidatingAdmissionPolicy: true,
  ValidatingAdmissionWebhook: true,
  ResourceQuota: true,
  AlwaysDeny: false,
};

const admissionOptionNames = optionNames<AdmissionOptions>({ enable: true, disable: true });

/** The plugins to run, in order. Throws a `TypeError` for a name that kube-apiserver does not know. */
export function enabledPlugins(options: AdmissionOptions = {}): readonly string[] {
  refuseUnknownOptions('admission', options, admissionOptionNames);
  const { enable = [], disable = [] } = options;
  const unknown = (flag: string, names: readonly string[]) =>
    names
      .filter((name) => !Object.hasOwn(orderedPlugins, name))
      .map((name) => `${flag} plugin ${goQuote(name)} is unknown`);
  const overlap = [...new Set(enable)].filter((name) => disable.includes(name)).sort();
  const problems = [
    ...unknown('enable-admission-plugins', enable),
    ...unknown('disable-admission-plugins', disable),
    ...(overlap.length === 0
      ? []
      : [`[${overlap.join(' ')}] in enable-admission-plugins and disable-admission-plugins overlapped`]),
  ];
  if (problems.length > 0) throw new TypeError(problems.join('; '));
  const isOn = (name: string) => orderedPlugins[name] === true && !disable.includes(name);
  return Object.keys(orderedPlugins).filter((name) => isOn(name) || enable.includes(name));
}
