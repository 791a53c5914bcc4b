/**
 * What tests of controllers need, for any test framework.
 *
 * @module
 */
export { environmentPerFile, type TestHooks } from './environment-per-file.js';
export { type EventuallyOptions, eventually } from './eventually.js';
export type { ConvergedOptions } from './expect-converged.js';
export { expectRightsSuffice } from './expect-rights-suffice.js';
export { type FaultRestartOptions, type FaultRule, FaultScript, type FaultTurns } from './fault-script.js';
export type { Definition } from './install-definitions.js';
export type { CutOptions } from './recording-transport.js';
export { type RecordedRequest, RequestRecorder } from './request-recorder.js';
export type { RequestMatch, RequestTarget, RequestVerb } from './request-target.js';
export type { SettleOptions } from './settle.js';
export { type ConnectOptions, TestConnection } from './test-connection.js';
export { type InstallableKind, TestEnvironment, type TestEnvironmentOptions } from './test-environment.js';
export { type Identity, TestIdentity } from './test-identity.js';
export type { RegisterHandlers, TestManager, TestManagerOptions } from './test-manager.js';
export type { EmbeddedOptions, OwnServer, ServerControl, TestServerChoice } from './test-server.js';
export {
  type RightsManifest,
  type RightsManifestsOptions,
  type UsedRights,
  type UsedRule,
  usedRights,
} from './used-rights.js';
