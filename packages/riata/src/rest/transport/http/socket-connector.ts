import { X509Certificate } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import * as net from 'node:net';
import * as tls from 'node:tls';
import type { Scheduler } from '../../../runtime/time/clock.js';
import type { Pem, TlsMaterial } from '../../config/rest-config.js';
import { BlockReader } from './block-reader.js';
import { ConnectFailure, connectFailure } from './connect-failure.js';
import { hostPort, openTunnel, type ProxyServer, type TunnelSocket } from './proxy.js';

/** Where and how to connect. */
export interface ConnectorOptions {
  readonly host: string;
  readonly port: number;
  /** TLS with the server; absent for plain HTTP. */
  readonly tls?: ConnectorTls;
  /** Connect through this proxy. */
  readonly proxy?: ProxyServer;
  /** The proxy forwards the requests: no tunnel, the connection ends at it. @default false */
  readonly forwarded?: boolean;
  /** Limit for all of it: dialling, the proxy, TLS. 0 = none. */
  readonly timeoutMs: number;
  readonly scheduler: Scheduler;
}

export interface ConnectorTls {
  readonly context: tls.SecureContext;
  /** Name to verify and to send as SNI; `host` unless given. */
  readonly serverName?: string;
  readonly insecure: boolean;
}

interface Peer {
  readonly peer: string;
  readonly field: string;
  readonly host: string;
  readonly port: number;
}

// The kernel asks a silent peer after this and gives up ten seconds later: notices a machine that has gone away.
const keepAliveMs = 30_000;

const ignoreError = () => {};

/** Takes the first `length` bytes that were read; false to stop reading until `resume`. */
export type Reader = (length: number, bytes: Buffer) => boolean;

/** Dials for one connection. */
export interface Dialler {
  /**
   * Opens a socket. What it reads goes to `read`, in memory that is used again, or left to it if it `keeps`. Without
   * one, it is an ordinary stream that nothing was read from.
   */
  open(read?: Reader, options?: { readonly keeps?: boolean }): Promise<net.Socket>;
  /** Ends a connection that is being set up. A finished one is the caller's. */
  cancel(): void;
}

/**
 * Opens connections to one server, through a proxy or not. Failures name the certificate and the remedy; the limit of
 * time is on our clock.
 */
export class SocketConnector {
  readonly #options: ConnectorOptions;
  /** The last session lets the next handshake be short. It lives as long as the certificates it was made with. */
  #session: Buffer | undefined;

  constructor(options: ConnectorOptions) {
    this.#options = options;
  }

  dialler(): Dialler {
    /** Sockets of the connection that is being set up, the one in use last. */
    const opening: net.Socket[] = [];
    let cancelled = false;
    const track: Track = (socket) => {
      opening.push(socket);
      // One listener for good: an error between two owners of a socket must not end the process.
      socket.on('error', ignoreError);
      if (cancelled) socket.destroy(new ConnectFailure('closed', 'cancelled'));
      return socket;
    };
    return {
      open: async (read, { keeps = false } = {}) => {
        const { proxy, tls: secure, scheduler } = this.#options;
        // Through a proxy, the first bytes are read by others.
        const isDirect = !proxy && read !== undefined;
        const blocks = isDirect && keeps ? new BlockReader((bytes) => read(bytes.length, bytes), scheduler) : undefined;
        const onread = blocks ?? (isDirect ? readInPlace(secure !== undefined, read) : undefined);
        const socket = await this.#open(track, opening, onread);
        blocks?.attach(socket);
        if (read && onread === undefined)
          socket.on('data', (chunk: Buffer) => read(chunk.length, chunk) || socket.pause());
        return socket;
      },
      cancel: () => {
        cancelled = true;
        opening.at(-1)?.destroy(new ConnectFailure('closed', 'cancelled'));
      },
    };
  }

  async #open(track: Track, opening: net.Socket[], onread?: OnRead): Promise<net.Socket> {
    const { scheduler, timeoutMs, proxy, host, port, tls: secure } = this.#options;
    const onTimeout = () => {
      const via = proxy ? ` through the proxy ${hostPort(proxy.host, proxy.port)}` : '';
      const text = `no connection to ${hostPort(host, port)}${via} within ${timeoutMs} ms`;
      opening.at(-1)?.destroy(new ConnectFailure('connect-timeout', text));
    };
    const timer = timeoutMs > 0 ? scheduler.after(timeoutMs, onTimeout, { background: true }) : undefined;
    try {
      const server: Peer = { peer: 'the API server', field: '"server" in the kubeconfig', host, port };
      if (!proxy)
        return await (secure ? this.#secure(track, server, secure, { onread }) : this.#dial(track, server, onread));
      return await this.#openThroughProxy(track, server, proxy);
    } catch (error) {
      for (const socket of opening) socket.destroy();
      throw error;
    } finally {
      timer?.cancel();
      opening.length = 0;
    }
  }

  async #openThroughProxy(track: Track, server: Peer, proxy: ProxyServer): Promise<net.Socket> {
    const peer: Peer = {
      peer: 'the proxy',
      field: '"proxy-url" in the kubeconfig (or HTTPS_PROXY)',
      host: proxy.host,
      port: proxy.port,
    };
    const socket =
      proxy.kind === 'https'
        ? await this.#secure(track, peer, { context: tls.createSecureContext(), insecure: false })
        : await this.#dial(track, peer);
    if (this.#options.forwarded) return socket;
    await openTunnel(tunnelSocket(socket, peer), proxy, server);
    const { tls: secure } = this.#options;
    return secure ? this.#secure(track, server, secure, { tunnel: socket }) : socket;
  }

  async #dial(track: Track, peer: Peer, onread?: OnRead): Promise<net.Socket> {
    const socket = track(net.connect({ host: peer.host, port: peer.port, ...(onread && { onread }) }));
    tune(socket);
    await established(socket, 'connect', (error) => this.#explain(error, peer));
    return socket;
  }

  async #secure(
    track: Track,
    peer: Peer,
    secure: ConnectorTls,
    { tunnel, onread }: { readonly tunnel?: net.Socket; readonly onread?: OnRead } = {},
  ): Promise<tls.TLSSocket> {
    const verifyName = secure.serverName ?? peer.host;
    const isServer = secure === this.#options.tls;
    const socket = track(
      tls.connect({
        ...(tunnel ? { socket: tunnel } : { host: peer.host, port: peer.port }),
        ...(onread && { onread }),
        secureContext: secure.context,
        // SNI carries names only, without the dot that ends a full one; an address is still verified, below.
        servername: net.isIP(verifyName) ? '' : verifyName.replace(/\.$/, ''),
        rejectUnauthorized: !secure.insecure,
        checkServerIdentity: (_, certificate) => tls.checkServerIdentity(verifyName, certificate),
        ALPNProtocols: ['http/1.1'],
        ...(isServer && this.#session ? { session: this.#session } : {}),
      }),
    );
    tune(socket);
    let certificate: tls.DetailedPeerCertificate | undefined;
    // 'secure' comes before Node judges the certificate; afterwards, when it fails, the certificate is out of reach.
    // (Not among the events that TLSSocket declares.)
    (socket as EventEmitter).prependOnceListener('secure', () => {
      certificate = socket.getPeerCertificate(true);
    });
    if (isServer) {
      socket.on('session', (session) => {
        if (socket.authorized || secure.insecure) this.#session = session;
      });
    }
    await established(socket, 'secureConnect', (error) => this.#explain(error, peer, { verifyName, certificate }));
    return socket;
  }

  #explain(error: unknown, { host, port, peer, field }: Peer, more: object = {}): ConnectFailure {
    if (error instanceof ConnectFailure) return error;
    const now = this.#options.scheduler.now();
    const failure = connectFailure(error, { address: hostPort(host, port), peer, field, now, ...more });
    if (peer !== 'the proxy') return failure;
    return new ConnectFailure('proxy', `cannot connect through the proxy: ${failure.message}`, failure.cause);
  }
}

/** As much as one TLS record holds, and what the kernel hands out at once. */
const tlsBytes = 16_384;
const tcpBytes = 65_536;

type OnRead = { readonly buffer: Buffer | (() => Buffer); readonly callback: Reader };

/**
 * Reads of one socket into memory that is used again and again. Node's own way, new memory for each read and a queue,
 * takes twice the CPU of TLS and kernel together.
 */
function readInPlace(secure: boolean, read: Reader): OnRead {
  return { buffer: Buffer.allocUnsafeSlow(secure ? tlsBytes : tcpBytes), callback: read };
}

type Track = <S extends net.Socket>(socket: S) => S;

function tune(socket: net.Socket): void {
  socket.setNoDelay(true).setKeepAlive(true, keepAliveMs);
}

/** Resolves on `event`, rejects with what `explain` makes of an error or an early end. */
function established(socket: net.Socket, event: string, explain: (error: unknown) => ConnectFailure): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = () => {
      socket.off(event, onEvent).off('error', onError).off('close', onClose);
    };
    const onEvent = () => {
      done();
      resolve();
    };
    const onError = (error: unknown) => {
      done();
      reject(explain(error));
    };
    const onClose = () => onError(Object.assign(new Error('closed during setup'), { code: 'ECONNRESET' }));
    socket.on(event, onEvent).on('error', onError).on('close', onClose);
  });
}

/** Reads exact amounts from the socket, so that not a byte that belongs to the target is lost. */
function tunnelSocket(socket: net.Socket, peer: Peer): TunnelSocket {
  const take = (enough: (buffer: Buffer) => number): Promise<Uint8Array> =>
    new Promise((resolve, reject) => {
      let buffer = Buffer.alloc(0);
      const done = () => {
        socket.off('readable', onReadable).off('error', onError).off('close', onClose);
      };
      const onError = (error: unknown) => {
        done();
        const where = `the proxy ${hostPort(peer.host, peer.port)}`;
        const text = `${where} cut the connection while opening a tunnel`;
        reject(error instanceof ConnectFailure ? error : new ConnectFailure('proxy', text, error));
      };
      const onClose = () => onError(undefined);
      const onReadable = () => {
        const chunk: Buffer | null = socket.read();
        if (chunk === null) return;
        buffer = Buffer.concat([buffer, chunk]);
        const length = enough(buffer);
        if (length < 0) return;
        done();
        if (length < buffer.length) socket.unshift(buffer.subarray(length));
        resolve(buffer.subarray(0, length));
      };
      socket.on('readable', onReadable).on('error', onError).on('close', onClose);
      onReadable();
    });
  return {
    write: (bytes) => void socket.write(bytes),
    read: (length) => take((buffer) => (buffer.length >= length ? length : -1)),
    readUntil: (end, maxLength) =>
      take((buffer) => {
        const at = buffer.indexOf(end);
        if (at >= 0) return at + end.length;
        return buffer.length >= maxLength ? maxLength : -1;
      }),
  };
}

/** Makes the TLS context for a pool once, or says which of CA, certificate and key cannot be used. */
export function createTlsContext({ ca, cert, key }: TlsMaterial): tls.SecureContext {
  const parts = { ca: bytes(ca), cert: bytes(cert), key: bytes(key) };
  try {
    // Node accepts any text as a CA, and then trusts no certificate. This throws, but reads only the first of a bundle.
    if (parts.ca) new X509Certificate(parts.ca);
    return tls.createSecureContext(parts);
  } catch (error) {
    throw new ConnectFailure('tls', `${unusable(parts)} (${error instanceof Error ? error.message : error})`, error);
  }
}

const bytes = (pem: Pem | undefined) => (pem === undefined || typeof pem === 'string' ? pem : Buffer.from(pem));

function unusable({ ca, cert, key }: { ca?: string | Buffer; cert?: string | Buffer; key?: string | Buffer }): string {
  const fails = (make: () => unknown) => {
    try {
      make();
      return false;
    } catch {
      return true;
    }
  };
  if (ca && fails(() => new X509Certificate(ca))) {
    return 'the certificate authority (certificate-authority-data) is not a PEM certificate';
  }
  if (cert && fails(() => tls.createSecureContext({ cert })))
    return 'the client certificate (client-certificate-data) is not a PEM certificate';
  if (key && fails(() => tls.createSecureContext({ key })))
    return 'the client key (client-key-data) is not a PEM private key';
  return 'the client certificate and key cannot be used; do they belong together?';
}
