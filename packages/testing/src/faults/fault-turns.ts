import { optionNames } from 'riata/runtime';

/** When a rule of a `FaultScript` holds. */
export interface FaultTurns {
  /** How many matching requests succeed first. @default 0 */
  readonly after?: number;
  /** How often it happens. @default always */
  readonly times?: number;
}

export const faultTurnsOptionNames = optionNames<FaultTurns>({ after: true, times: true });

/** Something that goes wrong until it is removed, or has happened as often as it should. */
export interface FaultRule extends Disposable {
  /** How often it has happened. */
  readonly hits: number;
  remove(): void;
}
