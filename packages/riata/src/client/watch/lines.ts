/**
 * The lines of a byte stream, e.g. of a Pod's log, as text: an async iterable that can be iterated once. A line ends at
 * `\n`, or at the stream's end; the `\n` is not part of it, and neither is a `\r` before it. Characters of several
 * bytes may be cut anywhere; invalid UTF-8 becomes U+FFFD. Leaving the loop early ends the stream.
 *
 * ```ts
 * for await (const line of lines(await client.logs(pod, { follow: true }))) print(line);
 * ```
 *
 * @param limit A longer line is split into pieces of about this many characters, so that a log without line ends does
 * not fill the memory. @default 1048576
 */
export async function* lines(
  stream: AsyncIterable<Uint8Array>,
  limit = 1_048_576,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream) {
    const parts = decoder.decode(chunk, { stream: true }).split('\n');
    parts[0] = rest + parts[0];
    rest = parts.pop() ?? '';
    for (const line of parts) yield withoutReturn(line);
    if (rest.length >= limit) {
      yield rest;
      rest = '';
    }
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}
