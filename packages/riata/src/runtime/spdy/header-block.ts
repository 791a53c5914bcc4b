import { Buffer } from 'node:buffer';

/** The words that SPDY/3 starts its compression with, each behind its length, and the text behind them. */
const dictionaryWords =
  'options|head|post|put|delete|trace|accept|accept-charset|accept-encoding|accept-language|accept-ranges|age|allow|' +
  'authorization|cache-control|connection|content-base|content-encoding|content-language|content-length|' +
  'content-location|content-md5|content-range|content-type|date|etag|expect|expires|from|host|if-match|' +
  'if-modified-since|if-none-match|if-range|if-unmodified-since|last-modified|location|max-forwards|pragma|' +
  'proxy-authenticate|proxy-authorization|range|referer|retry-after|server|te|trailer|transfer-encoding|upgrade|' +
  'user-agent|vary|via|warning|www-authenticate|method|get|status|200 OK|version|HTTP/1.1|url|public|set-cookie|' +
  'keep-alive|origin';
const dictionaryText =
  '100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505203 Non-Authoritative ' +
  'Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden404 Not Found500 Internal ' +
  'Server Error501 Not Implemented503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 ' +
  'Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xml,' +
  'application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8' +
  'charset=iso-8859-1,utf-,*,enq=0.';
/** The checksum by which a zlib stream names the dictionary. */
const dictionaryId = [0xe3, 0xc6, 0xa7, 0xc2];

/** An empty stored block: Go's decoder hands out what came before it only when it sees one. */
const flushMark = Buffer.from([0, 0, 0, 0xff, 0xff]);

/** Names in lower case. */
export type SpdyHeaders = Readonly<Record<string, string>>;

/**
 * Encodes the header blocks of one connection. They form one zlib stream; as the few headers are short, it consists of
 * blocks that are stored and not compressed.
 */
export class HeaderEncoder {
  #isStarted = false;

  encode(headers: SpdyHeaders): Buffer {
    const entries = Object.entries(headers);
    const parts = [uint32(entries.length)];
    for (const [name, value] of entries) parts.push(text(name.toLowerCase()), text(value));
    const block = Buffer.concat(parts);
    if (block.length > 0xffff) throw new RangeError('spdy: the headers are too long');
    // CMF and FLG with the bit for a dictionary, as RFC 1950 has them.
    const start = this.#isStarted ? [] : [0x78, 0x20, ...dictionaryId];
    this.#isStarted = true;
    const stored = Buffer.from([...start, 0, block.length & 0xff, block.length >> 8, 0, 0]);
    stored.writeUInt16LE(block.length ^ 0xffff, stored.length - 2);
    return Buffer.concat([stored, block, flushMark]);
  }
}

/** More of all headers of a connection than this is refused. */
const maxTotalBytes = 4 * 1024 * 1024;

/** Decodes the header blocks of one connection. Throws for what is none. */
export class HeaderDecoder {
  /** All that came: each block refers to those before it. */
  #packed = Buffer.alloc(0);
  #read = 0;

  decode(block: Uint8Array): SpdyHeaders {
    const { inflateSync, constants } = process.getBuiltinModule('node:zlib');
    this.#packed = Buffer.concat([this.#packed, block]);
    if (this.#packed.length > maxTotalBytes) throw new RangeError('spdy: too many headers on one connection');
    // Once again from the start: a decoder that keeps its state would answer later, from a thread of its own.
    const options = { dictionary: dictionary(), finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: 2 ** 26 };
    const plain = inflateSync(this.#packed, options);
    const bytes = plain.subarray(this.#read);
    this.#read = plain.length;
    const headers: Record<string, string> = {};
    let at = 0;
    const next = (): number => {
      at += 4;
      return bytes.readUInt32BE(at - 4);
    };
    const word = (): string => {
      const length = next();
      if (length > bytes.length - at) throw new RangeError('spdy: malformed headers');
      at += length;
      return bytes.toString('latin1', at - length, at);
    };
    const count = next();
    for (let i = 0; i < count; i++) headers[word().toLowerCase()] = word();
    return headers;
  }
}

function dictionary(): Buffer {
  return Buffer.concat([...dictionaryWords.split('|').map(text), Buffer.from(dictionaryText)]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([uint32(bytes.length), bytes]);
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}
