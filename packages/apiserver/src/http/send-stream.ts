import type { Turn } from '../flow-control/flow-control.js';
import type { MarkedReply } from './marked-reply.js';
import { sendPieces } from './reply.js';
import type { ServerRequest } from './server-request.js';
import { commonHeaders } from './status-answer.js';
import type { VerbAnswer } from './verb-handlers.js';
import type { Warnings } from './warnings.js';

/** The parts of an exchange that a stream uses. */
export interface StreamedExchange {
  readonly request: ServerRequest;
  readonly reply: MarkedReply;
  readonly warnings: Warnings;
  readonly turn: Turn | undefined;
}

/** Sends what lasts as long as its client likes. */
export async function sendStream(
  { request, reply, turn, warnings }: StreamedExchange,
  answer: Extract<VerbAnswer, { readonly serve: unknown } | { readonly text: unknown } | { readonly respond: unknown }>,
): Promise<void> {
  // From here on it takes nothing but memory.
  turn?.leave();
  if ('serve' in answer) {
    await answer.serve(request, () => reply.switched());
    return;
  }
  if ('respond' in answer) {
    await answer.respond(request, reply);
    return;
  }
  reply.head(200, { ...commonHeaders, 'content-type': 'text/plain', ...warnings.headers() });
  await sendPieces(reply, answer.text);
}
