/** Why a manager ended. */
export type ManagerExit =
  /** It was told to. */
  | { readonly reason: 'stopped'; readonly unfinished: readonly string[] }
  /** Another replica leads now, or may. Exit, and be started anew. */
  | { readonly reason: 'lost-lease'; readonly error: unknown; readonly unfinished: readonly string[] }
  /** Something that it runs has failed. */
  | {
      readonly reason: 'failed';
      readonly error: unknown;
      /** What it was. */
      readonly runnable: string;
      readonly unfinished: readonly string[];
    };

/** The same before it is known what has not ended. */
export type ExitCause = ManagerExit extends infer E ? (E extends ManagerExit ? Omit<E, 'unfinished'> : never) : never;
