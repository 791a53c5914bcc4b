import type { OwnOption, ServerCommand } from './server-command.js';

const options = {
  dataDir: {
    written: '--data-dir DIR',
    help: 'keep all data there, so that it survives crashes (default: memory only)',
    default: '',
  },
  acceptDataLoss: {
    written: '--accept-data-loss',
    help: 'start with what is intact if files in the data directory are damaged',
    default: false,
  },
  controllers: {
    written: '--no-controllers',
    help: 'leave it to a kube-controller-manager to empty namespaces and to collect garbage',
    default: true,
  },
  enable: {
    written: '--enable-admission-plugins NAMES',
    help: 'admission plugins to run beside those that are on by default, with commas',
    default: [] as readonly string[],
  },
  maxRequestsInflight: {
    written: '--max-requests-inflight COUNT',
    help: 'requests that are executed at once, together with the next (default 400)',
    default: 400,
  },
  maxMutatingRequestsInflight: {
    written: '--max-mutating-requests-inflight COUNT',
    help: 'the sum of both is divided among priority levels (default 200)',
    default: 200,
  },
  auditPolicyFile: {
    written: '--audit-policy-file FILE',
    help: 'which requests are recorded, and how: an audit.k8s.io/v1 Policy',
    default: '',
  },
  auditLogPath: {
    written: '--audit-log-path FILE',
    help: 'where requests are recorded, a line of JSON each; - for standard output',
    default: '',
  },
  disable: {
    written: '--disable-admission-plugins NAMES',
    help: 'admission plugins that are on by default and do not run, with commas',
    default: [] as readonly string[],
  },
} satisfies Readonly<Record<string, OwnOption>>;

/** The command that runs an API server; `riata-apiserver` and `riata apiserver`. */
export const apiServerCommand: ServerCommand<typeof options> = {
  name: 'riata-apiserver',
  about: 'Runs a Kubernetes API server that keeps its objects in memory, or in a directory.',
  options,
  async start(settings) {
    const { token, controllers, dataDir, acceptDataLoss, enable, disable, auditPolicyFile, auditLogPath } = settings;
    const { maxRequestsInflight, maxMutatingRequestsInflight } = settings;
    // The package's own entry, so that it is one file.
    const { ApiServer, auditFromFiles } = await import('./index.js');
    const audit = await auditFromFiles(auditPolicyFile, auditLogPath);
    const data = { acceptDataLoss, dataDir: dataDir === '' ? undefined : dataDir };
    const limits = { maxRequestsInflight, maxMutatingRequestsInflight };
    return ApiServer.start({ token, controllers, ...data, ...limits, admission: { enable, disable }, audit });
  },
};
