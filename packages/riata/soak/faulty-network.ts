/** What can go wrong between a client and its server. */
export type Mischief =
  /** The connection is cut by a RST. */
  | 'reset'
  /** The connection, or the body of an answer, ends in order, but too early. */
  | 'close'
  /** Nothing comes through any more, though the connection stands: no FIN, and keepalives are answered. */
  | 'stall'
  /** New connections are cut at once. */
  | 'refuse'
  /** Some bytes get through, then the connection is cut. */
  | 'truncate'
  /** Bytes come late. */
  | 'delay'
  /** The server does what it is asked for, but the answer is lost. */
  | 'lose'
  /** HTTP answers that the server did not give. */
  | 'answer 410'
  | 'answer 429'
  | 'answer 500'
  | 'answer 502'
  /** An ERROR event in a watch. */
  | 'event 410'
  | 'event 500';

/** A way to a server that does to what passes what bad networks do. */
export interface FaultyNetwork extends AsyncDisposable {
  /** Where clients have to go instead of to the server. */
  readonly url: string;
  /** What was done so far. */
  readonly done: Readonly<Partial<Record<Mischief, number>>>;
  /** Does something bad to some of what is open, or to what comes next. */
  act(): void;
  /** Nothing new is done from now on. What is stalled stays so for a while. */
  calm(): void;
}

/** How long a stalled connection may stand before it is cut, in milliseconds: shorter and longer than all timeouts. */
export const longestStallMs = 1_600;
