/** Why a manager ended. */
export type ManagerExit =
  /** Its signal aborted, or it was disposed. */
  | { readonly reason: 'stopped'; readonly unfinished: readonly string[] }
  /** Another replica leads now, or may. Exit, so that the process is restarted. */
  | { readonly reason: 'lost-lease'; readonly error: unknown; readonly unfinished: readonly string[] }
  /** A runnable failed. */
  | {
      readonly reason: 'failed';
      readonly error: unknown;
      /** Its name. */
      readonly runnable: string;
      readonly unfinished: readonly string[];
    };

/** The same before it is known what has not ended. */
export type ExitCause = ManagerExit extends infer E ? (E extends ManagerExit ? Omit<E, 'unfinished'> : never) : never;
