/**
 * Tools for tests of controllers, for any test framework.
 *
 * @module
 */
export { environmentPerFile, type TestHooks } from './environment-per-file.js';
export { type EventuallyOptions, eventually } from './eventually.js';
export type { ConvergedOptions } from './expect-converged.js';
export { type FaultRestartOptions, FaultScript } from './faults/fault-script.js';
export type { FaultRule, FaultTurns } from './faults/fault-turns.js';
export type { WebhookFault, WebhookMatch } from './faults/webhook-faults.js';
export type { Identity } from './identity.js';
export type { Definition } from './install-definitions.js';
export { expectRightsSuffice } from './requests/expect-rights-suffice.js';
export type { CutOptions } from './requests/recording-transport.js';
export { type RecordedRequest, RequestRecorder } from './requests/request-recorder.js';
export type { RequestMatch, RequestTarget, RequestVerb } from './requests/request-target.js';
export {
  type RightsManifest,
  type RightsManifestsOptions,
  type UsedRights,
  type UsedRule,
  usedRights,
} from './requests/used-rights.js';
export type { SettleOptions } from './settle.js';
export type { Outside } from './simulate/check/outside-guard.js';
export {
  type FromSchemaOptions,
  fromSchema,
  type SchemaSource,
  type SpecChanges,
} from './simulate/explore/from-schema.js';
export type { ClusterChange, ClusterView } from './simulate/run/cluster-state.js';
export type { ViolatedRule } from './simulate/run/run-failure.js';
export type { FaultKind } from './simulate/run/simulated-fault.js';
export { simulate } from './simulate/simulate.js';
export type {
  AlwaysContext,
  Check,
  CheckContext,
  ProcessContext,
  SimulateOptions,
  SimulationRule,
  StoryContext,
} from './simulate/simulate-options.js';
export { SimulationError } from './simulate/simulation-error.js';
export { SimulationReport } from './simulate/simulation-report.js';
export {
  type DefinedSimulation,
  defineSimulation,
  type SimulationModule,
} from './simulate/threads/define-simulation.js';
export { type ConnectOptions, TestConnection } from './test-connection.js';
export { TestEnvironment } from './test-environment.js';
export type { InstallableKind, TestEnvironmentOptions } from './test-environment-options.js';
export { TestIdentity } from './test-identity.js';
export type { RegisterHandlers, TestManager, TestManagerOptions } from './test-manager.js';
export type { EmbeddedOptions, OwnServer, ServerControl, TestServerChoice } from './test-server.js';
export { expectRoundTrips, type RoundTripOptions, type VersionedKind } from './versions/expect-round-trips.js';
