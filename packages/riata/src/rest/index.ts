export { ExecPluginError, isExecPluginError } from './auth/exec-plugin-error.js';
export { anonymous, type StaticCredentialsOptions, staticCredentials } from './auth/static.js';
export {
  ConfigError,
  type ConfigErrorReason,
  type ConfigPlace,
  isConfigError,
} from './config/config-error.js';
export { type ConfigOverrides, configFromKubeconfig, type KubeconfigOptions } from './config/config-from-kubeconfig.js';
export { type InClusterOptions, inClusterConfig } from './config/in-cluster.js';
export type {
  Kubeconfig,
  KubeconfigCluster,
  KubeconfigContext,
  KubeconfigExec,
  KubeconfigUser,
} from './config/kubeconfig.js';
export { type KubeconfigForOptions, kubeconfigFor } from './config/kubeconfig-for.js';
export { type LoadConfigOptions, loadConfig } from './config/load-config.js';
export type { AuthOptions } from './config/user-credentials.js';
export type { Credentials, Impersonation, Pem, RestConfig, TlsMaterial } from './config.js';
